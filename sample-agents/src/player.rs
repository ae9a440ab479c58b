//! What every agent does between the lines of the protocol, its game's types erased.

use crate::messages::{Hello, Turn};
use crate::{
    Agent, AgentError, greedy::Greedy, listed::Listed, minimax::Minimax, misbehaving::Illegal,
    on_board,
};
use referee_protocol::{Info, Seat};
use serde_json::Value;
use std::time::Duration;

/// One agent in one match.
pub trait Player {
    /// An action became real: one's own too.
    fn played(&mut self, _action: &Value) -> Result<(), AgentError> {
        Ok(())
    }

    /// A seat is out, and the others play on.
    fn retired(&mut self, _seat: Seat) {}

    /// It is this agent's turn.
    fn answer(&mut self, turn: &Turn) -> Result<Reply, AgentError>;
}

/// An answer alone, for an agent that keeps no board.
impl<F: FnMut(&Turn) -> Result<Reply, AgentError>> Player for F {
    fn answer(&mut self, turn: &Turn) -> Result<Reply, AgentError> {
        self(turn)
    }
}

/// What comes of a turn.
#[derive(Debug)]
pub enum Reply {
    /// An action, and what viewers may see of how it was found.
    Action(Value, Option<Info>),
    /// Nothing, ever.
    Silence,
    /// Bytes without an end.
    Flood,
}

/// How long `slow` sleeps.
const SLOW: Duration = Duration::from_secs(1);

/// Seats an agent in the match that `hello` announces.
pub(crate) fn seat(agent: Agent, hello: &Hello) -> Result<Box<dyn Player>, AgentError> {
    Ok(match agent {
        Agent::Random => Box::new(Listed::random(hello.seed)),
        Agent::First => Box::new(Listed::first()),
        Agent::Greedy => on_board::seat(hello, Greedy)?,
        Agent::Minimax { depth } => on_board::seat(hello, Minimax { depth })?,
        Agent::Slow => Box::new(slow(Listed::random(hello.seed))),
        Agent::Crash => Box::new(|turn: &Turn| Err(AgentError::Crashed { turn: turn.turn })),
        Agent::Illegal => Box::new(Illegal::new(hello)?),
        Agent::Mute => Box::new(|_: &Turn| Ok(Reply::Silence)),
        Agent::Flood => Box::new(|_: &Turn| Ok(Reply::Flood)),
    })
}

/// The answers of an agent that keeps no board, each of them late.
fn slow(mut agent: impl Player) -> impl Player {
    move |turn: &Turn| {
        std::thread::sleep(SLOW);
        agent.answer(turn)
    }
}
