use crate::{ActionJson, ClockSettings, FaultKind, Limits, Outcome, Seat, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A message from the referee to an agent: one JSON object per line on stdin, with a `type`. Agents
/// ignore types and fields that they don't know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToAgent {
    /// First in each game: the game, the players and the clock.
    Hello(Box<Hello>),
    /// It is your turn.
    Turn(Turn),
    /// An action has been played. Sent to every seat, including the one that moved.
    Played(Played),
    /// The referee has drawn, in a game with chance. Sent to every seat.
    Drawn(Drawn),
    /// What this seat is told of an action or a draw, in a game with hidden information, in place of `played` and
    /// `drawn`.
    Told(Told),
    /// A seat is out; the others play on.
    Retired(Retired),
    /// Last in each game: the result.
    Over(Box<Over>),
}

/// The first message of a game.
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
    /// The seat of the receiving agent.
    pub seat: Seat,
    /// Every seat, in the order of play.
    pub seats: Vec<SeatInfo>,
    /// The clock.
    pub clock: ClockSettings,
    /// The agent's limits.
    pub limits: Limits,
    /// A seed for this seat, below 2^53: an agent that takes all its randomness from it replays the
    /// same match.
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
    /// The number of the turn, counted over all seats, including skipped turns.
    pub turn: u64,
    /// The time in the bank, rounded down; null without a bank.
    pub left_ms: Option<u64>,
    /// The position, if the agent wants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Value>,
    /// Every legal action in the rules' order, if the agent wants them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<Value>>,
    /// The seats that choose at once, if there are several: none of them is told what another has chosen before
    /// all have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Seat>,
}

/// An action that has been played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Played {
    /// The turn.
    pub turn: u64,
    /// The seat that played it.
    pub seat: Seat,
    /// The action, completed by the referee if it was abbreviated.
    pub action: ActionJson,
    /// The time it took, in milliseconds, rounded up.
    pub used_ms: u64,
}

/// The outcome of a draw, such as the roll of a die.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drawn {
    /// The number of the next turn.
    pub turn: u64,
    /// The number of the outcome, from 0, in the order of the game's rules.
    pub outcome: usize,
    /// What the outcome is called.
    pub label: String,
}

/// What a seat is told of an action or a draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Told {
    /// The turn of the action; after a draw, the number of the next turn.
    pub turn: u64,
    /// The seat that acted; omitted for a draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
    /// What the rules tell this seat.
    #[serde(rename = "told")]
    pub value: Value,
}

/// A seat is out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Retired {
    /// The turn in which it was retired.
    pub turn: u64,
    /// The seat.
    pub seat: Seat,
    /// The reason.
    pub fault: FaultKind,
}

/// The last message of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Over {
    /// The result by the rules; null unless they ended the game.
    pub outcome: Option<Outcome>,
    /// The result of the match.
    pub verdict: Verdict,
}
