//! Plays any game on its own board: wins if it can, and otherwise leaves the others as few actions as
//! possible. The board changes only with `played` and `retired`. `play_match` reads and writes the
//! messages.

use referee_games::{AnyGame, Turn, kind};
use referee_protocol::{Ready, Seat};
use sample_agents::{AgentError, Hello, Player, Reply, apply, play_match, retire};
use serde_json::Value;
use std::io;

/// The board, and the own seat.
struct BoardAgent {
    game: Box<dyn AnyGame>,
    seat: Seat,
}

fn seat(hello: &Hello) -> Result<Box<dyn Player>, AgentError> {
    let kind = kind(&hello.game).ok_or_else(|| AgentError::referee("unknown game"))?;
    let game = kind.start(&hello.setup).map_err(|error| AgentError::referee(error.to_string()))?;
    Ok(Box::new(BoardAgent { game, seat: hello.seat }))
}

impl Player for BoardAgent {
    fn played(&mut self, action: &Value) -> Result<(), AgentError> {
        apply(self.game.as_mut(), action)
    }

    fn retired(&mut self, seat: Seat) {
        retire(self.game.as_mut(), seat);
    }

    /// Answers with the action after which the board is worth most; of equal ones with the one in
    /// the middle of the list, so that it doesn't play along the rim.
    fn answer(&mut self, _: &sample_agents::Turn) -> Result<Reply, AgentError> {
        let actions = self.game.actions();
        let worths: Vec<i64> = actions.iter().map(|action| self.worth_after(action)).collect();
        let best = worths.iter().max();
        let mut equals: Vec<Value> = actions
            .into_iter()
            .zip(&worths)
            .filter(|&(_, worth)| Some(worth) == best)
            .map(|(action, _)| action)
            .collect();
        let middle = equals.len() / 2;
        Ok(Reply::Action(equals.swap_remove(middle), None))
    }
}

impl BoardAgent {
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

fn main() -> Result<(), AgentError> {
    // `seat` makes a new board for each game, so the same process may play another one.
    let ready = Ready { name: Some("board (Rust)".to_owned()), again: true, ..Ready::default() };
    play_match(ready, seat, io::stdin().lock(), io::stdout().lock(), io::stderr())
}
