//! The keys of the contest file that aren't settings of a contest as they stand. The settings are in
//! `settings.rs` and `grades.rs`, those of formats with the formats.

use crate::formats::{self, Entry, FormatName, FormatSettings, FromContestFile, with_formats};
use crate::forms::{Described, ShortOrLong, Time, within};
use crate::grades::GradeSettings;
use crate::seed::Seed;
use crate::settings::{MEMORY_MB_MAX, Mistake, Policy, SandboxSettings, SeatOrders};
use crate::web::WebSettings;
use referee_protocol::{Adjudication, ClockKind, Limits};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Defines the contest file, with a table for each format that has one.
macro_rules! contest_file {
    ($($name:literal: $module:ident::$format:ident, [$($table:ident)?];)*) => {
        /// A contest file.
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = "ContestFile")]
        pub(crate) struct Raw {
            /// The contest's name. Defaults to the file's.
            pub(super) name: Option<String>,
            /// The seed of all random choices, below 2^53, or a key of 32 hex digits, which is drawn when the contest
            /// is run, if absent.
            pub(super) seed: Option<Seed>,
            /// The key from which the draws of games with hidden information follow, as `seed`. It is drawn when the contest
            /// is run, if absent.
            pub(super) draw_key: Option<Seed>,
            /// Whether viewers see games with hidden information while they go on, with all that is hidden from
            /// agents.
            #[serde(default)]
            pub(super) show_hidden: bool,
            /// Whether the seat orders of a pairing have the same draws, so that nobody wins by better cards.
            #[serde(default)]
            pub(super) duplicate_deals: bool,
            /// Who plays whom. Defaults to `round-robin`, or `puzzle` for games of one seat.
            pub(super) format: Option<FormatName>,
            /// How often every pairing of the format is played. Defaults to 1.
            #[serde(default, deserialize_with = "within::<_, _, 1, 1_000_000>")]
            pub(super) rounds: Option<u32>,
            /// The seat orders in which a pairing is played.
            #[serde(default)]
            pub(super) seat_orders: SeatOrders,
            /// The most matches at once. Defaults to the number of cores.
            #[serde(default, deserialize_with = "within::<_, _, 1, 10_000>")]
            pub(super) jobs: Option<u32>,
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
            pub(super) preset: Option<String>,
            /// The game, if there is only one and its setup is the default.
            pub(super) game: Option<String>,
            /// The games.
            #[serde(default)]
            pub(super) games: Vec<RawGame>,
            /// The agents: each an AGENT, or a table.
            #[serde(default)]
            pub(super) agents: Vec<ShortOrLong<String, RawAgent>>,
            /// A folder of which every agent plays.
            pub(super) submissions: Option<ShortOrLong<String, RawSubmissions>>,
            /// The clock: `BANK[+INCREMENT]`, or a table.
            pub(super) clock: Option<ShortOrLong<String, RawClock>>,
            /// The limits of an agent. Missing ones have their defaults.
            #[serde(default)]
            #[schemars(with = "Limits", extend("unevaluatedProperties" = false))]
            pub(super) limits: BTreeMap<String, u64>,
            /// How agents are isolated.
            #[serde(default)]
            pub(super) sandbox: SandboxSettings,
            /// Where games begin.
            #[serde(default)]
            pub(super) openings: RawOpenings,
            /// What happens with games and submissions that fail.
            #[serde(default)]
            pub(super) policy: Policy,
            /// When the scores that both agents give end a game.
            pub(super) adjudication: Option<Adjudication>,
            /// What builds of agents may use.
            #[serde(default)]
            pub(super) build: RawBuild,
            /// What may be handed in on the web.
            #[serde(default)]
            pub(super) web: WebSettings,
            /// Points and marks for results.
            pub(super) grades: Option<GradeSettings>,
            $($(
                #[doc = concat!("More about `", $name, "`.")]
                $table: Option<<formats::$format as FromContestFile>::Table>,
            )?)*
        }

        impl Raw {
            /// Checks that the tables with settings of formats are those of the contest's format, and as far as
            /// that needs no agents.
            pub(super) fn check_tables(&self, format: FormatName) -> Result<(), Mistake> {
                $($(if let Some(table) = &self.$table {
                    let (key, owner) = (stringify!($table), FormatName::$format);
                    if owner != format {
                        let message = format!(
                            "`[{key}]` has no effect: the format is {}", format.info().name
                        );
                        let help = format!("add format = \"{}\", or remove `[{key}]`", $name);
                        return Err(Mistake::at(key, message).help(help));
                    }
                    formats::$format::check(table).map_err(|it| in_table(key, it))?;
                })?)*
                Ok(())
            }

            /// Returns the ranking by which a format's table seeds players, and its key.
            pub(super) fn ranking_file(&self) -> Option<(&String, &'static str)> {
                $($(
                    let ranking = self.$table.as_ref().and_then(formats::$format::ranking_file);
                    if let Some(ranking) = ranking {
                        return Some((ranking, concat!(stringify!($table), ".seeding_from")));
                    }
                )?)*
                None
            }

            /// Returns the format with its settings, and the order in which the agents become players.
            pub(super) fn format(
                &self,
                format: FormatName,
                entry: &Entry<'_>,
            ) -> Result<(FormatSettings, Vec<usize>), Mistake> {
                let mut order = (0..entry.names.len()).collect();
                let settings = match format {
                    $(FormatName::$format => {
                        let table = None$(.or(self.$table.as_ref()))?;
                        let settings = formats::$format::read(table, entry, &mut order);
                        let key = concat!("" $(, stringify!($table))?);
                        settings.map(FormatSettings::$format).map_err(|it| in_table(key, it))?
                    })*
                };
                Ok((settings, order))
            }
        }
    };
}
with_formats!(contest_file);

