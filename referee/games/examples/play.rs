//! Plays a game in memory, always the first legal action: `cargo run --example play -- chexers`.
#![expect(clippy::print_stdout, reason = "an example")]

use referee_games::{GAMES, Turn, kind};
use serde_json::json;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "hex".to_owned());
    let known = || GAMES.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
    let kind = kind(&name).ok_or_else(|| format!("no game {name}: choose from {}", known()))?;
    // The usual setup. `kind.about()` lists the fields.
    let mut game = kind.start(&json!({}))?;
    loop {
        match game.turn() {
            Turn::Of(seat) => {
                let action = game.actions().swap_remove(0);
                println!(
                    "turn {}: seat {seat} {}",
                    game.turn_number(),
                    game.format_action(&action)
                );
                game.play(&action)?;
            }
            Turn::Chance(_) => game.draw(0)?,
            Turn::Over(outcome) => {
                println!("{}: places {:?}", outcome.reason, outcome.places);
                return Ok(());
            }
        }
    }
}
