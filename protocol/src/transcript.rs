use crate::{
    ActionJson, Adjudication, ClockSettings, Fault, Limits, Outcome, Ready, Seat, Verdict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the transcript format that this crate writes. New fields don't change it.
pub const TRANSCRIPT_VERSION: u32 = 1;

/// One line of a transcript, with a `type`. Readers ignore fields that they don't know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The first line: everything that a replay needs, and the conditions of the match.
    Header(Box<Header>),
    /// A seat was asked for an action.
    Turn(TurnEvent),
    /// An agent wrote a line.
    Line(LineEvent),
    /// An action was played.
    Played(PlayedEvent),
    /// The referee drew, in a game with chance.
    Drawn(DrawnEvent),
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

/// The conditions of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// The program that has the rules. Omitted if they are built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<GameProgramRecord>,
    /// The whole setup, defaults filled in.
    pub setup: Value,
    /// The agents, in seat order.
    pub seats: Vec<HeaderSeat>,
    /// The clock.
    pub clock: ClockSettings,
    /// The agents' limits.
    pub limits: Limits,
    /// What a fault does with three or more seats.
    pub on_fault: OnFault,
    /// Agents get the colours of the others instead of their names. Omitted if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anonymous: bool,
    /// When the agents' scores end the match. Omitted if they never do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjudication: Option<Adjudication>,
    /// How the agents were isolated.
    pub sandbox: SandboxRecord,
    /// The match's seed, below 2^53.
    pub seed: u64,
    /// SHA-256 of the key that decides the draws of a game with hidden information, in hex; `over` has the key. Omitted if
    /// the draws follow from the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw_key_sha256: Option<String>,
    /// The number of the game in its series, from 0.
    pub game_number: u64,
    /// The version of the referee.
    pub referee: String,
    /// When the match began, RFC 3339, UTC; only for people.
    pub started: String,
}

/// The program that has the rules of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GameProgramRecord {
    /// SHA-256 over the files of its folder, in hex.
    pub digest: String,
    /// Its answer to `describe`.
    pub described: Value,
}

impl GameProgramRecord {
    /// Whether `describe` answered true to this, such as `chance`.
    pub fn declares(&self, name: &str) -> bool {
        self.described[name] == true
    }
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
    /// The agent as given on the command line, with which it can be started again; paths are
    /// relative to where the match was started. Omitted if it was not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The command that was started: program and arguments.
    pub command: Vec<String>,
    /// SHA-256 over the agent's files, in hex.
    pub digest: String,
    /// What the agent said about itself; null if it never did.
    pub ready: Option<Ready>,
    /// The line protocol that it uses; omitted if that is the referee's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<LineProtocol>,
    /// The agent has caused as many void attempts as its contest allows: anything at its seat that
    /// would make the match void is its fault. Omitted if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_void: bool,
    /// How many games of its contest the agent's process had played before this one. Omitted if it was
    /// started for this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub games_before: u64,
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

/// A line protocol other than the referee's own, with the settings that decide what an agent
/// receives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineProtocol {
    /// Its name.
    pub name: String,
    /// Lines to send to the engine before it is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub init: Vec<String>,
    /// Settings for this engine, as defined by the protocol.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
}

/// What a fault does with three or more seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum OnFault {
    /// The seat is out and the others play on.
    #[default]
    Retire,
    /// The match ends.
    End,
}

/// How the agents were isolated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Sandbox")]
pub struct SandboxRecord {
    /// The level's name.
    pub level: String,
    /// The layers in force, strongest last.
    pub layers: Vec<String>,
    /// How many cores the machine had for them; omitted by versions that didn't record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Stronger levels that don't work on that machine, each with the reason: `basic: needs Linux`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What an agent might do while it wasn't its turn; omitted by versions that allowed
    /// everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pondering: Option<Pondering>,
    /// How agents were stopped; omitted unless `pondering` is `freeze`, and by versions that only
    /// sent signals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freezer: Option<Freezer>,
}

/// What stops agents while it isn't their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Freezer {
    /// A control group: nothing runs.
    Cgroup,
    /// Signals, repeated until everything stays stopped; CPU time in between is charged.
    Signals,
}

