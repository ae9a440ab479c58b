//! Formats: who meets whom. A format sees players as numbers and results as points, nothing else,
//! and says the next pairings whenever all earlier ones have ended.

mod meetings;
mod groups;
mod balance;
mod seating;
mod matching;
mod triples;
mod bracket;
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

pub use bracket::REPLAYS;

use super::Player;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, RangeInclusive};

/// Makes of the registry what names every format.
macro_rules! registry {
    ($($format:ident: $module:ident, $name:literal, $seats:expr;)*) => {
        $(pub use $module::$format;)*

        /// A format with its settings, as a contest is kept.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "format")]
        pub enum FormatSettings {
            $(#[doc = $name] #[serde(rename = $name)] $format($format),)*
        }

        /// A format's name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
        pub(super) enum FormatName {
            $(#[serde(rename = $name)] $format,)*
        }

        impl FormatName {
            /// As a contest file has it, and the seats of games that it takes.
            pub(super) fn about(self) -> (&'static str, RangeInclusive<usize>) {
                match self {
                    $(Self::$format => ($name, $seats),)*
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

// Each format: its type, its file, its name, and the seats of games that it takes.
registry! {
    RoundRobin: round_robin, "round-robin", 2..=usize::MAX;
    Gauntlet: gauntlet, "gauntlet", 2..=usize::MAX;
    Swiss: swiss, "swiss", 2..=2;
    Knockout: knockout, "knockout", 2..=2;
    DoubleKnockout: double_knockout, "double-knockout", 2..=2;
    Ladder: ladder, "ladder", 2..=usize::MAX;
    Puzzle: puzzle, "puzzle", 1..=1;
    Compare: compare, "compare", 2..=2;
}

/// Some players that meet, in the seat order of their first game.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pairing {
    /// The round, from 1, as people count it in this format.
    pub round: u32,
    /// Who meets. As many as a game has seats.
    pub players: Vec<Player>,
}

/// A pairing that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// Who met.
    pub pairing: Pairing,
    /// What each of its players got in all games of the pairing, in halves ([`super::halves`]).
    pub halves: Vec<u32>,
    /// The same of each of its blocks, in order.
    pub blocks: Vec<Vec<u32>>,
}

/// A round that a player sits out, for points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bye {
    /// The round.
    pub round: u32,
    /// Who sits it out.
    pub player: Player,
    /// What it gets for it, in halves: as much as for winning every game of a pairing.
    pub halves: u32,
}

/// What a format is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// How many play.
    pub players: usize,
    /// How many seats a game has.
    pub seats: usize,
    /// The contest's rounds.
    pub rounds: u32,
    /// The contest's seed.
    pub seed: u64,
}

/// A format with its settings. The same field and the same past always give the same answer.
pub trait Format {
    /// How many pairings the contest has: at least, at most.
    fn size(&self, field: Field) -> RangeInclusive<u64>;

    /// The pairings that follow when all of `past` has ended; `past` is in the order in which the
    /// pairings were given. None are left: the contest is over.
    fn next(&self, field: Field, past: &[Met]) -> Vec<Pairing>;

    /// All pairings are given at once, and results change nothing. Then nobody asks again, and what
    /// ended need not be remembered.
    fn is_fixed(&self) -> bool {
        false
    }

    /// The byes of the rounds that have ended, in order. Their halves belong to the points, though
    /// there is no pairing for them.
    fn byes(&self, _field: Field, _past: &[Met]) -> Vec<Bye> {
        Vec::new()
    }

    /// How many of the first pairings decide the contest, if they do; later ones don't count.
    /// `past` is an unbroken beginning of what [`Format::next`] gave.
    fn decided(&self, _past: &[Met]) -> Option<usize> {
        None
    }

    /// The final order, best first, with those who share a place in one group, where the format
    /// itself decides it and not the points. To be asked when the contest is over.
    fn ranking(&self, _field: Field, _past: &[Met]) -> Option<Vec<Vec<Player>>> {
        None
    }
}
