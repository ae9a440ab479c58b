//! What every game promises, checked for all games, and games that other programs played.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod conformance;
mod perft;
mod refusals;
mod schemas;
mod action_fields;
mod arrays;
mod estimates;
mod notations;
mod played;
mod programs;
mod played_chexers;
mod played_freckers;

use flate2::read::GzDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;

/// The lines of a file in a game's folder, without comments.
fn data_lines(game: &str, file: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(game.replace('-', "_"));
    let text = std::fs::read_to_string(folder.join(file)).expect(file);
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
    assert!(!lines.is_empty(), "{game}: nothing is in {file}");
    lines
}

/// Packed JSON, a value a line.
fn records(packed: &[u8]) -> Vec<Value> {
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// SHA-256 in hexadecimal digits.
fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// `SplitMix64`: the tests draw the same games on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }
}
