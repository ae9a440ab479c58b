//! Plays every game well on the bare protocol: a search of its own for each game, the rules from
//! `referee-games`. It keeps its board by what `played` and `retired` say, and answers with nothing
//! but actions that the rules list.

mod alpha_beta;
mod budget;
mod cells;
mod checker_puzzle;
mod chexers;
mod chinese_checkers;
mod diamond;
mod freckers;
mod hex;
mod hex_board;
mod noise;
mod peg_solitaire;
mod pegs;
mod player;
mod race;
mod table;

use player::{Seated, sit};
use referee_protocol::{Action, FromAgent, Ready, ToAgent};
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let nodes = nodes(std::env::args().skip(1))?;
    let mut seated: Option<Box<dyn Seated>> = None;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let begun = Instant::now();
        // A message of a kind that this agent doesn't know is none of its business.
        let Ok(message) = serde_json::from_str(&line) else { continue };
        if let ToAgent::Hello(hello) = &message {
            seated = Some(sit(hello, nodes)?);
            let (name, version) = ("strong (Rust)", env!("CARGO_PKG_VERSION"));
            let ready =
                Ready { name: Some(name.into()), version: Some(version.into()), want: vec![] };
            say(&FromAgent::Ready(ready))?;
            continue;
        }
        let agent = seated.as_mut().ok_or("`hello` comes first")?;
        match message {
            ToAgent::Turn(turn) => {
                let (action, info) = agent.answer(begun, turn.left_ms)?;
                if let Some(info) = info {
                    say(&FromAgent::Info(info))?;
                }
                say(&FromAgent::Action(Action { turn: Some(turn.turn), action }))?;
            }
            ToAgent::Played(played) => agent.played(&played.action)?,
            ToAgent::Retired(retired) => agent.retired(retired.seat),
            ToAgent::Hello(_) => {}
            ToAgent::Over(_) => break,
        }
    }
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

/// One message, one line, flushed: what stays in a buffer isn't said.
fn say(message: &FromAgent) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    serde_json::to_writer(&mut stdout, message)?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}
