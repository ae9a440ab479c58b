//! The ratings of some players: those of a team's versions, for its page.

use super::Report;
use crate::Player;
use crate::ratings::{Ends, HistoryPoint, history_intervals};
use schemars::JsonSchema;
use serde::Serialize;

/// The ratings of a team's versions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "TeamRatings")]
pub struct OwnRatings {
    /// Those that have games, the newest version first; while the course is frozen, as they were then.
    pub ratings: Vec<OwnRating>,
    /// They as a picture with their intervals, and over games (SVG); null if there are none.
    pub picture: Option<String>,
}

/// The rating of a version.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "TeamRating")]
pub struct OwnRating {
    /// The name under which it plays; untrusted text.
    pub player: String,
    /// The rating in Elo. Above 0 is stronger than the mean of all players.
    pub elo: f64,
    /// The lower end of the 95 % interval, in Elo; null if results leave it open.
    pub low: Option<f64>,
    /// The upper end; null if results leave it open.
    pub high: Option<f64>,
    /// Its games.
    pub games: u64,
    /// The rating after growing numbers of the contest's games.
    pub history: Vec<RatingThen>,
}

/// An earlier rating.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "RatingThen")]
pub struct RatingThen {
    /// How many games of the contest, in schedule order.
    pub games: u64,
    /// The rating from these games, in Elo.
    pub elo: f64,
    /// The lower end of its 95 % interval, in Elo; null if these games leave it open.
    pub low: Option<f64>,
    /// The upper end; null if these games leave it open.
    pub high: Option<f64>,
}

impl Report {
    /// Returns the intervals of all players at each point of the history. This takes several times as long as the
    /// ratings: seconds with hundreds of players.
    pub fn history_intervals(&self) -> Vec<Vec<Ends>> {
        let rated = self.rated.as_ref();
        rated.map_or_else(Vec::new, |games| history_intervals(games, &self.history))
    }

    /// Returns the ratings of the players with these names; `intervals` are those of [`Report::history_intervals`].
    pub fn ratings_of(&self, is_one: impl Fn(&str) -> bool, intervals: &[Vec<Ends>]) -> OwnRatings {
        let rated = self.ratings.iter().flat_map(|ratings| &ratings.players).rev();
        let rated = rated.filter(|own| own.games > 0 && is_one(self.player_name(own.player)));
        let history = |player: Player| {
            let point = |(at, ends): (&HistoryPoint, &Vec<Ends>)| {
                let elo = at.elo.get(player.index()).copied().flatten()?;
                let [low, high] = ends[player.index()];
                Some(RatingThen { games: at.games, elo, low, high })
            };
            self.history.iter().zip(intervals).filter_map(point).collect()
        };
        let (ratings, players): (Vec<OwnRating>, Vec<Player>) = rated
            .map(|own| {
                let rating = OwnRating {
                    player: self.player_name(own.player).to_owned(),
                    elo: own.elo,
                    low: own.low,
                    high: own.high,
                    games: own.games,
                    history: history(own.player),
                };
                (rating, own.player)
            })
            .unzip();
        OwnRatings { ratings, picture: self.ratings_svg(&players, intervals) }
    }
}
