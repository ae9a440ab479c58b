//! Counts of pairs by the new agent's score in them, and the strength that follows from them.

use super::{elo_of, real};
use crate::pairing::PairingResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// The score of a pair, by its half-points.
pub(super) const SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// The variance of a pair's score when its two games are independent, even and never drawn.
pub(super) const EVEN_VARIANCE: f64 = 0.125;

/// The number of pairs in which the new agent got 0, 1/2, 1, 3/2 and 2 points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Pentanomial(pub [u64; 5]);

/// How strong the new agent is against the old one. All numbers are finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The difference in Elo (logistic). If the new agent won or lost everything, half a draw is
    /// assumed.
    pub elo: f64,
    /// Half the width of the 95 % interval.
    pub error: f64,
    /// How likely it is, in percent, that the new agent is stronger.
    pub los: f64,
}

impl Pentanomial {
    /// Counts the pairs of ended pairings, whose first player is the new agent. Each block is a
    /// pair.
    pub fn of(results: &[PairingResult]) -> Self {
        let mut pairs = Self::default();
        for block in results.iter().flat_map(|result| &result.block_half_points) {
            pairs.push(block.first().copied().unwrap_or(0));
        }
        pairs
    }

    /// Adds a pair in which the new agent got `half_points`, 0 to 4.
    pub fn push(&mut self, half_points: u32) {
        self.0[(half_points as usize).min(4)] += 1;
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the mean score, 0 to 1; `None` before the first pair.
    pub fn score(&self) -> Option<f64> {
        let half_points: u64 =
            (0..).zip(self.0).map(|(half_points, count): (u64, _)| half_points * count).sum();
        (self.pairs() > 0).then(|| real(half_points) / (4.0 * real(self.pairs())))
    }

    /// Returns the strength that follows from them; `None` before the first pair.
    ///
    /// The interval follows from the spread of the pairs' scores. A pair with the spread of two
    /// even games is added, so that few pairs, or pairs that all ended alike, don't look certain.
    /// If everything was won or lost, the width is that with one draw less: about what the number
    /// of pairs alone implies.
    pub fn estimate(&self) -> Option<Estimate> {
        let score = self.score()?;
        let pairs = real(self.pairs());
        let squares: f64 =
            SCORES.iter().zip(self.0).map(|(of, count)| real(count) * (of - score).powi(2)).sum();
        let deviation = ((squares + EVEN_VARIANCE) / pairs / pairs).sqrt();
        let half_a_draw = 0.125 / pairs;
        let bounded = |least: f64| score.clamp(least, 1.0 - least);
        let at = bounded(2.0 * half_a_draw);
        let slope = 400.0 / std::f64::consts::LN_10 / (at * (1.0 - at));
        let normal = Normal::standard();
        Some(Estimate {
            elo: elo_of(bounded(half_a_draw)),
            error: normal.inverse_cdf(0.975) * deviation * slope,
            los: 100.0 * normal.cdf((score - 0.5) / deviation),
        })
    }

    /// Returns the normalized Elo: the advantage in standard deviations of a game, on the scale on which it
    /// equals Elo for small differences without draws (Van den Bergh, "Normalized Elo", 2021). The number of
    /// games that shows a difference depends on it alone. `None` before the first pair, and if all pairs
    /// ended alike.
    pub fn normalized_elo(&self) -> Option<f64> {
        let score = self.score()?;
        let squares =
            SCORES.iter().zip(self.0).map(|(of, count)| real(count) * (of - score).powi(2));
        let game = (2.0 * squares.sum::<f64>() / real(self.pairs())).sqrt();
        (game > 0.0).then(|| (score - 0.5) / game * 800.0 / std::f64::consts::LN_10)
    }

    /// Returns the share of pairs in which both agents got one point, 0 to 1; `None` before the
    /// first pair.
    pub fn draw_ratio(&self) -> Option<f64> {
        (self.pairs() > 0).then(|| real(self.0[2]) / real(self.pairs()))
    }

    /// Returns the number of pairs that the new agent won per pair that it lost; `None` if it lost
    /// none.
    pub fn pairs_ratio(&self) -> Option<f64> {
        let [lost_both, lost, _, won, won_both] = self.0;
        let lost = lost_both + lost;
        (lost > 0).then(|| real(won + won_both) / real(lost))
    }
}
