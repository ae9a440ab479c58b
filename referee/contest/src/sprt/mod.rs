//! Is one agent better than another? A sequential probability ratio test on pairs of games: two
//! games from one opening with swapped seats, so that what an opening gives to a seat cancels. The
//! pair is what is observed; its two games are not independent of each other. Everything is from
//! the perspective of the first of the two, who is called the new one.
//!
//! Sources: A. Wald, Sequential Analysis (1947), for the bounds; the page "Fishtest mathematics" of
//! the Stockfish documentation and the notes of M. Van den Bergh that it leads to, for the
//! generalised test on pairs; A. B. Owen, Empirical Likelihood (2001), for the likelihoods.

mod pentanomial;
mod likelihood;
mod planning;
mod summary;
pub mod render;
#[cfg(test)]
mod tests;

pub use pentanomial::{Estimate, Pentanomial};
pub use planning::{Expectation, INDEPENDENT_GAMES};
pub use summary::{Summary, TestSummary};

use super::SprtSettings;
use schemars::JsonSchema;
use serde::Serialize;

/// What a test has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The second hypothesis is accepted.
    Better,
    /// The first hypothesis is accepted.
    NotBetter,
    /// Neither; more pairs are needed.
    Open,
}

impl SprtSettings {
    /// The log-likelihood ratios at which the test ends, by Wald: at the first or below with the
    /// first hypothesis, at the second or above with the second.
    pub fn bounds(&self) -> (f64, f64) {
        let lower = (self.beta / (1.0 - self.alpha)).ln();
        let upper = ((1.0 - self.beta) / self.alpha).ln();
        (lower, upper)
    }

    /// What these pairs decide.
    pub fn decision(&self, pairs: &Pentanomial) -> Decision {
        let (lower, upper) = self.bounds();
        let ratio = pairs.llr(self);
        if ratio >= upper {
            Decision::Better
        } else if ratio <= lower {
            Decision::NotBetter
        } else {
            Decision::Open
        }
    }

    /// The expected scores of the two hypotheses, 0 to 1.
    fn expected_scores(&self) -> (f64, f64) {
        (expected_score(self.elo0), expected_score(self.elo1))
    }
}

/// The score, 0 to 1, that so many Elo more than the opponent are worth: 400 are odds of 10 to 1.
fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}

/// The Elo that a score above 0 and below 1 is worth.
fn elo_of(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

/// A count to calculate with.
#[expect(clippy::cast_precision_loss, reason = "nobody plays 2^53 games")]
fn real(count: u64) -> f64 {
    count as f64
}
