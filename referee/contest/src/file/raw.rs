//! The keys of the contest file. `conditions.rs` and `games.rs` check how they fit together.

use super::forms::{Described, ShortOrLong, Spanned, Time};
use crate::formats::{self, FormatName, FromContestFile, with_formats};
use crate::{LagPolicy, SeatOrders};
use referee_protocol::{
    ClockKind, DrawAdjudication, Level, LevelChoice, OnFault, Pondering, WinAdjudication,
};
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
            /// The contest's name. Defaults to the file's.
            pub(super) name: Option<Spanned<String>>,
            /// The seed of all random choices, below 2^53. Drawn when the contest is run, if absent.
            pub(super) seed: Option<Spanned<u64>>,
            /// Who plays whom. Defaults to `round-robin`, or `puzzle` for games of one seat.
            pub(super) format: Option<Spanned<FormatName>>,
            /// How often every pairing of the format is played. Defaults to 1.
            pub(super) rounds: Option<Spanned<u32>>,
            /// The seat orders in which a pairing is played.
            #[serde(default)]
            pub(super) seat_orders: SeatOrders,
            /// The most matches at once. Defaults to the number of cores.
            pub(super) jobs: Option<Spanned<u32>>,
            /// Whether matches are pinned to cores.
            #[serde(default)]
            pub(super) pin: bool,
            /// Whether agents get the colours of the others instead of their names, and a site hides names.
            #[serde(default)]
            pub(super) anonymous: bool,
            /// Whether an agent that offers `again` keeps its process for the next game. Gives up fairness.
            #[serde(default)]
            pub(super) reuse: bool,
            /// The published conditions of a course.
            pub(super) preset: Option<Spanned<String>>,
            /// The game, if there is only one and its setup is the default.
            pub(super) game: Option<Spanned<String>>,
            /// The games.
            #[serde(default)]
            pub(super) games: Vec<RawGame>,
            /// The agents: each an AGENT, or a table.
            #[serde(default)]
            pub(super) agents: Vec<Spanned<ShortOrLong<String, RawAgent>>>,
            /// A folder of which every agent plays.
            pub(super) submissions: Option<Spanned<ShortOrLong<String, RawSubmissions>>>,
            /// The clock: `BANK[+INCREMENT]`, or a table.
            pub(super) clock: Option<Spanned<ShortOrLong<String, RawClock>>>,
            /// The limits of an agent.
            #[serde(default)]
            pub(super) limits: RawLimits,
            /// How agents are isolated.
            #[serde(default)]
            pub(super) sandbox: RawSandbox,
            /// The requirements of the machines of a contest on many machines.
            #[serde(default)]
            pub(super) workers: RawWorkers,
            /// Where games begin.
            #[serde(default)]
            pub(super) openings: RawOpenings,
            /// What happens with games and submissions that fail.
            #[serde(default)]
            pub(super) policy: RawPolicy,
            /// When the scores that both agents give end a game.
            pub(super) adjudication: Option<Spanned<RawAdjudication>>,
            /// What builds of agents may use.
            #[serde(default)]
            pub(super) build: RawBuild,
            /// Points and marks for results.
            pub(super) grades: Option<Spanned<RawGrades>>,
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
    /// Its setup. Missing fields have their defaults.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub(super) setup: Option<Spanned<toml::Table>>,
    /// Its name in reports.
    pub(super) name: Option<Spanned<String>>,
}

/// An agent.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Agent")]
pub(super) struct RawAgent {
    /// Its name. Defaults to the agent's own.
    pub(super) name: Option<Spanned<String>>,
    /// The AGENT: a program file, a command line, a folder with agent.toml, or a built-in one.
    pub(super) run: Spanned<String>,
}

impl Described for RawAgent {}

/// A folder of which every agent plays.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Submissions")]
pub(super) struct RawSubmissions {
    /// The folder, relative to the contest file's.
    pub(super) folder: Spanned<String>,
    /// The AGENT for each of them, with `{}` for its path.
    pub(super) run: Option<Spanned<String>>,
}

impl Described for RawSubmissions {}

/// A clock. Give each time in milliseconds or as text, not both.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Clock")]
pub(super) struct RawClock {
    /// Which time is counted.
    pub(super) kind: Option<ClockKind>,
    /// The time from the start of the process to `ready`.
    pub(super) start: Option<Spanned<Time>>,
    /// The same in milliseconds.
    pub(super) start_ms: Option<Spanned<u64>>,
    /// The time for the whole match.
    pub(super) bank: Option<Spanned<Time>>,
    /// The same in milliseconds.
    pub(super) bank_ms: Option<Spanned<u64>>,
    /// The time added to the bank after each own turn.
    pub(super) increment: Option<Spanned<Time>>,
    /// The same in milliseconds.
    pub(super) increment_ms: Option<Spanned<u64>>,
    /// The most time for one turn.
    #[serde(rename = "move")]
    pub(super) turn: Option<Spanned<Time>>,
    /// The same in milliseconds.
    pub(super) move_ms: Option<Spanned<u64>>,
    /// By how much a turn may exceed its time without a fault.
    pub(super) margin: Option<Spanned<Time>>,
    /// The same in milliseconds.
    pub(super) margin_ms: Option<Spanned<u64>>,
    /// With CPU time: the most wall time for one turn.
    pub(super) backstop: Option<Spanned<Time>>,
    /// The same in milliseconds.
    pub(super) backstop_ms: Option<Spanned<u64>>,
}

