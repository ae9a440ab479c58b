//! What is known of strengths while a contest runs: the same fit, without what only reports need.

use super::climb::climb_nearby;
use super::evidence::{Evidence, Finish, SEATS_MAX};
use super::fit::PRIOR;
use super::likelihood::Model;

/// A strength in logits, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Strength {
    /// The most likely one; 0 is the average.
    pub(crate) mean: f64,
    /// Its standard deviation, as if everybody else's strength were known.
    pub(crate) deviation: f64,
}

impl Strength {
    /// Before the first game: what the prior says.
    fn unknown() -> Self {
        Self { mean: 0.0, deviation: (PRIOR / 2.0).sqrt().recip() }
    }
}

/// The strength of each of so many players by all games at once. Seats are worth nothing here.
/// The information's factor, whose making takes the cube of the number of players, is not needed.
pub(crate) fn strengths<'a>(
    players: usize,
    seats: usize,
    games: impl IntoIterator<Item = Finish<'a>>,
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
    let at = climb_nearby(&model, &evidence.counts, start, |slope| {
        for (slope, rough) in slope.iter_mut().zip(&rough) {
            *slope /= rough;
        }
    });
    let information = own(&at);
    for ((player, mean), information) in evidence.rated.iter().zip(at).zip(information) {
        // Far from all others hardly a game tells anything; no game tells less.
        let deviation = information.sqrt().recip().min(Strength::unknown().deviation);
        strengths[player.index()] = Strength { mean, deviation };
    }
    strengths
}
