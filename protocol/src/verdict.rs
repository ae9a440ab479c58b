use crate::Seat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a match ended: by the rules, or because of the agents or the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// What ended the match.
    pub result: MatchResult,
    /// Why: the outcome's reason, the fault's kind, `resigned`, `last_seat`, `win` or `draw` by
    /// adjudication, or the cause of a void match.
    pub reason: String,
    /// One entry per seat, 1 is best; null if the match is void.
    pub places: Option<Vec<u32>>,
    /// What each seat used and did wrong, in seat order.
    pub seats: Vec<SeatVerdict>,
    /// Why the match is void, if it is.
    pub void: Option<VoidNote>,
}

/// What ended a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Result")]
pub enum MatchResult {
    /// The rules.
    Played,
    /// A fault of an agent.
    Fault,
    /// An agent's resignation.
    Resigned,
    /// The scores that both agents gave: see `adjudication` in the header.
    Adjudicated,
    /// The machine, the referee, or an interrupt: the match doesn't count.
    Void,
}

/// One seat's part of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeatVerdict {
    /// The seat.
    pub seat: Seat,
    /// Time charged, in milliseconds, rounded up.
    pub used_ms: u64,
    /// CPU time of its processes in its turns, in milliseconds, rounded up.
    pub cpu_ms: u64,
    /// The most memory that its processes have used, in units of 1,024 bytes, without mapped files;
    /// omitted if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory_kb: Option<u64>,
    /// How many requests it answered.
    pub turns: u64,
    /// The fault that it committed, if any.
    pub fault: Option<Fault>,
}

/// A fault of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// The kind, as in the table of faults.
    pub kind: FaultKind,
    /// For `late`: which clock ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<LateBy>,
    /// The turn in which it happened.
    pub turn: u64,
    /// What happened, as text for the agent's author.
    pub text: String,
    /// For `illegal`: the legal actions of that turn. Only in transcripts, not in messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legal: Option<Vec<Value>>,
}

/// The kinds of faults. `resigned` isn't an error of an agent, but has the same effect.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[derive(strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FaultKind {
    /// It could not be started, or sent no valid `ready` in time.
    Start,
    /// No complete answer within the clock.
    Late,
    /// Malformed.
    Garbled,
    /// Well-formed, but against the rules.
    Illegal,
    /// A line that no request asked for.
    Unasked,
    /// Exited, crashed, or closed its input or output.
    Gone,
    /// Too much output.
    Flood,
    /// Too much memory.
    Memory,
    /// Too many processes.
    Processes,
    /// It resigned.
    Resigned,
}

impl FaultKind {
    /// Returns the name as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Which clock a late agent ran out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LateBy {
    /// Wall time.
    Wall,
    /// CPU time of the agent's processes.
    Cpu,
}

/// Why a match is void.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VoidNote {
    /// `disk_full`, `sandbox`, `lag`, `interrupted`, `machine`; `unfinished` for an imported game.
    pub cause: String,
    /// What happened, as text.
    pub text: String,
    /// The seat at which it happened; omitted if it concerns no single seat, such as a full disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
}