/// What an agent may do with the processor while it isn't its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[derive(strum::Display, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Pondering {
    /// Anything.
    #[default]
    Allow,
    /// Anything, but its bank pays for the CPU time.
    Measure,
    /// Nothing: its processes are stopped.
    Freeze,
}

impl Pondering {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A seat was asked for an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEvent {
    /// Nanoseconds since the match began.
    pub at_ns: u64,
    /// The number of the turn.
    pub turn: u64,
    /// The seat.
    pub seat: Seat,
    /// The time in the bank, rounded down; null without a bank.
    pub left_ms: Option<u64>,
    /// CPU time that its processes used since its last answer, in nanoseconds, if that is charged
    /// (with `freeze`, time that they ran although they should have been stopped). The bank has already
    /// paid for it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pondered_ns: u64,
    /// The seats that choose at once, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Seat>,
}

/// A line as received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineEvent {
    /// Nanoseconds since the match began: when its last byte was read.
    pub at_ns: u64,
    /// The seat that wrote it.
    pub seat: Seat,
    /// The line without its end. If `escaped` is true, invalid UTF-8 is written as `\xHH` and a
    /// backslash as `\\`.
    pub line: String,
    /// The line has escaped bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escaped: bool,
    /// The line was too long and only its beginning is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// An action was played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlayedEvent {
    /// Nanoseconds since the match began.
    pub at_ns: u64,
    /// The turn.
    pub turn: u64,
    /// The seat that played it.
    pub seat: Seat,
    /// The action, completed.
    pub action: ActionJson,
    /// The time charged, rounded up.
    pub used_ms: u64,
    /// Wall time, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time of the agent's processes in this turn, in nanoseconds; null if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Time in which the agent was ready to run but had no core, in nanoseconds; only for turns
    /// that are long enough to matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ns: Option<u64>,
    /// The referee's own lag in this turn, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lag_ns: u64,
    /// The last `score` in its `info` messages of this turn, if the header has an adjudication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

impl PlayedEvent {
    /// Returns an action without times.
    pub fn untimed(turn: u64, seat: Seat, action: ActionJson) -> Self {
        Self {
            at_ns: 0,
            turn,
            seat,
            action,
            used_ms: 0,
            wall_ns: 0,
            cpu_ns: None,
            wait_ns: None,
            lag_ns: 0,
            score: None,
        }
    }
}

/// The outcome of a draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DrawnEvent {
    /// Nanoseconds since the match began.
    pub at_ns: u64,
    /// The number of the next turn.
    pub turn: u64,
    /// The number of the outcome, from 0. It follows from the match's seed and the number of draws before.
    pub outcome: usize,
    /// What the outcome is called.
    pub label: String,
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
    /// The seat that wrote it.
    pub seat: Seat,
    /// The turn in which it was written.
    pub turn: u64,
    /// The text; invalid UTF-8 is replaced.
    pub text: String,
    /// How many bytes were dropped before this piece, because the agent wrote more than is kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_bytes: u64,
}

/// A seat was retired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetiredEvent {
    /// Nanoseconds since the match began.
    pub at_ns: u64,
    /// The turn in which it was retired.
    pub turn: u64,
    /// The seat.
    pub seat: Seat,
    /// The reason.
    pub fault: Fault,
}

/// The match ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverEvent {
    /// Nanoseconds since the match began.
    pub at_ns: u64,
    /// The result by the rules; null unless they ended the game.
    pub outcome: Option<Outcome>,
    /// The result of the match.
    pub verdict: Verdict,
    /// The key that decided the draws, if they don't follow from the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw_key: Option<String>,
}

/// An agent's process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExitEvent {
    /// Nanoseconds since the match began.
    pub at_ns: u64,
    /// The seat.
    pub seat: Seat,
    /// `exit status 0`, `signal 11 (SIGSEGV)` or `killed by the referee`.
    pub status: String,
    /// It was still running at the end of the grace period after `over`, which is not a fault.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

/// The last line of a complete transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seal {
    /// The number of lines before this one.
    pub lines: u64,
    /// SHA-256 of all bytes before this line, in hex.
    pub sha256: String,
}
