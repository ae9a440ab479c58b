//! The contest file as it is written: every key, and nothing about what it means together.

use super::forms::{Described, ShortOrLong, Spanned, Time};
use crate::formats::{self, FormatName, FromContestFile, with_formats};
use crate::{LagPolicy, SeatOrders};
use referee_protocol::{ClockKind, Level, LevelChoice, OnFault, Pondering};
use schemars::JsonSchema;
use serde::Deserialize;

/// Defines the contest file, with a table for each format that has one.
macro_rules! contest_file {
    ($($name:literal: $module:ident::$format:ident, [$($table:ident)?];)*) => {
        /// A contest file.
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = "ContestFile")]
        pub(crate) struct Raw {
            /// The contest's name; the file's without it.
            pub(super) name: Option<Spanned<String>>,
            /// Everything that is drawn comes from it; below 2^53, 1 without it.
            pub(super) seed: Option<Spanned<u64>>,
            /// Who meets whom; `round-robin` without it, `puzzle` for games of one seat.
            pub(super) format: Option<Spanned<FormatName>>,
            /// How often every pairing of the format is played, 1 without it.
            pub(super) rounds: Option<Spanned<u32>>,
            /// In which seat orders those of a pairing play.
            #[serde(default)]
            pub(super) seat_orders: SeatOrders,
            /// How many matches may be under way at once.
            pub(super) jobs: Option<Spanned<u32>>,
            /// Whether matches are pinned to cores.
            #[serde(default)]
            pub(super) pin: bool,
            /// A course's conditions.
            pub(super) preset: Option<Spanned<String>>,
            /// The only game, where its setup is the default one.
            pub(super) game: Option<Spanned<String>>,
            /// What is played.
            #[serde(default)]
            pub(super) games: Vec<RawGame>,
            /// Who plays: an AGENT, or a table.
            #[serde(default)]
            pub(super) agents: Vec<Spanned<ShortOrLong<String, RawAgent>>>,
            /// A folder of agents that all play.
            pub(super) submissions: Option<Spanned<ShortOrLong<String, RawSubmissions>>>,
            /// The clock: `BANK[+INCREMENT]`, or a table.
            pub(super) clock: Option<Spanned<ShortOrLong<String, RawClock>>>,
            /// What an agent may use.
            #[serde(default)]
            pub(super) limits: RawLimits,
            /// What keeps agents apart.
            #[serde(default)]
            pub(super) sandbox: RawSandbox,
            /// What is asked of the machines of a contest on many.
            #[serde(default)]
            pub(super) workers: RawWorkers,
            /// Where games begin.
            #[serde(default)]
            pub(super) openings: RawOpenings,
            /// What becomes of games and submissions that went wrong.
            #[serde(default)]
            pub(super) policy: RawPolicy,
            $($(
                #[doc = concat!("More about `", $name, "`.")]
                pub(crate) $table: Option<Spanned<<formats::$format as FromContestFile>::Table>>,
            )?)*
        }
    };
}
with_formats!(contest_file);

/// A game.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Game")]
pub(super) struct RawGame {
    /// The game, as `referee games` lists it.
    pub(super) game: Spanned<String>,
    /// Its setup; fields that are left out take their defaults.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub(super) setup: Option<Spanned<toml::Table>>,
    /// As reports call it.
    pub(super) name: Option<Spanned<String>>,
}

/// An agent.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Agent")]
pub(super) struct RawAgent {
    /// Its name; what the agent is called by itself without it.
    pub(super) name: Option<Spanned<String>>,
    /// The AGENT: a program file, a command line, a folder with agent.toml, or a built-in one.
    pub(super) run: Spanned<String>,
}

impl Described for RawAgent {}

/// A folder of agents that all play.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Submissions")]
pub(super) struct RawSubmissions {
    /// The folder, relative to the contest file's.
    pub(super) folder: Spanned<String>,
    /// The AGENT that each is, with `{}` for its path.
    pub(super) run: Option<Spanned<String>>,
}

impl Described for RawSubmissions {}

/// A clock. Each time is given in milliseconds or as people write it, not both.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Clock")]
pub(super) struct RawClock {
    /// What is counted.
    pub(super) kind: Option<ClockKind>,
    /// From the start of the process to `ready`.
    pub(super) start: Option<Spanned<Time>>,
    /// The same in milliseconds.
    pub(super) start_ms: Option<Spanned<u64>>,
    /// For the whole match.
    pub(super) bank: Option<Spanned<Time>>,
    /// The same in milliseconds.
    pub(super) bank_ms: Option<Spanned<u64>>,
    /// Added to the bank after each own turn.
    pub(super) increment: Option<Spanned<Time>>,
    /// The same in milliseconds.
    pub(super) increment_ms: Option<Spanned<u64>>,
    /// The most that one turn may take; without a bank it is all there is.
    #[serde(rename = "move")]
    pub(super) turn: Option<Spanned<Time>>,
    /// The same in milliseconds.
    pub(super) move_ms: Option<Spanned<u64>>,
    /// What may be exceeded without a fault.
    pub(super) margin: Option<Spanned<Time>>,
    /// The same in milliseconds.
    pub(super) margin_ms: Option<Spanned<u64>>,
    /// With CPU time: what a turn may take on the wall.
    pub(super) backstop: Option<Spanned<Time>>,
    /// The same in milliseconds.
    pub(super) backstop_ms: Option<Spanned<u64>>,
}

