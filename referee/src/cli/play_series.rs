//! The results of a series, as `play --json` prints them.

use super::contest::report::series;
use referee_contest::standings::Standing;
use referee_contest::{Contest, Record};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// The results of a series.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SeriesReport {
    /// Games with a result.
    games: u64,
    /// Games without a result.
    void: u64,
    /// The agents, best first.
    players: Vec<SeriesPlayer>,
    /// The difference in Elo of two agents, and what the numbers mean, as sentences.
    notes: Vec<String>,
    /// The command that repeats the series.
    reproduce: String,
}

/// An agent in [`SeriesReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct SeriesPlayer {
    #[serde(flatten)]
    standing: Standing,
    /// Its share of the points, 0 to 1; null without games.
    score: Option<f64>,
    /// Its rating on the Elo scale, against the mean of the agents; null without games.
    elo: Option<f64>,
    /// The lower end of the 95 % interval of `elo`; null if results leave it open.
    low: Option<f64>,
    /// The upper end; null if results leave it open.
    high: Option<f64>,
    /// Half the width of the interval; null if one of its ends is missing.
    error: Option<f64>,
}

impl SeriesReport {
    pub(super) fn new(
        contest: &Arc<Contest>,
        records: &[Record],
        void: u64,
        reproduce: String,
    ) -> Self {
        let report = series(contest, records);
        let notes = report.series_notes();
        let player = |standing: &Standing| {
            let rating = report.rating(standing.player);
            SeriesPlayer {
                score: standing.total.share(),
                elo: rating.map(|rating| rating.elo),
                low: rating.and_then(|rating| rating.low),
                high: rating.and_then(|rating| rating.high),
                error: rating.and_then(|rating| rating.error),
                standing: standing.clone(),
            }
        };
        let players = report.standings.players.iter().map(player).collect();
        Self { games: report.standings.games, void, players, notes, reproduce }
    }
}
