//! Formats: who meets whom. A format sees players as numbers and results as points, nothing else,
//! and says the next pairings whenever all earlier ones have ended.

mod meetings;
mod groups;
mod balance;
mod seating;
mod matching;
mod round_robin;
mod triples;
mod gauntlet;
mod swiss;
mod bracket;
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

use super::{Contest, FormatSettings, Player};
use std::ops::RangeInclusive;

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

/// A format. The same field and the same past always give the same answer.
pub trait Format: std::fmt::Debug + Send {
    /// How many pairings the contest has: at least, at most.
    fn size(&self) -> RangeInclusive<u64>;

    /// The pairings that follow when all of `past` has ended; `past` is in the order in which the
    /// pairings were given. None are left: the contest is over.
    fn next(&self, past: &[Met]) -> Vec<Pairing>;

    /// All pairings are given at once, and results change nothing. Then nobody asks again, and what
    /// ended need not be remembered.
    fn is_fixed(&self) -> bool {
        false
    }

    /// The byes of the rounds that have ended, in order. Their halves belong to the points, though
    /// there is no pairing for them.
    fn byes(&self, _past: &[Met]) -> Vec<Bye> {
        Vec::new()
    }

    /// How many of the first pairings decide the contest, if they do; later ones don't count.
    /// `past` is an unbroken beginning of what [`Format::next`] gave.
    fn decided(&self, _past: &[Met]) -> Option<usize> {
        None
    }

    /// The final order, best first, with those who share a place in one group, where the format
    /// itself decides it and not the points. To be asked when the contest is over.
    fn ranking(&self, _past: &[Met]) -> Option<Vec<Vec<Player>>> {
        None
    }
}

impl Contest {
    /// What its format is asked about.
    pub fn field(&self) -> Field {
        let (players, seats) = (self.players.len(), self.seats());
        Field { players, seats, rounds: self.rounds, seed: self.seed }
    }

    /// How many seats its games have.
    pub fn seats(&self) -> usize {
        self.games.first().map_or(1, |game| game.seats)
    }
}

impl FormatSettings {
    /// The format for a field.
    pub fn build(&self, field: Field) -> Box<dyn Format> {
        match self {
            Self::RoundRobin { triples_per_player } => {
                Box::new(round_robin::RoundRobin::new(field, *triples_per_player))
            }
            Self::Gauntlet { challengers } => {
                Box::new(gauntlet::Gauntlet::new(field, *challengers))
            }
            Self::Knockout { third_place } => {
                Box::new(knockout::Knockout::new(field, *third_place))
            }
            Self::DoubleKnockout {} => Box::new(double_knockout::DoubleKnockout::new(field)),
            Self::Puzzle {} => Box::new(puzzle::Puzzle::new(field)),
            Self::Compare { sprt } => Box::new(compare::Compare::new(field, *sprt)),
            Self::Ladder {} => Box::new(ladder::Ladder::new(field)),
            Self::Swiss {} => Box::new(swiss::Swiss::new(field)),
        }
    }
}
