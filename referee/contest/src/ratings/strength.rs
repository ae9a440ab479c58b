//! Strengths while a contest runs: the same fit, without what only reports need.

use super::evidence::Evidence;
use super::games::{Finish, SEATS_MAX};
use super::likelihood::Model;
use super::optimizer::optimize_with_factor;

/// How many games won, and as many lost, the prior adds for every player: more than in ratings, since
/// few games must be enough to choose the next ones.
const PRIOR: f64 = 1.0;

/// An estimated strength, in logits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Strength {
    /// The most likely value; 0 is the average.
    pub(crate) mean: f64,
    /// Its standard deviation, as if all other strengths were known.
    pub(crate) deviation: f64,
}

impl Strength {
    /// The strength before the first game, from the prior.
    fn unknown() -> Self {
        Self { mean: 0.0, deviation: (PRIOR / 2.0).sqrt().recip() }
    }
}

/// Returns the strengths of `players` players from all games together, without terms for seats. It
/// needs no factor of the information matrix, which would take the cube of the number of players.
pub(crate) fn strengths<'a>(
    players: usize,
    seats: usize,
    games: impl Iterator<Item = Finish<'a>>,
) -> Vec<Strength> {
    let mut strengths = vec![Strength::unknown(); players];
    if !(2..=SEATS_MAX).contains(&seats) {
        return strengths;
    }
    let evidence = Evidence::of(seats, games);
    let model = Model { evidence: &evidence, prior: PRIOR, seat_terms: false };
    let start = vec![0.0; model.size()];
    let own =
        |at: &[f64]| -> Vec<f64> { model.information(&evidence.counts, at).diagonal().collect() };
    let rough = own(&start);
    let at = optimize_with_factor(&model, &evidence.counts, start, |slope| {
        for (slope, rough) in slope.iter_mut().zip(&rough) {
            *slope /= rough;
        }
    });
    let information = own(&at);
    for ((player, mean), information) in evidence.rated.iter().zip(at).zip(information) {
        // Far from all others a game gives hardly any information, but never less than none.
        let deviation = information.sqrt().recip().min(Strength::unknown().deviation);
        strengths[player.index()] = Strength { mean, deviation };
    }
    strengths
}
