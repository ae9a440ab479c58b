//! What to expect of a test.

use super::expected_score;
use crate::SprtSettings;

/// The expected course of a test, by Wald's approximation, which ignores by how much the last pair
/// exceeds the bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// The mean number of pairs until the test ends.
    pub pairs: f64,
    /// How likely it is that the second hypothesis is accepted, 0 to 1.
    pub better: f64,
}

impl Expectation {
    /// Returns the expectation for a new agent that is `elo` Elo stronger. The variance of a pair's
    /// score is a guess: that of even games without draws, or less, since draws and openings that favour a seat reduce
    /// it.
    ///
    /// The log-likelihood ratio is modelled as a Brownian motion between the bounds.
    pub fn of(settings: &SprtSettings, elo: f64, variance: f64) -> Self {
        let (lower, upper) = settings.bounds();
        let (score0, score1) = settings.expected_scores();
        let width = score1 - score0;
        // Twice the drift in units of the spread: -1 if the first hypothesis is exactly true, 1 if
        // the second is.
        let pull = (2.0 * expected_score(elo) - score0 - score1) / width;
        let spread = width * width / variance;
        if pull.abs() < 1e-6 {
            return Self { pairs: -lower * upper / spread, better: -lower / (upper - lower) };
        }
        // Beyond 20 only the size of the numbers changes.
        let at = |bound: f64| (-pull.clamp(-20.0, 20.0) * bound).exp();
        let better = (1.0 - at(lower)) / (at(upper) - at(lower));
        let reached = better * upper + (1.0 - better) * lower;
        Self { pairs: reached / (pull * spread / 2.0), better }
    }
}
