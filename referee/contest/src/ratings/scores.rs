//! Ratings from scores, such as chips: by how much players outscore each other, by least squares.
//!
//! In each game, what a seat has above the mean of the seats is taken to be the difference of its player's rating to the
//! mean of the game's players, plus what the seat is worth, plus chance. Chance may be as different as it likes between
//! games, and alike within a block: the variance is that of the blocks (a sandwich estimator, clustered by block).

use super::ScoreRating;
use super::cholesky::{Factor, Symmetric, dot};
use super::games::{RatedGames, Scored};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::{BTreeMap, BTreeSet};

/// What is added to the diagonal, as a share of its mean, so that parts which nothing links are 0 in the mean. Less would be lost
/// in rounding.
const RIDGE: f64 = 1e-5;

/// One seat in one game: what its score depends on, and the score above the mean.
struct Row {
    weights: Vec<(usize, f64)>,
    score: f64,
}

/// Returns the rating of each player; `None` without a game that has scores.
#[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 games and blocks")]
pub(super) fn score_ratings(games: &RatedGames) -> Vec<Option<ScoreRating>> {
    let mut ratings = vec![None; games.field.players];
    let players: BTreeSet<usize> =
        games.scored().flat_map(|game| game.players.iter().map(|player| player.index())).collect();
    let places: BTreeMap<usize, usize> = players.iter().copied().zip(0..).collect();
    let size = places.len() + games.field.seats;
    if places.is_empty() {
        return ratings;
    }
    let mut normal = Symmetric::zero(size);
    let mut right = vec![0.0; size];
    for game in games.scored() {
        for Row { weights, score } in rows(&game, &places) {
            for (index, &(one, weight)) in weights.iter().enumerate() {
                right[one] += weight * score;
                for &(other, next) in &weights[..=index] {
                    normal.add(one, other, weight * next);
                }
            }
        }
    }
    let ridge = RIDGE * normal.diagonal().sum::<f64>() / size as f64;
    for one in 0..size {
        normal.add(one, one, ridge);
    }
    let inverse = Factor::of(&normal).inverse();
    let at = inverse.times(&right);
    let Spread { squares, blocks, blocks_of } = Spread::of(games, &places, &at);
    let parameters = size as f64 - ridge * inverse.diagonal().sum::<f64>();
    for (player, place) in places {
        let mut one = vec![0.0; size];
        one[place] = 1.0;
        let one = inverse.times(&one);
        let free = (blocks - parameters).min(blocks_of[place] - 1.0);
        let variance = dot(&one, &squares.times(&one)) * blocks / (blocks - parameters);
        let error = StudentsT::new(0.0, 1.0, free)
            .map(|student| student.inverse_cdf(0.975) * (variance * games.field.inflation).sqrt())
            .ok()
            .filter(|error| error.is_finite());
        ratings[player] = Some(ScoreRating {
            score: at[place],
            low: error.map(|error| at[place] - error),
            high: error.map(|error| at[place] + error),
        });
    }
    ratings
}

/// What is left of the scores in blocks.
struct Spread {
    /// The sum over blocks of the square of what is left.
    squares: Symmetric,
    /// The number of blocks.
    blocks: f64,
    /// The number of blocks of each player, and of each seat.
    blocks_of: Vec<f64>,
}

impl Spread {
    /// Adds up the blocks. Games of a block follow each other.
    fn of(games: &RatedGames, places: &BTreeMap<usize, usize>, at: &[f64]) -> Self {
        let (squares, blocks_of) = (Symmetric::zero(at.len()), vec![0.0; at.len()]);
        let mut all = Self { squares, blocks: 0.0, blocks_of };
        let mut current: Option<(u64, BTreeMap<usize, f64>)> = None;
        for game in games.scored() {
            if let Some((_, sums)) = current.take_if(|(block, _)| *block != game.block) {
                all.add(&sums);
            }
            let (_, sums) = current.get_or_insert_with(|| (game.block, BTreeMap::new()));
            for Row { weights, score } in rows(&game, places) {
                let expected: f64 = weights.iter().map(|&(one, weight)| weight * at[one]).sum();
                for (one, weight) in weights {
                    *sums.entry(one).or_default() += weight * (score - expected);
                }
            }
        }
        if let Some((_, sums)) = current {
            all.add(&sums);
        }
        all
    }

    /// Adds a block: what is left for each of its players and seats.
    fn add(&mut self, sums: &BTreeMap<usize, f64>) {
        self.blocks += 1.0;
        for (&one, sum) in sums {
            self.blocks_of[one] += 1.0;
            for (&other, next) in sums.range(..=one) {
                self.squares.add(one, other, sum * next);
            }
        }
    }
}

/// Returns what the seats of a game say.
#[expect(clippy::cast_precision_loss, reason = "a game has few seats")]
fn rows(game: &Scored<'_>, places: &BTreeMap<usize, usize>) -> Vec<Row> {
    let seats = game.scores.len();
    let share = 1.0 / seats as f64;
    let mean = game.scores.iter().map(|score| score * share).sum::<f64>();
    let row = |seat: usize| {
        let weight = |other| if other == seat { 1.0 - share } else { -share };
        let players = game.players.iter().enumerate();
        let of_players = players.map(|(other, it)| (places[&it.index()], weight(other)));
        let of_seats = (0..seats).map(|other| (places.len() + other, weight(other)));
        let mut weights: Vec<_> = of_players.chain(of_seats).collect();
        weights.sort_unstable_by_key(|&(one, _)| one);
        Row { weights, score: game.scores[seat] - mean }
    };
    (0..seats).map(row).collect()
}