impl Described for RawClock {}

/// The limits of an agent. Missing ones have their defaults.
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
    /// Bytes of stderr that are kept from its start, and as many from its end.
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

/// How agents are isolated.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Sandbox")]
pub(super) struct RawSandbox {
    /// The exact level. Defaults to `auto`, the strongest that works on the machine.
    pub(super) level: Option<Spanned<LevelChoice>>,
    /// With `auto`: the least level.
    pub(super) at_least: Option<Spanned<Level>>,
    /// The command that starts agents at level `external`: a string, or a list of words.
    pub(super) wrapper: Option<Spanned<ShortOrLong<String, Vec<String>>>>,
    /// What agents may do while it isn't their turn. Defaults to `freeze` if they share cores, else
    /// to `allow`.
    pub(super) pondering: Option<Pondering>,
    /// Files and folders that all agents may read, relative to the contest file's folder.
    #[serde(default)]
    pub(super) read: Vec<Spanned<String>>,
}

/// The requirements of a machine that plays games of a contest on many machines.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Workers")]
pub(super) struct RawWorkers {
    /// The class it was started with: `referee worker --class`.
    pub(super) class: Option<Spanned<String>>,
    /// Its architecture, such as `x86_64`. Defaults to the coordinator's.
    pub(super) arch: Option<Spanned<String>>,
    /// The least cores per concurrent match.
    pub(super) cores: Option<Spanned<u32>>,
    /// The least memory per concurrent match, in MiB.
    pub(super) memory_mb: Option<Spanned<u64>>,
    /// The least speed, in thousand positions per second and core, as `referee worker` measures it.
    pub(super) speed: Option<Spanned<f64>>,
    /// The greatest speed.
    pub(super) speed_most: Option<Spanned<f64>>,
    /// The greatest noise: how many times slower than the median the slowest twentieth of the time
    /// may be.
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

/// What happens with games and submissions that fail.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Policy")]
pub(super) struct RawPolicy {
    /// What a fault does in games of three seats or more.
    pub(super) on_fault: Option<OnFault>,
    /// How often a void game is played again before the run gives up on it.
    pub(super) void_retries: Option<Spanned<u32>>,
    /// How many void attempts one agent may cause in the contest before they are its faults.
    pub(super) agent_voids: Option<Spanned<u32>>,
    /// The referee's own lag in one turn, in milliseconds, above which a game is marked.
    pub(super) lag_ms: Option<Spanned<u64>>,
    /// What happens with marked games.
    pub(super) on_lag: Option<LagPolicy>,
    /// Whether games that ended by a fault count in ratings.
    pub(super) rate_faults: Option<bool>,
    /// Whether adapters refuse what the course's own program refused.
    #[serde(default)]
    pub(super) strict: bool,
    /// What happens with submissions that can't be read or built.
    #[serde(default)]
    pub(super) on_broken: OnBroken,
    /// The time limit of an agent's build: `time` of `build`.
    pub(super) build_time: Option<Spanned<Time>>,
}

/// When the scores that both agents give end a game: see the agent protocol.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Adjudication")]
pub(super) struct RawAdjudication {
    /// When it is won.
    pub(super) win: Option<Spanned<WinAdjudication>>,
    /// When it is drawn.
    pub(super) draw: Option<Spanned<DrawAdjudication>>,
}

/// What the build of an agent may use, besides what agents may.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Build")]
pub(super) struct RawBuild {
    /// Its time limit. Defaults to 10 minutes.
    pub(super) time: Option<Spanned<Time>>,
    /// The memory of all its processes, in MiB. Defaults to 4096.
    pub(super) memory_mb: Option<Spanned<u64>>,
    /// Whether it may use the network.
    #[serde(default)]
    pub(super) network: bool,
    /// Files and folders that it may read, relative to the contest file's folder.
    #[serde(default)]
    pub(super) read: Vec<Spanned<String>>,
}

/// Points and marks for results.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Grades")]
pub(super) struct RawGrades {
    /// The marks, best first. The first that applies is given.
    #[serde(default)]
    pub(super) marks: Vec<Spanned<RawMark>>,
    /// The reference agents that give points. They get no mark.
    #[serde(default)]
    pub(super) beats: Vec<RawBeats>,
    /// Other agents that get no mark.
    #[serde(default)]
    pub(super) ungraded: Vec<Spanned<String>>,
}

/// A mark with at most one condition.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Mark")]
pub(super) struct RawMark {
    /// The mark.
    pub(super) mark: Spanned<String>,
    /// The last place among the graded agents that gets it.
    pub(super) place: Option<Spanned<u32>>,
    /// The least percentage of the points.
    pub(super) percent: Option<Spanned<f64>>,
    /// The least rating.
    pub(super) elo: Option<Spanned<f64>>,
    /// The least points from reference agents.
    pub(super) points: Option<Spanned<f64>>,
}

/// A reference agent that gives points.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Beats")]
pub(super) struct RawBeats {
    /// Its name.
    pub(super) agent: Spanned<String>,
    /// The least percentage of the points against it.
    pub(super) percent: Spanned<f64>,
    /// The points that this gives.
    pub(super) points: Spanned<f64>,
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
