//! Plays every game well: a search of its own for each game, the rules from `referee-games`. The board
//! changes only with `played` and `retired`, and every answer is an action that the rules list. The
//! loop over the referee's lines is that of the built-in agents.

mod alpha_beta;
mod beam;
mod budget;
mod checker_puzzle;
mod chexers;
mod chinese_checkers;
mod diamond;
mod freckers;
mod hex;
mod hex_board;
mod rng;
mod peg_solitaire;
mod pegs;
mod player;
mod alpha_beta_player;
mod position_table;

use player::start;
use referee_games::CellSet;
use referee_protocol::Ready;
use sample_agents::play_match;
use std::error::Error;
use std::io;

/// A set of cells by their indexes.
type Cells<const WORDS: usize> = CellSet<usize, WORDS>;

fn main() -> Result<(), Box<dyn Error>> {
    let nodes = nodes(std::env::args().skip(1))?;
    let (name, version) = ("strong (Rust)".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let ready = Ready { name: Some(name), version: Some(version), ..Ready::default() };
    let (input, output) = (io::stdin().lock(), io::stdout().lock());
    play_match(ready, |hello| start(hello, nodes), input, output, io::sink())?;
    Ok(())
}

/// The value of `--nodes N`, the one option.
fn nodes(mut arguments: impl Iterator<Item = String>) -> Result<Option<u64>, String> {
    let (Some(option), number) = (arguments.next(), arguments.next()) else { return Ok(None) };
    let number = number.and_then(|number| number.parse().ok()).filter(|&number| number > 0);
    match number {
        Some(number) if option == "--nodes" && arguments.next().is_none() => Ok(Some(number)),
        _ => Err("usage: strong-agent [--nodes N], where N is a whole number from 1".to_owned()),
    }
}
