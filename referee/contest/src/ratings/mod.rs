//! Ratings: one joint fit over all games, so that the order in which they were played doesn't
//! matter.
//!
//! [`rate`] returns the ratings of a report, [`rate_history`] those of earlier states and
//! [`history_intervals`] their intervals. The model is in `likelihood.rs`, the data in `evidence.rs`.
//! Every number is finite for any records: a weak prior bounds what results leave unbounded, and
//! [`Ratings::notes`] name the places.

mod cholesky;
mod optimizer;
mod evidence;
mod fit;
mod games;
mod history;
mod intervals;
mod likelihood;
mod links;
mod notes;
mod scores;
mod strength;

#[cfg(test)]
mod tests;

pub use fit::{RatingField, rate, superiority};
pub(super) use games::Finish;
pub use games::RatedGames;
pub use history::{HistoryPoint, history_intervals, rate_history};
pub(super) use strength::{Strength, strengths};

use super::Player;
use schemars::JsonSchema;
use serde::Serialize;

/// Half the width of a 95 % interval of a normal distribution, in standard deviations: its 97.5 % quantile.
pub(super) const WIDTH_95: f64 = 1.959_963_984_540_054;

/// The lower and the upper end of a 95 % interval, in Elo; `None` if results leave it open.
pub type Ends = [Option<f64>; 2];

/// The result of a fit. All numbers are finite.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ratings {
    /// The model: `bradley-terry-davidson` for two seats, `plackett-luce` for more.
    pub model: String,
    /// What 0 Elo is, in words: the mean of the players of `centre`, of each group separately.
    pub anchor: String,
    /// The players whose mean is 0, in the order of the contest's list: in each group the largest part
    /// in which everybody is linked with everybody by chains of wins and shared places in both directions, else the
    /// whole group.
    pub centre: Vec<Player>,
    /// What the prior adds to the results, in words.
    pub prior: String,
    /// The rating of each player, in the order of the contest's list.
    pub players: Vec<Rating>,
    /// What each seat is worth against the mean of the seats, in Elo.
    pub seats: Vec<Term>,
    /// With two seats: the chance of a draw between equal players, 0 to 1; null with more seats.
    pub draw: Option<f64>,
    /// The games that were fitted.
    pub games: u64,
    /// The blocks that they form.
    pub blocks: u64,
    /// How much more the results of blocks vary than independent games would: 1 is as much, 2 twice
    /// as much.
    pub dispersion: f64,
    /// Games that repeat an earlier one of the same players in the same seats. They are fitted
    /// once.
    pub duplicates: u64,
    /// How many groups of players have no games that link them; 1 if all can be compared. Ratings
    /// compare only players of one group. A player without games is a group of one.
    pub groups: u64,
    /// Players who came before all others in every game with information, in the order of the
    /// contest's list. Only the prior limits their ratings above.
    pub won_all: Vec<Player>,
    /// Players who came behind all others in every such game: only the prior limits their ratings below.
    pub lost_all: Vec<Player>,
    /// What a reader must know, such as that groups are not linked, as sentences.
    pub notes: Vec<String>,
}

/// A player's rating.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Rating {
    /// The player.
    pub player: Player,
    /// The rating on the Elo scale, on which 400 points are odds of 10 to 1. Above 0 is stronger
    /// than the mean of the group; 0 without games.
    pub elo: f64,
    /// The lower end of the 95 % interval, in Elo; null if results leave it open.
    pub low: Option<f64>,
    /// The upper end; null if results leave it open.
    pub high: Option<f64>,
    /// Half the width of the interval; null if one of its ends is missing.
    pub error: Option<f64>,
    /// How likely it is, in percent, that the player is stronger than the next one of its group by
    /// rating; null for the last one and where it is unknown.
    pub better_than_next: Option<f64>,
    /// The rating from scores, if the game has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreRating>,
    /// The games that were fitted.
    pub games: u64,
    /// The group, from 0, whose players it can be compared with; in the order of their first
    /// players.
    pub group: u64,
}

/// A player's rating from scores: a player scores more in a game than another one by the difference of their ratings, on
/// average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ScoreRating {
    /// In the unit of the game's scores; 0 is the mean of the players whom games link.
    pub score: f64,
    /// The lower end of the 95 % interval; null with too few blocks.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// A term of the model other than a player's strength.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Term {
    /// In Elo.
    pub elo: f64,
    /// Half the width of its 95 % interval; null if it is unbounded.
    pub error: Option<f64>,
}
