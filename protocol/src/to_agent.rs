use crate::{ClockSettings, FaultKind, Limits, Outcome, Seat, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the referee says to an agent: one JSON object a line on its stdin, told apart by `type`.
/// An agent ignores types and fields that it doesn't know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToAgent {
    /// First: what is played, by whom, how long.
    Hello(Box<Hello>),
    /// It is your turn.
    Turn(Turn),
    /// An action became real. Sent to every seat, the mover included.
    Played(Played),
    /// A seat is out; the others play on.
    Retired(Retired),
    /// Last: how it ended.
    Over(Box<Over>),
}

/// The first message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// The version of the protocol.
    pub protocol: u32,
    /// The game's name.
    pub game: String,
    /// The revision of the game's rules.
    pub rules: u32,
    /// The whole setup, defaults filled in.
    pub setup: Value,
    /// The seat of the agent that reads this.
    pub seat: Seat,
    /// Every seat, in the order of play.
    pub seats: Vec<SeatInfo>,
    /// The clock.
    pub clock: ClockSettings,
    /// What the agent may use.
    pub limits: Limits,
    /// A seed for this seat, below 2^53: an agent that draws only from it plays the same match
    /// again.
    pub seed: u64,
    /// The match's id: 16 hex digits.
    #[serde(rename = "match")]
    pub match_id: String,
}

/// One seat in `hello.seats`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeatInfo {
    /// The seat.
    pub seat: Seat,
    /// The agent's name, unique in the match.
    pub name: String,
    /// The colour at the start.
    pub colour: String,
}

/// A request for an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// The number of the turn, over all seats, passed-over turns included.
    pub turn: u64,
    /// What the bank holds, rounded down; null without a bank.
    pub left_ms: Option<u64>,
    /// The position, for those who want it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Value>,
    /// Every legal action in the rules' order, for those who want it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<Value>>,
}

/// An action that became real.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Played {
    /// The turn.
    pub turn: u64,
    /// Who played.
    pub seat: Seat,
    /// The action, completed by the referee where it was abbreviated.
    pub action: Value,
    /// The time it took, rounded up.
    pub used_ms: u64,
}

/// A seat is out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Retired {
    /// The turn in which it went.
    pub turn: u64,
    /// Who.
    pub seat: Seat,
    /// Why.
    pub fault: FaultKind,
}

/// The last message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Over {
    /// What the rules say; null unless they ended the game.
    pub outcome: Option<Outcome>,
    /// What the match says.
    pub verdict: Verdict,
}
