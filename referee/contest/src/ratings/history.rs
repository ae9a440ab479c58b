//! Ratings over games: what earlier fits would have shown.

use super::cholesky::Factor;
use super::evidence::Evidence;
use super::fit::{ELO, PRIOR, intervals, mean};
use super::games::{Finish, RatedGames};
use super::likelihood::Model;
use super::links::Links;
use super::optimizer::optimize_with_factor;
use super::{Ends, RatingField};
use crate::Player;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The ratings from a contest's first games.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HistoryPoint {
    /// How many games, in schedule order.
    pub games: u64,
    /// The rating of each player, in Elo, against the mean of its group in these games; null while it has no games,
    /// or no chain of games links it with all others with games that are in its group in the end: until then the
    /// groups have no common 0.
    pub elo: Vec<Option<f64>>,
}

/// Returns the ratings after equal parts of the games, the last one after all of them, without
/// intervals. There are `points` parts, or fewer if there are fewer games; 20 are enough for a
/// chart.
pub fn rate_history(games: &RatedGames, points: usize) -> Vec<HistoryPoint> {
    let mut history: Vec<HistoryPoint> = Vec::new();
    let mut sums: BTreeMap<(&[Player], &[u32]), u64> = BTreeMap::new();
    let mut from = 0;
    let mut groups = Vec::new();
    for point in 1..=points {
        let to = games.len() * point / points;
        if from < to {
            for game in games.part(from..to) {
                *sums.entry((game.players, game.places)).or_default() += 1;
            }
            let before = history.last().map(|last| last.elo.as_slice()).unwrap_or_default();
            let (elo, linked) = by_first_games(&games.field, &sums, before);
            groups.push(linked);
            history.push(HistoryPoint { games: to as u64, elo });
            from = to;
        }
    }
    let last = groups.last().cloned().unwrap_or_default();
    for (point, linked) in history.iter_mut().zip(&groups) {
        let rated = |whole: &Vec<Player>| {
            whole.iter().filter(|player| point.elo[player.index()].is_some()).count()
        };
        let is_apart = |group: &&Vec<Player>| {
            let whole = last.iter().find(|whole| whole.contains(&group[0]));
            whole.is_some_and(|whole| group.len() < rated(whole))
        };
        let apart: Vec<Player> = linked.iter().filter(is_apart).flatten().copied().collect();
        for player in apart {
            point.elo[player.index()] = None;
        }
    }
    history
}

/// Returns the interval of each player at each point of the history of these games: each point is fitted again.
pub fn history_intervals(games: &RatedGames, history: &[HistoryPoint]) -> Vec<Vec<Ends>> {
    let first = |point: &HistoryPoint| usize::try_from(point.games).unwrap_or(games.len());
    history.iter().map(|point| intervals(&games.first(first(point)))).collect()
}

fn by_first_games(
    field: &RatingField,
    sums: &BTreeMap<(&[Player], &[u32]), u64>,
    before: &[Option<f64>],
) -> (Vec<Option<f64>>, Vec<Vec<Player>>) {
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
    let mut groups = Vec::new();
    for group in Links::of(&evidence, None).groups {
        let centre = mean(group.centre.iter().map(|&player| at[player]));
        let members: Vec<Player> = group.members.iter().map(|&it| evidence.rated[it]).collect();
        for (player, own) in group.members.into_iter().zip(&members) {
            elo[own.index()] = Some((at[player] - centre) * ELO);
        }
        groups.push(members);
    }
    (elo, groups)
}
