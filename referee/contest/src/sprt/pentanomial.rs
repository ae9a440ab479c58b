//! Counts of pairs by what the new agent scored in them, and what they say about its strength.

use super::{elo_of, real};
use crate::formats::Met;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// What a pair is worth, by its halves.
pub(super) const SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// The variance of a pair's score when its two games are independent, even and never drawn.
pub(super) const EVEN_VARIANCE: f64 = 0.125;

/// How many pairs gave the new agent 0, 1/2, 1, 3/2 and 2 points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Pentanomial(pub [u64; 5]);

/// How strong the new agent is against the old one. All figures are finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The difference in Elo (logistic). A new agent that won or lost everything counts as if it
    /// had given or got half a draw.
    pub elo: f64,
    /// Half the width of the 95 % interval.
    pub error: f64,
    /// How likely it is, in percent, that the new agent is better at all.
    pub los: f64,
}

impl Pentanomial {
    /// The pairs of some ended pairings, of which the new agent is the first player: each block is
    /// one.
    pub fn of(met: &[Met]) -> Self {
        let mut pairs = Self::default();
        for block in met.iter().flat_map(|met| &met.blocks) {
            pairs.push(block.first().copied().unwrap_or(0));
        }
        pairs
    }

    /// Counts a pair that gave the new agent so many halves, 0 to 4; there is no more than 4 in two
    /// games.
    pub fn push(&mut self, halves: u32) {
        self.0[(halves as usize).min(4)] += 1;
    }

    /// How many pairs there are.
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The mean score, 0 to 1; none before the first pair.
    pub fn score(&self) -> Option<f64> {
        let halves: u64 = (0..).zip(self.0).map(|(halves, count): (u64, _)| halves * count).sum();
        (self.pairs() > 0).then(|| real(halves) / (4.0 * real(self.pairs())))
    }

    /// The strength that they show; none before the first pair.
    ///
    /// The interval comes from the spread of the pairs' scores. One more pair with the spread of
    /// two even games goes into it, so that few pairs, or pairs that all ended alike, don't pass
    /// for certainty. Where everything was won or lost, its width is that of one draw less: about
    /// what is known then from the number of pairs alone.
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

    /// The share of pairs in which both agents got one point, 0 to 1; none before the first pair.
    pub fn draw_ratio(&self) -> Option<f64> {
        (self.pairs() > 0).then(|| real(self.0[2]) / real(self.pairs()))
    }

    /// The pairs that the new agent won for each that it lost; none while it has lost none.
    pub fn pairs_ratio(&self) -> Option<f64> {
        let [lost_both, lost, _, won, won_both] = self.0;
        let lost = lost_both + lost;
        (lost > 0).then(|| real(won + won_both) / real(lost))
    }
}
