//! Contests with one seat: what each player solved, and how well.

use super::Standing;
use crate::{Contest, ContestGame, Player, Record};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

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

/// The sums of a contest with one seat.
#[derive(Debug)]
pub(super) struct Sums<'a> {
    contest: &'a Contest,
    /// By player, then by game.
    scores: Vec<Vec<ScoreSum>>,
    /// By game, then by number.
    attempts: BTreeMap<(usize, u32), Attempts>,
}

/// The attempts at an instance.
#[derive(Debug, Default)]
struct Attempts {
    tried: u64,
    solved: u64,
    /// The best score of those who solved it, and of those who did not.
    best: [Option<Best>; 2],
}

/// A score, and who reached it.
#[derive(Debug)]
struct Best {
    score: i64,
    by: BTreeSet<Player>,
}

impl<'a> Sums<'a> {
    pub(super) fn new(contest: &'a Contest) -> Self {
        let empty = contest.games.iter().map(|game| ScoreSum {
            game: game.name.clone(),
            fewer_is_better: game.fewer_is_better,
            ..ScoreSum::default()
        });
        let empty: Vec<ScoreSum> = empty.collect();
        Self { contest, scores: vec![empty; contest.players.len()], attempts: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, record: &Record) {
        let (player, solved) = (record.players[0], is_solved(record));
        let sum = &mut self.scores[player.index()][record.game];
        let attempts = self.attempts.entry((record.game, record.round)).or_default();
        sum.solved += u64::from(solved);
        attempts.solved += u64::from(solved);
        attempts.tried += 1;
        if let Some(score) = score(record) {
            sum.scored += 1;
            sum.total = sum.total.saturating_add(score);
            let fewer_is_better = self.contest.games[record.game].fewer_is_better;
            Best::add(&mut attempts.best[usize::from(!solved)], score, player, fewer_is_better);
        }
    }

    /// Adds the results to the standings, which are in the order of the contest's list; returns the
    /// instances.
    pub(super) fn finish(self, players: &mut [Standing]) -> Vec<Instance> {
        for (standing, mut games) in players.iter_mut().zip(self.scores) {
            for sum in &mut games {
                sum.mean = mean(sum.total, sum.scored);
            }
            standing.puzzle = Some(PuzzleResult {
                solved: games.iter().map(|sum| sum.solved).sum(),
                scored: games.iter().map(|sum| sum.scored).sum(),
                games,
            });
        }
        let instance = |((game, number), Attempts { tried, solved, best })| {
            let game: &ContestGame = &self.contest.games[game];
            let [of_solved, of_others] = best;
            let best = if solved > 0 { of_solved } else { of_others };
            let (best, by) = best.map_or((None, BTreeSet::new()), |it| (Some(it.score), it.by));
            let by = by.into_iter().collect();
            Instance { game: game.name.clone(), number, tried, solved, best, by }
        };
        self.attempts.into_iter().map(instance).collect()
    }
}

impl Best {
    fn add(best: &mut Option<Self>, score: i64, player: Player, fewer_is_better: bool) {
        let is_better = |than: &Self| {
            if fewer_is_better { score < than.score } else { score > than.score }
        };
        match best {
            Some(best) if best.score == score => {
                best.by.insert(player);
            }
            Some(best) if !is_better(best) => {}
            _ => *best = Some(Self { score, by: BTreeSet::from([player]) }),
        }
    }
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
