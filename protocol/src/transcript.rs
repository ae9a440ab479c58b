use crate::{ClockSettings, Fault, Limits, Outcome, Ready, Seat, Verdict};
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the transcript format that this crate writes. New fields don't raise it.
pub const TRANSCRIPT_VERSION: u32 = 1;

/// One line of a transcript, told apart by `type`. Readers ignore fields that they don't know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The first line: all that replay needs, and what the match was played under.
    Header(Box<Header>),
    /// A seat was asked for an action.
    Turn(TurnEvent),
    /// A line came from an agent.
    Line(LineEvent),
    /// An action became real.
    Played(PlayedEvent),
    /// An agent wrote to its stderr.
    Stderr(StderrEvent),
    /// A seat was retired.
    Retired(RetiredEvent),
    /// The match ended.
    Over(Box<OverEvent>),
    /// An agent's process ended.
    Exit(ExitEvent),
    /// The last line.
    Seal(Seal),
    /// A line of a later version of the format.
    #[schemars(skip)]
    #[serde(other)]
    Unknown,
}

/// What a match was played under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The version of the transcript format.
    pub transcript: u32,
    /// The match's id: 16 hex digits.
    #[serde(rename = "match")]
    pub match_id: String,
    /// The game's name.
    pub game: String,
    /// The revision of the game's rules.
    pub rules: u32,
    /// The whole setup, defaults filled in.
    pub setup: Value,
    /// The agents, in seat order.
    pub seats: Vec<HeaderSeat>,
    /// The clock.
    pub clock: ClockSettings,
    /// What an agent might use.
    pub limits: Limits,
    /// What a fault does with three seats and more.
    pub on_fault: OnFault,
    /// What kept the agents apart from the machine and from each other.
    pub sandbox: Sandbox,
    /// The match's seed, below 2^53.
    pub seed: u64,
    /// The number of the game in its series, from 0.
    pub game_number: u64,
    /// The version of the referee.
    pub referee: String,
    /// When the match began, RFC 3339, UTC; for people, nothing is computed from it.
    pub started: String,
}

/// One agent in a header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeaderSeat {
    /// The seat.
    pub seat: Seat,
    /// The agent's name, unique in the match.
    pub name: String,
    /// The colour at the start.
    pub colour: String,
    /// The agent as it was named on the command line, by which it can be started again; relative
    /// names are relative to where the match was started. Left out where nobody named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What was started: program and arguments.
    pub command: Vec<String>,
    /// SHA-256 over the agent's files, in hex.
    pub digest: String,
    /// What the agent said of itself; null if it never did.
    pub ready: Option<Ready>,
    /// The line protocol that it speaks; left out where that is the referee's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<LineProtocol>,
}

impl HeaderSeat {
    /// Whether a person played.
    pub fn is_human(&self) -> bool {
        self.command == ["@human"]
    }

    /// Whether the agent was written for another protocol, so that a codec or an adapter spoke for
    /// it.
    pub fn is_foreign(&self) -> bool {
        let adapted = self.command.get(1).is_some_and(|word| word == "adapter");
        self.protocol.is_some() || (adapted && self.command[0] == "referee")
    }
}

/// A line protocol other than the referee's own, with all that decides what an agent is written in
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineProtocol {
    /// Its name.
    pub name: String,
    /// Lines for the engine to be sent before it is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub init: Vec<String>,
    /// What is particular to the engine, as the protocol names it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
}

/// What a fault does with three seats and more.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum OnFault {
    /// The seat is out and the others play on.
    #[default]
    #[value(help = "It is out, the others play on")]
    Retire,
    /// The match ends.
    End,
}

/// What kept the agents apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sandbox {
    /// The level's name.
    pub level: String,
    /// The layers in force, strongest last.
    pub layers: Vec<String>,
    /// What an agent might do while it wasn't asked; left out by versions that let it do anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pondering: Option<Pondering>,
}

/// What an agent may do with the processor while another seat is asked.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "snake_case")]
#[derive(strum::Display, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Pondering {
    /// Whatever it likes.
    #[default]
    #[value(help = "Whatever they like")]
    Allow,
    /// Whatever it likes, but its bank pays for the CPU time.
    #[value(help = "Whatever they like, on their own clock")]
    Measure,
    /// Nothing: its processes are stopped.
    #[value(help = "Nothing: they are stopped")]
    Freeze,
}

impl Pondering {
    /// As it is written.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A seat was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEvent {
    /// Nanoseconds since the match began.
    pub at_ns: u64,
    /// The number of the turn.
    pub turn: u64,
    /// Who was asked.
    pub seat: Seat,
    /// What the bank held, rounded down; null without a bank.
    pub left_ms: Option<u64>,
    /// CPU time that its processes used since it was last heard, in nanoseconds, where that is
    /// charged: the bank has paid for it already.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pondered_ns: u64,
}

/// A line came, as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineEvent {
    /// Nanoseconds since the match began: when its last byte was read.
    pub at_ns: u64,
    /// From whom.
    pub seat: Seat,
    /// The line without its end. Bytes that are no UTF-8 stand as `\xHH`, and then `escaped` is
    /// true and a backslash of the line itself stands as `\\`.
    pub line: String,
    /// The line has escaped bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escaped: bool,
    /// The line was longer than its bound and only its beginning is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// An action became real.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlayedEvent {
    /// Nanoseconds since the match began.
    pub at_ns: u64,
    /// The turn.
    pub turn: u64,
    /// Who played.
    pub seat: Seat,
    /// The action, completed.
    pub action: Value,
    /// The time charged, rounded up.
    pub used_ms: u64,
    /// Time on the wall, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time of the agent's processes in this turn, in nanoseconds; null where it can't be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Time that the agent was ready to run and did not get a core, in nanoseconds; only of turns
    /// long enough for it to matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ns: Option<u64>,
    /// The referee's own lag seen in this turn, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lag_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A piece of an agent's stderr.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StderrEvent {
    /// Nanoseconds since the match began.
    pub at_ns: u64,
    /// From whom.
    pub seat: Seat,
    /// The turn in which it came.
    pub turn: u64,
    /// The text; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// How many bytes were left out before this piece, because the agent wrote more than is kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_bytes: u64,
}

/// A seat was retired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetiredEvent {
    /// Nanoseconds since the match began.
    pub at_ns: u64,
    /// The turn in which it went.
    pub turn: u64,
    /// Who.
    pub seat: Seat,
    /// Why.
    pub fault: Fault,
}

/// The match ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverEvent {
    /// Nanoseconds since the match began.
    pub at_ns: u64,
    /// What the rules say; null unless they ended the game.
    pub outcome: Option<Outcome>,
    /// What the match says.
    pub verdict: Verdict,
}

/// An agent's process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExitEvent {
    /// Nanoseconds since the match began.
    pub at_ns: u64,
    /// Whose.
    pub seat: Seat,
    /// `exit status 0`, `signal 11 (SIGSEGV)`, `killed by the referee`.
    pub status: String,
    /// It still ran at the end of the grace period after `over`: noted, not punished.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

/// The last line of a whole transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seal {
    /// The lines before this one.
    pub lines: u64,
    /// SHA-256 over all bytes before this line, in hex.
    pub sha256: String,
}
