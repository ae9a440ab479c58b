//! Formats: who plays whom. A format sees players as numbers and results as points, nothing else, and
//! gives the next pairings whenever all earlier ones have ended. Each format is one file.

mod meetings;
mod groups;
mod balance;
mod seating;
mod matching;
mod triples;
mod bracket;
mod cup;
mod round_robin;
mod gauntlet;
mod swiss;
mod knockout;
mod double_knockout;
mod ladder;
mod puzzle;
mod compare;

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use super::Player;
pub use super::pairing::{Bye, Field, Pairing, PairingResult};
use super::seed::Seed;
use super::settings::{Mistake, SeatOrders, SprtSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, RangeInclusive};

pub use cup::{LevelTies, THIRD_PLACE, TieRules};

/// Calls a macro with the registry of formats: a line each, with the name in a contest file, the module
/// and the type, and the name of the contest file's table for the format's settings, if it has one.
///
/// Where a contest file names no format, the first one that fits its games is used.
macro_rules! with_formats {
    ($call:ident) => {
        $call! {
            "round-robin": round_robin::RoundRobin, [round_robin];
            "gauntlet": gauntlet::Gauntlet, [gauntlet];
            "swiss": swiss::Swiss, [];
            "knockout": knockout::Knockout, [knockout];
            "double-knockout": double_knockout::DoubleKnockout, [double_knockout];
            "ladder": ladder::Ladder, [];
            "puzzle": puzzle::Puzzle, [];
            "compare": compare::Compare, [compare];
        }
    };
}
pub(crate) use with_formats;

/// Defines what lists every format.
macro_rules! registry {
    ($($name:literal: $module:ident::$format:ident, [$($table:ident)?];)*) => {
        $(pub use $module::$format;)*

        /// A format with its settings, as stored with a contest.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "format")]
        pub enum FormatSettings {
            $(#[doc = $name] #[serde(rename = $name)] $format($format),)*
        }

        /// A format's name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
        pub(crate) enum FormatName {
            $(#[serde(rename = $name)] $format,)*
        }

        /// All formats.
        pub const FORMATS: &[FormatInfo] = &[
            $(FormatInfo { name: $name, help: $format::HELP, seats: $format::SEATS },)*
        ];

        const NAMES: &[FormatName] = &[$(FormatName::$format,)*];

        impl From<FormatName> for FormatSettings {
            fn from(name: FormatName) -> Self {
                match name {
                    $(FormatName::$format => Self::$format($format::default()),)*
                }
            }
        }

        impl FormatSettings {
            /// Its name in a contest file.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$format(_) => $name,)*
                }
            }
        }

        impl Deref for FormatSettings {
            type Target = dyn Format;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$format(format) => format,)*
                }
            }
        }
    };
}
with_formats!(registry);

/// What a user needs to know to choose a format.
#[derive(Debug)]
pub struct FormatInfo {
    /// The name in a contest file.
    pub name: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
    /// How many seats the games may have.
    pub seats: RangeInclusive<usize>,
}

impl FormatName {
    pub(crate) fn info(self) -> &'static FormatInfo {
        &FORMATS[self as usize]
    }

    /// Returns the format for games of `seats` seats where the contest file names none.
    pub(crate) fn default_for(seats: usize) -> Self {
        let mut fitting = NAMES.iter().filter(|name| name.info().seats.contains(&seats));
        *fitting.next().expect("there is a format for every number of seats")
    }
}

/// How a contest file sets up a format. A mistake at a key that begins with a dot is in the format's table.
pub(crate) trait FromContestFile: Default {
    /// What it does, in one line.
    const HELP: &'static str;
    /// How many seats the games may have.
    const SEATS: RangeInclusive<usize>;
    /// The contest file's table with its settings; `()` if there is none.
    type Table;

    /// Checks the table as far as that needs no agents.
    fn check(_table: &Self::Table) -> Result<(), Mistake> {
        Ok(())
    }

    /// Returns the file or folder with the ranking by which players are seeded, the table's key
    /// `seeding_from`.
    fn ranking_file(_table: &Self::Table) -> Option<&String> {
        None
    }

