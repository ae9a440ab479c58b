//! The parts of the referee's messages that the agents use. Unknown fields and messages are ignored,
//! as the protocol requires, so that an older agent can play under a newer referee.

use referee_protocol::Seat;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum RefereeMessage {
    Hello(Hello),
    Turn(Turn),
    Played {
        action: Value,
    },
    Drawn {
        outcome: usize,
    },
    /// In the place of `Played` and `Drawn`, where information is hidden.
    Told {},
    Retired {
        seat: Seat,
    },
    Over {},
    #[serde(other)]
    Unknown,
}

/// The announcement of a match.
#[derive(Debug, Deserialize)]
pub struct Hello {
    pub game: String,
    /// The complete setup, with the position to start from if there is one.
    pub setup: Value,
    pub seat: Seat,
    /// The seed for all randomness.
    pub seed: u64,
    #[serde(default)]
    pub clock: Value,
}

#[derive(Debug, Deserialize)]
pub struct Turn {
    pub turn: u64,
    /// The time left in the bank, if there is one.
    #[serde(default)]
    pub left_ms: Option<u64>,
    /// Every legal action, if requested.
    #[serde(default)]
    pub actions: Option<Vec<Value>>,
}
