//! The trait of all agents, type-erased.

use crate::messages::{Hello, Turn};
use crate::{
    Agent, AgentError, board_player, greedy::Greedy, minimax::Minimax, misbehaving::Illegal,
};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use referee_games::Games;
use referee_protocol::{Info, Seat};
use serde_json::Value;
use std::time::Duration;

/// One agent in one match.
pub trait Player {
    /// Handles an action that was played, the agent's own included.
    fn played(&mut self, _action: &Value) -> Result<(), AgentError> {
        Ok(())
    }

    /// Handles an outcome that the referee has drawn.
    fn drawn(&mut self, _outcome: usize) -> Result<(), AgentError> {
        Ok(())
    }

    /// Handles a retired seat; the others play on.
    fn retired(&mut self, _seat: Seat) {}

    /// Answers a request for an action.
    fn answer(&mut self, turn: &Turn) -> Result<Reply, AgentError>;
}

/// A function that answers, for an agent without a board.
impl<F: FnMut(&Turn) -> Result<Reply, AgentError>> Player for F {
    fn answer(&mut self, turn: &Turn) -> Result<Reply, AgentError> {
        self(turn)
    }
}

#[derive(Debug)]
pub enum Reply {
    /// An action, and details of the search for viewers.
    Action(Value, Option<Info>),
    Silence,
    Flood,
}

/// The sleep of `slow`.
const SLOW: Duration = Duration::from_secs(1);

/// Creates the agent for the match that `hello` announces.
pub(crate) fn seat(
    agent: Agent,
    hello: &Hello,
    games: &Games,
) -> Result<Box<dyn Player>, AgentError> {
    Ok(match agent {
        Agent::Random => Box::new(random(hello.seed)),
        Agent::First => Box::new(list_picker(<[Value]>::first)),
        Agent::Greedy => board_player::seat(hello, games, Greedy)?,
        Agent::Minimax { depth } => board_player::seat(hello, games, Minimax { depth })?,
        Agent::Slow => Box::new(slow(random(hello.seed))),
        Agent::Crash => Box::new(|turn: &Turn| Err(AgentError::Crashed { turn: turn.turn })),
        Agent::Illegal => Box::new(Illegal::new(hello, games)?),
        Agent::Mute => Box::new(|_: &Turn| Ok(Reply::Silence)),
        Agent::Flood => Box::new(|_: &Turn| Ok(Reply::Flood)),
    })
}

/// Picks from the actions that the referee lists.
fn list_picker(mut pick: impl FnMut(&[Value]) -> Option<&Value>) -> impl Player {
    move |turn: &Turn| {
        let action = pick(turn.actions.as_deref().unwrap_or_default()).ok_or_else(|| {
            AgentError::referee(format!("turn {} lists no `actions` to pick from", turn.turn))
        })?;
        Ok(Reply::Action(action.clone(), None))
    }
}

fn random(seed: u64) -> impl Player {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    list_picker(move |actions| actions.choose(&mut random))
}

/// Delays every answer of an agent.
fn slow(mut agent: impl Player) -> impl Player {
    move |turn: &Turn| {
        std::thread::sleep(SLOW);
        agent.answer(turn)
    }
}
