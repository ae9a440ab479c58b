//! `illegal`: breaks the rules on purpose, to show what happens then. It answers `hello` like any other
//! agent.

use crate::AgentError;
use crate::board_player::{apply, draw, retire, start};
use crate::messages::{Hello, Turn};
use crate::player::{Player, Reply};
use referee_games::{AnyGame, Games, Refusal};
use referee_protocol::Seat;
use serde_json::Value;

/// Answers with well-formed but illegal actions.
#[derive(Debug)]
pub(crate) struct Illegal {
    game: Box<dyn AnyGame>,
}

impl Illegal {
    pub(crate) fn new(hello: &Hello, games: &Games) -> Result<Self, AgentError> {
        Ok(Self { game: start(hello, games)? })
    }
}

impl Player for Illegal {
    fn played(&mut self, action: &Value) -> Result<(), AgentError> {
        apply(self.game.as_mut(), action)
    }

    fn drawn(&mut self, outcome: usize) -> Result<(), AgentError> {
        draw(self.game.as_mut(), outcome)
    }

    fn retired(&mut self, seat: Seat) {
        retire(self.game.as_mut(), seat);
    }

    fn answer(&mut self, _: &Turn) -> Result<Reply, AgentError> {
        let action = illegal_action(self.game.as_ref())
            .ok_or_else(|| AgentError::referee("this game has no well-formed illegal action"))?;
        Ok(Reply::Action(action, None))
    }
}

/// Returns an action that is well formed but illegal here: a legal one with one number changed, or, if
/// that fails (a lone pass has no numbers), one of the game's examples changed in the same way.
pub(crate) fn illegal_action(game: &dyn AnyGame) -> Option<Value> {
    let mut models = game.actions();
    models.extend(game.kind().about().actions.iter().map(|form| form.example.clone()));
    let refused =
        |candidate: &Value| matches!(game.clone_box().play(candidate), Err(Refusal::Illegal(_)));
    let changed = [1, -1, 1_000_000].into_iter().flat_map(|change| {
        models.iter().flat_map(move |model| {
            (0..numbers(&mut model.clone()).len()).map(move |index| {
                let mut candidate = model.clone();
                let number = numbers(&mut candidate).swap_remove(index);
                if let Some(whole) = number.as_i64() {
                    *number = Value::from(whole.saturating_add(change));
                }
                candidate
            })
        })
    });
    models.iter().cloned().chain(changed).find(refused)
}

/// Returns the numbers in a value, in order.
fn numbers(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Number(_) => vec![value],
        Value::Array(values) => values.iter_mut().flat_map(numbers).collect(),
        Value::Object(fields) => fields.values_mut().flat_map(numbers).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => Vec::new(),
    }
}
