//! What to expect of a test before it begins.

use super::expected_score;
use super::pentanomial::EVEN_VARIANCE;
use crate::SprtSettings;

/// The variance of a pair's score when its games are independent, even and never drawn. Draws, and
/// openings that favour a seat, make it less and the test shorter.
pub const INDEPENDENT_GAMES: f64 = EVEN_VARIANCE;

/// What a test is expected to do. Wald's approximation: what the last pair adds beyond the bound is
/// left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// The mean number of pairs until it is decided.
    pub pairs: f64,
    /// How likely it is that the second hypothesis is accepted, 0 to 1.
    pub better: f64,
}

impl Expectation {
    /// Of a test with a new agent that is really so many Elo better; the variance of a pair's score
    /// is a guess, such as [`INDEPENDENT_GAMES`].
    ///
    /// The log-likelihood ratio is taken for a Brownian motion between the bounds.
    pub fn of(settings: &SprtSettings, elo: f64, variance: f64) -> Self {
        let (lower, upper) = settings.bounds();
        let (score0, score1) = settings.expected_scores();
        let width = score1 - score0;
        // Twice the drift in units of the spread: -1 where the first hypothesis is exactly true, 1
        // where the second is.
        let pull = (2.0 * expected_score(elo) - score0 - score1) / width;
        let spread = width * width / variance;
        if pull.abs() < 1e-6 {
            return Self { pairs: -lower * upper / spread, better: -lower / (upper - lower) };
        }
        // Beyond 20 nothing changes but the size of the numbers.
        let at = |bound: f64| (-pull.clamp(-20.0, 20.0) * bound).exp();
        let better = (1.0 - at(lower)) / (at(upper) - at(lower));
        let reached = better * upper + (1.0 - better) * lower;
        Self { pairs: reached / (pull * spread / 2.0), better }
    }
}
