//! Ratings: one joint fit over all games at once, so that they don't depend on the order in which
//! games were played.
//!
//! [`rate`] makes of records what a report shows, [`rate_history`] what it would have shown
//! earlier. The model is in `likelihood.rs`, what is fitted to it in `evidence.rs`. No figure is
//! ever infinite or not a number, whatever the records say: a weak prior holds what results leave
//! without bound, and [`Ratings::notes`] say where it does.

mod bootstrap;
mod cholesky;
mod climb;
mod evidence;
mod fit;
mod history;
mod likelihood;
mod links;
mod notes;
mod strength;

#[cfg(test)]
mod tests;

pub(super) use evidence::Finish;
pub use fit::{RatingField, rate};
pub use history::{HistoryPoint, rate_history};
pub(super) use strength::{Strength, strengths};

use super::Player;
use schemars::JsonSchema;
use serde::Serialize;

/// What a fit found. All figures are finite.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ratings {
    /// The model: `bradley-terry-davidson` for two seats, `plackett-luce` for more.
    pub model: String,
    /// What 0 Elo is, in words: the mean of all rated players, in each group by itself. Above it is
    /// stronger.
    pub anchor: String,
    /// What is added to the results so that nothing is infinite, in words.
    pub prior: String,
    /// One entry a player, in the order of the contest's list.
    pub players: Vec<Rating>,
    /// One entry a seat: what sitting there is worth against the mean of the seats, in Elo.
    pub seats: Vec<Term>,
    /// With two seats: the chance of a draw between equals, 0 to 1, averaged over the seats; null
    /// with more seats.
    pub draw: Option<f64>,
    /// The games that were fitted.
    pub games: u64,
    /// The blocks that they form; what the bootstrap draws.
    pub blocks: u64,
    /// Games that were the same game as an earlier one of the same players in the same seats. They
    /// are fitted once and are no evidence of their own.
    pub duplicates: u64,
    /// Groups of players between whom no results link; one where all can be compared. Ratings
    /// compare only players of one group. A player without games is a group of one.
    pub groups: u64,
    /// Players who came before all others in every game that tells anything, in the order of the
    /// contest's list: how strong they are at least is known, how strong at most is held by the
    /// prior alone.
    pub won_all: Vec<Player>,
    /// Players who came behind all others in every such game.
    pub lost_all: Vec<Player>,
    /// What a reader must know, such as that groups are not linked, in sentences.
    pub notes: Vec<String>,
}

/// A player's rating.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Rating {
    /// Who.
    pub player: Player,
    /// On the Elo scale: 400 points are odds of 10 to 1 between two players. Above 0 is stronger
    /// than the mean of the group; 0 without games.
    pub elo: f64,
    /// Half the width of the 95 % interval of the difference to the mean of the group, from the
    /// information matrix; null where nothing bounds it (no games).
    pub error: Option<f64>,
    /// The 95 % interval of the same by bootstrap over blocks; null where the player is in fewer
    /// than ten blocks.
    pub bootstrap: Option<(f64, f64)>,
    /// How likely it is, in percent, that it is better than the next one of its group in the order
    /// of ratings; null for the last and where nothing tells.
    pub better_than_next: Option<f64>,
    /// The games that were fitted.
    pub games: u64,
    /// The group, from 0, in which it can be compared; in the order of their first players.
    pub group: u64,
}

/// A term of the model that is no player's.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Term {
    /// In Elo.
    pub elo: f64,
    /// Half the width of its 95 % interval; null where nothing bounds it.
    pub error: Option<f64>,
}
