//! Plays any game on its own board: wins if it can, and otherwise leaves the others as few actions as
//! possible. The board changes only with `played`.

use referee_games::{AnyGame, Turn, kind};
use referee_protocol::{Action, FromAgent, Hello, Ready, Seat, ToAgent};
use serde_json::Value;
use std::error::Error;
use std::io::{self, BufRead, Write};

/// The board, and whose side it is looked at from.
struct Agent {
    game: Box<dyn AnyGame>,
    seat: Seat,
}

impl Agent {
    fn new(hello: &Hello) -> Result<Self, Box<dyn Error>> {
        let kind = kind(&hello.game).ok_or("a game that this agent doesn't know")?;
        Ok(Self { game: kind.start(&hello.setup)?, seat: hello.seat })
    }

    /// The action after which the board is worth most; of equals the one in the middle of the
    /// list, so that it doesn't play along the rim.
    fn choose(&self) -> Option<Value> {
        let actions = self.game.actions();
        let worths: Vec<i64> = actions.iter().map(|action| self.worth_after(action)).collect();
        let best = *worths.iter().max()?;
        let mut equals: Vec<Value> = actions
            .into_iter()
            .zip(worths)
            .filter(|&(_, worth)| worth == best)
            .map(|(action, _)| action)
            .collect();
        let middle = equals.len() / 2;
        Some(equals.swap_remove(middle))
    }

    fn worth_after(&self, action: &Value) -> i64 {
        let mut game = self.game.clone();
        match game.play(action) {
            Ok(_) => self.worth(game.as_ref()),
            Err(_) => i64::MIN,
        }
    }

    /// The rule that this agent plays by: larger is better.
    fn worth(&self, game: &dyn AnyGame) -> i64 {
        let choices = i64::try_from(game.actions().len()).unwrap_or(i64::MAX);
        match game.turn() {
            Turn::Over(outcome) if outcome.places[self.seat.index()] == 1 => 1_000_000,
            Turn::Over(_) => -1_000_000,
            Turn::Of(seat) if seat == self.seat => choices,
            Turn::Of(_) => -choices,
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut seated: Option<Agent> = None;
    for line in io::stdin().lock().lines() {
        // Unknown messages are ignored.
        let Ok(message) = serde_json::from_str(&line?) else { continue };
        if let ToAgent::Hello(hello) = &message {
            seated = Some(Agent::new(hello)?);
            let name = Some("board (Rust)".to_owned());
            say(&FromAgent::Ready(Ready { name, ..Ready::default() }))?;
            continue;
        }
        let agent = seated.as_mut().ok_or("`hello` comes first")?;
        match message {
            ToAgent::Turn(turn) => {
                let action = agent.choose().ok_or("asked for an action when there is none")?;
                say(&FromAgent::Action(Action { turn: Some(turn.turn), action }))?;
            }
            ToAgent::Played(played) => {
                agent.game.play(&played.action)?;
            }
            ToAgent::Retired(retired) => agent.game.retire(retired.seat),
            ToAgent::Hello(_) => {}
            ToAgent::Over(_) => break,
        }
    }
    Ok(())
}

/// One message, one line, flushed: what is still in a buffer is not sent.
fn say(message: &FromAgent) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    serde_json::to_writer(&mut stdout, message)?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}