/// Completes the key of a mistake in a format's table.
fn in_table(table: &str, mut mistake: Mistake) -> Mistake {
    if mistake.key.starts_with('.') {
        mistake.key.insert_str(0, table);
    }
    mistake
}

/// A game.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Game")]
pub(super) struct RawGame {
    /// The game, as `referee games` lists it.
    pub(super) game: String,
    /// Its setup. Missing fields have their defaults.
    pub(super) setup: Option<Map<String, Value>>,
    /// Its name in reports.
    pub(super) name: Option<String>,
}

/// An agent.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Agent")]
pub(super) struct RawAgent {
    /// Its name. Defaults to the agent's own.
    pub(super) name: Option<String>,
    /// The AGENT: a program file, a command line, a folder with agent.toml, or a built-in one.
    pub(super) run: String,
}

impl Described for RawAgent {}

/// A folder of which every agent plays.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Submissions")]
pub(super) struct RawSubmissions {
    /// The folder, relative to the contest file's.
    pub(super) folder: String,
    /// The AGENT for each of them, with `{}` for its path.
    pub(super) run: Option<String>,
}

impl Described for RawSubmissions {}

/// A clock.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Clock")]
pub(super) struct RawClock {
    /// Which time is counted.
    pub(super) kind: Option<ClockKind>,
    /// The time from the start of the process to `ready`.
    pub(super) start: Option<Time>,
    /// The time for the whole match.
    pub(super) bank: Option<Time>,
    /// The time added to the bank after each own turn.
    pub(super) increment: Option<Time>,
    /// The most time for one turn.
    #[serde(rename = "move")]
    pub(super) turn: Option<Time>,
    /// By how much a turn may exceed its time without a fault.
    pub(super) margin: Option<Time>,
    /// With CPU time: the most wall time for one turn.
    pub(super) backstop: Option<Time>,
}

impl Described for RawClock {}

/// Where games begin: at most one of the two.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Openings")]
pub(super) struct RawOpenings {
    /// The number of random legal plies that come first.
    #[serde(default, deserialize_with = "within::<_, _, 0, 100>")]
    pub(super) plies: Option<u32>,
    /// A file with positions to begin from, one a line, relative to the contest file's folder.
    pub(super) file: Option<String>,
}

/// What the build of an agent may use, besides what agents may.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Build")]
pub(super) struct RawBuild {
    /// Its time limit. Defaults to 10 minutes.
    pub(super) time: Option<Time>,
    /// The memory of all its processes, in MiB. Defaults to 4096.
    #[serde(default, deserialize_with = "within::<_, _, 1, MEMORY_MB_MAX>")]
    pub(super) memory_mb: Option<u64>,
    /// Whether it may use the network.
    #[serde(default)]
    pub(super) network: bool,
    /// Files and folders that it may read, relative to the contest file's folder.
    #[serde(default)]
    pub(super) read: Vec<String>,
}
