//! Replays a transcript, checking each step against the rules: `cargo run --example replay -- FILE`.
#![expect(clippy::print_stdout, reason = "an example")]

use referee_games::Games;
use referee_match::summary::ply_sentence;
use referee_match::transcript::{Playback, TRANSCRIPT_BYTES_MAX, read, unpack, verify};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("give a transcript: a .jsonl or .jsonl.gz file")?;
    let packed = std::fs::read(file)?;
    let bytes = unpack(&packed, TRANSCRIPT_BYTES_MAX).ok_or("it is too long")?;
    let reading = read(&bytes)?;
    let mut playback = Playback::begin(reading.header.clone(), &Games::default())?;
    for event in reading {
        playback.take(&event)?;
    }
    for ply in playback.plies() {
        println!("{}", ply_sentence(playback.header(), ply));
    }
    // The same in one step, with its seal.
    println!("{:?}", verify(&packed, &Games::default()).status);
    Ok(())
}
