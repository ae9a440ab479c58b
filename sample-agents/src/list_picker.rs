//! Agents without a board, which pick from the legal actions that the referee lists.

use crate::AgentError;
use crate::messages::Turn;
use crate::player::{Player, Reply};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;

/// Picks from `turn.actions`.
#[derive(Debug)]
pub(crate) struct ListPicker {
    /// The random numbers; `None` takes the first action.
    random: Option<ChaCha8Rng>,
}

impl ListPicker {
    pub(crate) fn first() -> Self {
        Self { random: None }
    }

    pub(crate) fn random(seed: u64) -> Self {
        Self { random: Some(ChaCha8Rng::seed_from_u64(seed)) }
    }
}

impl Player for ListPicker {
    fn answer(&mut self, turn: &Turn) -> Result<Reply, AgentError> {
        let actions = turn.actions.as_deref().unwrap_or_default();
        let picked = match &mut self.random {
            Some(random) => actions.choose(random),
            None => actions.first(),
        };
        let action = picked.ok_or_else(|| {
            AgentError::referee(format!("turn {} lists no `actions` to pick from", turn.turn))
        })?;
        Ok(Reply::Action(action.clone(), None))
    }
}