    /// Reads the settings. May change the order in which the agents become players.
    fn read(
        _table: Option<&Self::Table>,
        _entry: &Entry<'_>,
        _order: &mut Vec<usize>,
    ) -> Result<Self, Mistake> {
        Ok(Self::default())
    }
}

/// What a format's settings depend on besides its table.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    /// The names of the agents, at least as many as a game has seats.
    pub(crate) names: &'a [String],
    /// The first game, and how many seats each game has.
    pub(crate) game: &'a str,
    pub(crate) seats: usize,
    pub(crate) seat_orders: SeatOrders,
    /// The contest's seed.
    pub(crate) seed: Seed,
    /// Whether agents come from a folder with submissions.
    pub(crate) has_submissions: bool,
    /// The ranking by which they are seeded, with its name and text, if the table names one and it was read.
    pub(crate) ranking: Option<(&'a str, &'a str)>,
}

/// What the standings rank players by, unless the format decides the order itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// Points, then direct encounter, Sonneborn-Berger and wins.
    Points,
    /// The same with Buchholz after direct encounter: opponents differ, and so does their strength.
    PointsAndBuchholz,
    /// Points per game, then direct encounter: some play more games than others.
    PointsPerGame,
}

/// A comparison of two players.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The test that ends it; `None` if all rounds are played.
    pub sprt: Option<SprtSettings>,
}

/// A format with its settings. Its methods are pure: the same field and the same results always give
/// the same answer.
pub trait Format {
    /// Returns the least and the greatest number of pairings of the contest.
    fn size(&self, field: Field) -> RangeInclusive<u64>;

    /// Returns the pairings that follow when all of `past` has ended. `past` is in the order in which
    /// the pairings were given. An empty list ends the contest.
    fn next(&self, field: Field, past: &[PairingResult]) -> Vec<Pairing>;

    /// Returns the same where players of one team must not meet; `teams` has that of each player, `None` for one who
    /// has left. The caller leaves out pairings in which they do.
    fn next_of_teams(
        &self,
        field: Field,
        _teams: &[Option<Player>],
        past: &[PairingResult],
    ) -> Vec<Pairing> {
        self.next(field, past)
    }

    /// Whether the first call of [`Format::next`] gives all pairings, whatever the results. It isn't
    /// called again then, and results of pairings need not be kept.
    fn is_fixed(&self) -> bool {
        false
    }

    /// Whether players may join after the contest began. A format whose pairings are all known gives a new
    /// player those of its pairings that it is in, in a contest with it as the last player; another sees one
    /// player more from its next stage on.
    fn takes_late(&self) -> bool {
        false
    }

    /// Returns the byes of the rounds that have ended, in order. Their half-points count, though they
    /// have no pairing.
    fn byes(&self, _field: Field, _past: &[PairingResult]) -> Vec<Bye> {
        Vec::new()
    }

    /// Returns how many of the first pairings decide the contest, if they do; later ones don't count.
    /// `past` is an unbroken beginning of what [`Format::next`] gave.
    fn decided(&self, _past: &[PairingResult]) -> Option<usize> {
        None
    }

    /// Returns the final order, best first, with players who share a place in one group, where the
    /// format decides it and not the points. Called when the contest is over.
    fn ranking(&self, _field: Field, _past: &[PairingResult]) -> Option<Vec<Vec<Player>>> {
        None
    }

    /// What the standings rank players by. `is_even`: all have played equally many games.
    fn ranked_by(&self, _is_even: bool) -> Ranking {
        Ranking::Points
    }

    /// How ties are decided, in a format of ties of which one player goes on.
    fn tie_rules(&self) -> Option<TieRules> {
        None
    }

    /// Returns what the `nth` tie of a round is called, from 0, if it has a name.
    fn tie_name(&self, _field: Field, _round: u32, _nth: usize) -> Option<&'static str> {
        None
    }

    /// Whether earlier versions of the referee seeded submissions in another way.
    fn had_another_seeding(&self) -> bool {
        false
    }

    /// Returns what the variances of ratings are multiplied by, because results decide pairings.
    fn inflation(&self, _seats: usize) -> f64 {
        1.0
    }

    /// The comparison that this is, if it is one.
    fn comparison(&self) -> Option<Comparison> {
        None
    }
}
