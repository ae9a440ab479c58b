//! Plays any game: picks one of the legal actions that the referee lists. It never keeps a board.

use referee_protocol::{Action, FromAgent, Ready, ToAgent, Want};
use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut random = 0_u64;
    for line in io::stdin().lock().lines() {
        // A message of a kind that this agent doesn't know is none of its business.
        let Ok(message) = serde_json::from_str(&line?) else { continue };
        let answer = match message {
            ToAgent::Hello(hello) => {
                random = hello.seed;
                let name = Some("random (Rust)".to_owned());
                FromAgent::Ready(Ready { name, version: None, want: vec![Want::Actions] })
            }
            ToAgent::Turn(turn) => {
                let Some(mut actions) = turn.actions else { break };
                // A linear congruential generator; its upper bits are the better ones.
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let picked = (random >> 33) % (actions.len() as u64);
                let index = usize::try_from(picked).expect("an index into a list");
                FromAgent::Action(Action {
                    turn: Some(turn.turn),
                    action: actions.swap_remove(index),
                })
            }
            ToAgent::Played(_) | ToAgent::Retired(_) => continue,
            ToAgent::Over(_) => break,
        };
        let mut stdout = io::stdout().lock();
        serde_json::to_writer(&mut stdout, &answer)?;
        stdout.write_all(b"\n")?;
        stdout.flush()?;
    }
    Ok(())
}
