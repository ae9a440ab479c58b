//! An agent that plays the first legal action: `referee play hex target/debug/examples/agent @random`.

use referee_protocol::{Action, FromAgent, Ready, ToAgent, Want};
use std::error::Error;
use std::io::{Write, stdin, stdout};

fn main() -> Result<(), Box<dyn Error>> {
    for line in stdin().lines() {
        match serde_json::from_str(&line?)? {
            ToAgent::Hello(hello) => {
                log(&format!("a match of {}", hello.game));
                let name = Some("first".to_owned());
                say(&FromAgent::Ready(Ready {
                    name,
                    want: vec![Want::Actions],
                    ..<_>::default()
                }))?;
            }
            ToAgent::Turn(turn) => {
                // There always is one: who can't move is asked to pass.
                let action = turn.actions.unwrap_or_default().swap_remove(0);
                say(&FromAgent::Action(Action { turn: Some(turn.turn), action }))?;
            }
            ToAgent::Over(_) => break,
            ToAgent::Played(_) | ToAgent::Drawn(_) | ToAgent::Told(_) | ToAgent::Retired(_) => {}
        }
    }
    Ok(())
}

/// Sends a message, and flushes it.
fn say(message: &FromAgent) -> Result<(), Box<dyn Error>> {
    let mut out = stdout().lock();
    serde_json::to_writer(&mut out, message)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

#[expect(clippy::print_stderr, reason = "the transcript keeps it")]
fn log(text: &str) {
    eprintln!("{text}");
}
