//! Ratings over games: what earlier fits would have shown.

use super::RatingField;
use super::cholesky::Factor;
use super::evidence::Evidence;
use super::fit::{ELO, PRIOR, mean};
use super::games::{Finish, RatedGames};
use super::likelihood::Model;
use super::links::Links;
use super::optimizer::optimize_with_factor;
use crate::Player;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The ratings from a contest's first games.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HistoryPoint {
    /// How many games, in schedule order.
    pub games: u64,
    /// The rating of each player, in Elo, against the mean of its group in these games; null while
    /// it has no games.
    pub elo: Vec<Option<f64>>,
}

/// Returns the ratings after equal parts of the games, the last one after all of them, without
/// intervals. There are `points` parts, or fewer if there are fewer games; 20 are enough for a
/// chart.
pub fn rate_history(games: &RatedGames, points: usize) -> Vec<HistoryPoint> {
    let mut history: Vec<HistoryPoint> = Vec::new();
    let mut sums: BTreeMap<(&[Player], &[u32]), u64> = BTreeMap::new();
    let mut from = 0;
    for point in 1..=points {
        let to = games.len() * point / points;
        if from < to {
            for game in games.part(from..to) {
                *sums.entry((game.players, game.places)).or_default() += 1;
            }
            let before = history.last().map(|last| last.elo.as_slice()).unwrap_or_default();
            let elo = by_first_games(&games.field, &sums, before);
            history.push(HistoryPoint { games: to as u64, elo });
            from = to;
        }
    }
    history
}

fn by_first_games(
    field: &RatingField,
    sums: &BTreeMap<(&[Player], &[u32]), u64>,
    before: &[Option<f64>],
) -> Vec<Option<f64>> {
    let finish =
        |(&(players, places), &times): (&(_, _), &u64)| Finish { players, places, block: 0, times };
    let evidence = Evidence::of(field.seats, sums.iter().map(finish));
    let model = Model { evidence: &evidence, prior: PRIOR, seat_terms: true };
    let mut start = vec![0.0; model.size()];
    for (place, player) in start.iter_mut().zip(&evidence.rated) {
        *place = before.get(player.index()).copied().flatten().unwrap_or(0.0) / ELO;
    }
    let factor = Factor::of(&model.information(&evidence.counts, &start));
    let fit = |counts: &[f64], start| {
        optimize_with_factor(&model, counts, start, |slope| factor.solve(slope))
    };
    let likely = fit(&evidence.counts, start);
    let at = fit(&model.counts_without_bias(&likely), likely);
    let mut elo = vec![None; field.players];
    for group in Links::of(&evidence, None).groups {
        let centre = mean(group.centre.iter().map(|&player| at[player]));
        for player in group.members {
            elo[evidence.rated[player].index()] = Some((at[player] - centre) * ELO);
        }
    }
    elo
}