impl Described for RawClock {}

/// What an agent may use; what is left out is as always.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Limits")]
pub(super) struct RawLimits {
    /// Bytes in one line of its output.
    pub(super) line_bytes: Option<Spanned<u64>>,
    /// Bytes of output in one turn.
    pub(super) turn_bytes: Option<Spanned<u64>>,
    /// Bytes of output in the whole match.
    pub(super) match_bytes: Option<Spanned<u64>>,
    /// Bytes of stderr that are kept at the head, and as many at the tail.
    pub(super) stderr_bytes: Option<Spanned<u64>>,
    /// Memory of its whole process tree, in MiB.
    pub(super) memory_mb: Option<Spanned<u64>>,
    /// Processes and threads.
    pub(super) processes: Option<Spanned<u64>>,
    /// Open files.
    pub(super) files: Option<Spanned<u64>>,
    /// Its private work folder, in MiB.
    pub(super) work_mb: Option<Spanned<u64>>,
}

/// What keeps agents apart.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Sandbox")]
pub(super) struct RawSandbox {
    /// Exactly this level; `auto`, which is without it: the strongest that the machine is seen to
    /// give.
    pub(super) level: Option<Spanned<LevelChoice>>,
    /// With `auto`: nothing weaker than this.
    pub(super) at_least: Option<Spanned<Level>>,
    /// The command that starts agents at level `external`: a text, or its words.
    pub(super) wrapper: Option<Spanned<ShortOrLong<String, Vec<String>>>>,
    /// What agents may do while it isn't their turn; `freeze` where they share cores, else `allow`,
    /// without it.
    pub(super) pondering: Option<Pondering>,
    /// Files and folders that all agents may read, relative to the contest file's folder.
    #[serde(default)]
    pub(super) read: Vec<Spanned<String>>,
}

/// What is asked of a machine that plays games of a contest on many machines: all of it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Workers")]
pub(super) struct RawWorkers {
    /// What it was started as: `referee worker --class`.
    pub(super) class: Option<Spanned<String>>,
    /// Its architecture, such as `x86_64`; that of the machine which coordinates without it.
    pub(super) arch: Option<Spanned<String>>,
    /// The least cores for each match that it plays at once.
    pub(super) cores: Option<Spanned<u32>>,
    /// The least memory for each match that it plays at once, in MiB.
    pub(super) memory_mb: Option<Spanned<u64>>,
    /// The least speed, in thousand positions a second and core, as `referee worker` measures it.
    pub(super) speed: Option<Spanned<f64>>,
    /// The most.
    pub(super) speed_most: Option<Spanned<f64>>,
    /// The most noise: how many times slower than usual the slowest twentieth of its time may be.
    pub(super) noise_most: Option<Spanned<f64>>,
}

/// Where games begin: at most one of the two.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Openings")]
pub(super) struct RawOpenings {
    /// The number of random legal plies that come first.
    pub(super) plies: Option<Spanned<u32>>,
    /// A file with positions to begin from, one a line, relative to the contest file's folder.
    pub(super) file: Option<Spanned<String>>,
}

/// What becomes of games and submissions that went wrong.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Policy")]
pub(super) struct RawPolicy {
    /// With three seats and more: what a fault does.
    pub(super) on_fault: Option<OnFault>,
    /// How often a void game is played again before the run gives up on it.
    pub(super) void_retries: Option<Spanned<u32>>,
    /// The referee's own lag in one turn, in milliseconds, above which a game is marked.
    pub(super) lag_ms: Option<Spanned<u64>>,
    /// What happens with marked games.
    pub(super) on_lag: Option<LagPolicy>,
    /// Whether games that ended by a fault count in ratings.
    pub(super) rate_faults: Option<bool>,
    /// What happens with submissions that can't be read or built.
    #[serde(default)]
    pub(super) on_broken: OnBroken,
    /// How long the build of an agent may take; 10 minutes without it.
    pub(super) build_time: Option<Spanned<Time>>,
}

/// What happens with submissions that can't be read or built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnBroken {
    /// The contest does not start until they are fixed.
    #[default]
    Stop,
    /// The others play.
    LeaveOut,
}
