//! What every agent does between the lines of the protocol, its game's types erased.

use crate::messages::{Hello, Turn};
use crate::{Agent, AgentError, greedy::Greedy, listed, minimax::Minimax, misbehaving, on_board};
use referee_protocol::{Info, Seat};
use serde_json::Value;
use std::time::Duration;

/// One agent in one match.
pub(crate) trait Player {
    /// An action became real: one's own too.
    fn played(&mut self, action: &Value) -> Result<(), AgentError>;

    /// A seat is out, and the others play on.
    fn retired(&mut self, seat: Seat);

    /// It is this agent's turn.
    fn answer(&mut self, turn: &Turn) -> Result<Reply, AgentError>;
}

/// What comes of a turn.
#[derive(Debug)]
pub(crate) enum Reply {
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
        Agent::Random => Box::new(listed::Listed::random(hello.seed)),
        Agent::First => Box::new(listed::Listed::first()),
        Agent::Greedy => on_board::seat(hello, Greedy)?,
        Agent::Minimax { depth } => on_board::seat(hello, Minimax { depth })?,
        Agent::Slow => Box::new(misbehaving::Slow::new(listed::Listed::random(hello.seed), SLOW)),
        Agent::Crash => Box::new(misbehaving::Crash),
        Agent::Illegal => Box::new(misbehaving::Illegal::new(hello)?),
        Agent::Mute => Box::new(misbehaving::Mute),
        Agent::Flood => Box::new(misbehaving::Flood),
    })
}
