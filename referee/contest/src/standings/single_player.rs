//! Contests with one seat: what each player solved, and how well.

use super::Standing;
use crate::{Contest, Player, Record};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A player's results.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PuzzleResult {
    /// Games that were solved.
    pub solved: u64,
    /// Games that have a score; those that ended by a fault have none.
    pub scored: u64,
    /// One entry a game of the contest.
    pub games: Vec<ScoreSum>,
}

/// A player's scores in one game of the contest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ScoreSum {
    /// The game, as the contest calls it.
    pub game: String,
    /// Whether fewer is better.
    pub fewer_is_better: bool,
    /// Games that were solved.
    pub solved: u64,
    /// Games that have a score.
    pub scored: u64,
    /// The sum of the scores.
    pub total: i64,
    /// The mean score; null without any.
    pub mean: Option<f64>,
}

/// An instance: a start position that all players get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Instance {
    /// The game, as the contest calls it.
    pub game: String,
    /// The number of the instance in its game, from 1.
    pub number: u32,
    /// How many players tried it.
    pub tried: u64,
    /// How many solved it.
    pub solved: u64,
    /// The best score of those who solved it, or of all if no one did; null without a score.
    pub best: Option<i64>,
    /// The players who reached it.
    pub by: Vec<Player>,
}

/// Adds the results to the standings, which are in the order of the contest's list.
pub(super) fn add(contest: &Contest, records: &[&Record], players: &mut [Standing]) {
    let empty: Vec<ScoreSum> = contest
        .games
        .iter()
        .map(|game| ScoreSum {
            game: game.name.clone(),
            fewer_is_better: game.fewer_is_better,
            ..ScoreSum::default()
        })
        .collect();
    let mut sums = vec![empty; players.len()];
    for record in records {
        let sum = &mut sums[record.players[0].index()][record.game];
        sum.solved += u64::from(is_solved(record));
        if let Some(score) = score(record) {
            sum.scored += 1;
            sum.total = sum.total.saturating_add(score);
        }
    }
    for (standing, mut games) in players.iter_mut().zip(sums) {
        for sum in &mut games {
            sum.mean = mean(sum.total, sum.scored);
        }
        standing.puzzle = Some(PuzzleResult {
            solved: games.iter().map(|sum| sum.solved).sum(),
            scored: games.iter().map(|sum| sum.scored).sum(),
            games,
        });
    }
}

/// Returns the instances, by game and then by number.
pub(super) fn instances(contest: &Contest, records: &[&Record]) -> Vec<Instance> {
    let mut attempts: BTreeMap<(usize, u32), Vec<&Record>> = BTreeMap::new();
    for record in records {
        attempts.entry((record.game, record.round)).or_default().push(record);
    }
    let instance = |((game, number), tries): ((usize, u32), Vec<&Record>)| {
        let game = &contest.games[game];
        let solved = tries.iter().filter(|record| is_solved(record)).count();
        let counted = |record: &&&Record| solved == 0 || is_solved(record);
        let scores = tries.iter().filter(counted).filter_map(|record| score(record));
        let best = if game.fewer_is_better { scores.min() } else { scores.max() };
        let reached = |record: &&&Record| best.is_some() && score(record) == best;
        let by = tries.iter().filter(counted).filter(reached).map(|record| record.players[0]);
        let mut by: Vec<Player> = by.collect();
        by.sort_unstable();
        by.dedup();
        let (tried, solved) = (tries.len() as u64, solved as u64);
        Instance { game: game.name.clone(), number, tried, solved, best, by }
    };
    attempts.into_iter().map(instance).collect()
}

fn is_solved(record: &Record) -> bool {
    record.places[0] == 1
}

fn score(record: &Record) -> Option<i64> {
    record.scores.as_ref().and_then(|scores| scores.first().copied())
}

#[expect(clippy::cast_precision_loss, reason = "scores are counts of moves, pegs and the like")]
fn mean(total: i64, count: u64) -> Option<f64> {
    (count > 0).then(|| total as f64 / count as f64)
}

impl PuzzleResult {
    /// Returns the sum of all scores, with signs such that more is better in every game.
    pub(super) fn merit(&self) -> i64 {
        let turned = |sum: &ScoreSum| {
            if sum.fewer_is_better { sum.total.saturating_neg() } else { sum.total }
        };
        self.games.iter().map(turned).fold(0, i64::saturating_add)
    }
}
