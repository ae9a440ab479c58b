//! What an agent reads of the referee's messages: only what it uses. Fields and kinds of message
//! that it doesn't know are skipped, as the protocol asks, so that an older agent can play under a
//! newer referee.

use referee_protocol::Seat;
use serde::Deserialize;
use serde_json::Value;

/// A message of the referee.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Heard {
    Hello(Hello),
    Turn(Turn),
    Played {
        action: Value,
    },
    Retired {
        seat: Seat,
    },
    Over {},
    #[serde(other)]
    Unknown,
}

/// What is played, by whom, how long.
#[derive(Debug, Deserialize)]
pub struct Hello {
    /// The game.
    pub game: String,
    /// The whole setup, with the position to start from where one was given.
    pub setup: Value,
    /// One's own seat.
    pub seat: Seat,
    /// What all that is random comes from.
    pub seed: u64,
    /// The clock's settings.
    #[serde(default)]
    pub clock: Value,
}

/// It is your turn.
#[derive(Debug, Deserialize)]
pub struct Turn {
    /// The number of the turn.
    pub turn: u64,
    /// What the bank holds, if there is one.
    #[serde(default)]
    pub left_ms: Option<u64>,
    /// Every legal action, for those who want it.
    #[serde(default)]
    pub actions: Option<Vec<Value>>,
}
