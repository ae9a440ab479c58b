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
    Played(Played),
    Retired(Retired),
    Over {},
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Hello {
    pub(crate) game: String,
    /// The whole setup, with the position to start from where one was given.
    pub(crate) setup: Value,
    pub(crate) seat: Seat,
    pub(crate) seed: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Turn {
    pub(crate) turn: u64,
    /// Every legal action, for those who want it.
    #[serde(default)]
    pub(crate) actions: Option<Vec<Value>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Played {
    pub(crate) action: Value,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Retired {
    pub(crate) seat: Seat,
}
