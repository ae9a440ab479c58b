//! Agents that break the protocol, the clock or the rules on purpose, so that referees, contests
//! and authors can see what then happens. All of them answer `hello` like any other agent.

use crate::AgentError;
use crate::messages::{Hello, Turn};
use crate::on_board::{board_error, retire};
use crate::player::{Player, Reply};
use referee_games::{AnyGame, Refusal, kind};
use referee_protocol::Seat;
use serde_json::Value;
use std::time::Duration;

/// Another player, each answer of which comes late.
#[derive(Debug)]
pub(crate) struct Slow<P> {
    player: P,
    pause: Duration,
}

impl<P> Slow<P> {
    pub(crate) fn new(player: P, pause: Duration) -> Self {
        Self { player, pause }
    }
}

impl<P: Player> Player for Slow<P> {
    fn played(&mut self, action: &Value) -> Result<(), AgentError> {
        self.player.played(action)
    }

    fn retired(&mut self, seat: Seat) {
        self.player.retired(seat);
    }

    fn answer(&mut self, turn: &Turn) -> Result<Reply, AgentError> {
        std::thread::sleep(self.pause);
        self.player.answer(turn)
    }
}

/// Ends at its first turn.
#[derive(Debug)]
pub(crate) struct Crash;

impl Player for Crash {
    fn played(&mut self, _: &Value) -> Result<(), AgentError> {
        Ok(())
    }

    fn retired(&mut self, _: Seat) {}

    fn answer(&mut self, turn: &Turn) -> Result<Reply, AgentError> {
        Err(AgentError::Crashed { turn: turn.turn })
    }
}

/// Never answers.
#[derive(Debug)]
pub(crate) struct Mute;

impl Player for Mute {
    fn played(&mut self, _: &Value) -> Result<(), AgentError> {
        Ok(())
    }

    fn retired(&mut self, _: Seat) {}

    fn answer(&mut self, _: &Turn) -> Result<Reply, AgentError> {
        Ok(Reply::Silence)
    }
}

/// Answers with more than anyone can read.
#[derive(Debug)]
pub(crate) struct Flood;

impl Player for Flood {
    fn played(&mut self, _: &Value) -> Result<(), AgentError> {
        Ok(())
    }

    fn retired(&mut self, _: Seat) {}

    fn answer(&mut self, _: &Turn) -> Result<Reply, AgentError> {
        Ok(Reply::Flood)
    }
}

/// Answers with actions that read well but that the rules forbid.
#[derive(Debug)]
pub(crate) struct Illegal {
    game: Box<dyn AnyGame>,
}

impl Illegal {
    pub(crate) fn new(hello: &Hello) -> Result<Self, AgentError> {
        let kind = kind(&hello.game).ok_or_else(|| unknown_game(&hello.game))?;
        let game =
            kind.start(&hello.setup).map_err(|error| AgentError::referee(error.to_string()))?;
        Ok(Self { game })
    }
}

impl Player for Illegal {
    fn played(&mut self, action: &Value) -> Result<(), AgentError> {
        self.game.play(action).map_err(|refusal| board_error(action, &refusal.to_string()))?;
        Ok(())
    }

    fn retired(&mut self, seat: Seat) {
        retire(self.game.as_mut(), seat);
    }

    fn answer(&mut self, _: &Turn) -> Result<Reply, AgentError> {
        let action = illegal_action(self.game.as_ref()).ok_or_else(|| {
            AgentError::referee("this game has no illegal action that reads well")
        })?;
        Ok(Reply::Action(action, None))
    }
}

/// An action that this game reads but refuses here: a legal one with one of its numbers changed,
/// and where none will do (a lone pass has no numbers) the same with the game's own examples, at
/// last far off any board.
pub(crate) fn illegal_action(game: &dyn AnyGame) -> Option<Value> {
    let mut models = game.actions();
    models.extend(game.kind().about().actions.into_iter().map(|form| form.example));
    let refused =
        |candidate: &Value| matches!(game.clone_box().play(candidate), Err(Refusal::Illegal(_)));
    let changed = [1, -1, 1_000_000].into_iter().flat_map(|change| {
        models.iter().flat_map(move |model| {
            (0..count_numbers(model)).map(move |index| {
                let mut candidate = model.clone();
                let mut before = index;
                change_number(&mut candidate, &mut before, change);
                candidate
            })
        })
    });
    models.iter().cloned().chain(changed).find(refused)
}

fn count_numbers(value: &Value) -> usize {
    match value {
        Value::Number(_) => 1,
        Value::Array(values) => values.iter().map(count_numbers).sum(),
        Value::Object(fields) => fields.values().map(count_numbers).sum(),
        Value::Null | Value::Bool(_) | Value::String(_) => 0,
    }
}

/// Adds `change` to the number that has `before` others before it, and counts those down on the way.
fn change_number(value: &mut Value, before: &mut usize, change: i64) {
    match value {
        Value::Number(number) => {
            if *before == 0
                && let Some(whole) = number.as_i64()
            {
                *value = Value::from(whole.saturating_add(change));
            }
            *before = before.wrapping_sub(1);
        }
        Value::Array(values) => {
            for inner in values {
                change_number(inner, before, change);
            }
        }
        Value::Object(fields) => {
            for inner in fields.values_mut() {
                change_number(inner, before, change);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The refusal of a game that isn't in the registry.
pub(crate) fn unknown_game(name: &str) -> AgentError {
    AgentError::referee(format!("this agent knows no game called {name:?}"))
}
