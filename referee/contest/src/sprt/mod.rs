//! Whether one agent is stronger than another: a sequential probability ratio test on pairs of
//! games from one opening with swapped seats, so that the advantage of a seat cancels. The pair is
//! the unit of observation, as its two games are not independent. Everything is from the
//! perspective of the first agent, the new one.
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
pub use planning::Expectation;
pub use summary::{Summary, TestSummary};

use super::SprtSettings;
use schemars::JsonSchema;
use serde::Serialize;

/// The state of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// H0 is accepted: the new agent is at most `elo0` Elo stronger, or not as strong as H1 says.
    H0,
    /// H1 is accepted: the new agent is more than `elo0` Elo stronger.
    H1,
    /// Neither is accepted yet.
    Open,
}

impl SprtSettings {
    /// Returns Wald's bounds: at the first log-likelihood ratio or below, H0 is accepted, at the
    /// second or above H1.
    pub fn bounds(&self) -> (f64, f64) {
        let lower = (self.beta / (1.0 - self.alpha)).ln();
        let upper = ((1.0 - self.beta) / self.alpha).ln();
        (lower, upper)
    }

    /// Returns what these pairs decide.
    pub fn decision(&self, pairs: &Pentanomial) -> Decision {
        let (lower, upper) = self.bounds();
        let ratio = pairs.llr(self);
        if ratio >= upper {
            Decision::H1
        } else if ratio <= lower {
            Decision::H0
        } else {
            Decision::Open
        }
    }

    /// Returns the expected scores of the two hypotheses, 0 to 1.
    fn expected_scores(&self) -> (f64, f64) {
        (expected_score(self.elo0), expected_score(self.elo1))
    }
}

/// Returns the expected score, 0 to 1, of a player that is `elo` Elo stronger than its opponent;
/// 400 are odds of 10 to 1.
fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}

/// Returns the Elo difference of a score above 0 and below 1.
fn elo_of(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

/// Converts a count.
#[expect(clippy::cast_precision_loss, reason = "there are never 2^53 games")]
fn real(count: u64) -> f64 {
    count as f64
}
