//! The generalized log-likelihood ratio: how much better the pairs fit one expected score than
//! another, without other assumptions on how pairs end.

use super::pentanomial::SCORES;
use super::{Pentanomial, real};
use crate::SprtSettings;

/// The weight of a count of 0: without it, pairs that all ended alike would rule out every other
/// result. The value is that of fishtest, so that numbers can be compared.
const NOTHING: f64 = 1e-3;

/// Factor that keeps the root search off the poles.
const INSIDE: f64 = 1.0 - 1e-15;

/// The most steps of the root search; a few are enough except for scores at the very edge.
const STEPS: usize = 100;

impl Pentanomial {
    /// Returns the generalized log-likelihood ratio of the second hypothesis against the first:
    /// positive if the pairs favour the second. Always finite; 0 before the first pair.
    pub fn llr(&self, settings: &SprtSettings) -> f64 {
        if self.pairs() == 0 {
            return 0.0;
        }
        let weight = |half_points: usize| match self.0[half_points] {
            0 => NOTHING,
            count => real(count),
        };
        let outcomes =
            [0, 1, 2, 3, 4].map(|half_points| (SCORES[half_points], weight(half_points)));
        let (score0, score1) = settings.expected_scores();
        shortfall(&outcomes, score0) - shortfall(&outcomes, score1)
    }
}

/// Returns by how much the log-likelihood of the best distribution with this mean is below that of
/// the best one with any mean. An outcome is a score with its weight.
///
/// Among all distributions with mean s, the likeliest gives the outcome of score a, which has the
/// share q, the chance q / (1 + t (a - s)), with the t that makes the mean come out: the one that
/// maximises the sum of q ln(1 + t (a - s)), which is the shortfall. An error in t therefore
/// matters only by its square.
fn shortfall(outcomes: &[(f64, f64); 5], mean: f64) -> f64 {
    let multiplier = multiplier(outcomes, mean);
    let part = |(score, weight): &(f64, f64)| weight * (multiplier * (score - mean)).ln_1p();
    outcomes.iter().map(part).sum()
}

/// The root of the sum of w (a - s) / (1 + t (a - s)), which falls in t and runs from plus to minus
/// infinity between the two ends: by Newton's method, and by halving where that leaves the bracket.
/// The error that is left is about the square of the last step.
fn multiplier(outcomes: &[(f64, f64); 5], mean: f64) -> f64 {
    // Just inside of the two ends.
    let (mut low, mut high) = (INSIDE / (mean - 1.0), INSIDE / mean);
    let mut at = 0.0;
    for _ in 0..STEPS {
        let (mut value, mut fall) = (0.0, 0.0);
        for &(score, weight) in outcomes {
            let part = (score - mean) / (1.0 + at * (score - mean));
            value += weight * part;
            fall += weight * part * part;
        }
        if value > 0.0 {
            low = at;
        } else {
            high = at;
        }
        let newton = at + value / fall;
        let inside = (low..=high).contains(&newton);
        let next = if inside { newton } else { f64::midpoint(low, high) };
        let step = (next - at).abs();
        at = next;
        if step < 1e-6 * (1.0 + at.abs()) {
            break;
        }
    }
    at
}
