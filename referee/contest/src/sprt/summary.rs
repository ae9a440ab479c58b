//! The results of a comparison so far.

use super::{Decision, Pentanomial};
use crate::pairing::PairingResult;
use crate::{Player, Record, SprtSettings, half_points};
use schemars::JsonSchema;
use serde::Serialize;

/// A comparison so far, from the perspective of the new agent. It counts complete pairs only, up to
/// the first that is missing. All numbers are finite.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// The pairs: two games from one opening, in both seat orders.
    pub pairs: u64,
    /// The number of pairs in which the new agent got 0, 1/2, 1, 3/2 and 2 points.
    pub pentanomial: Pentanomial,
    /// Games that the new agent won.
    pub wins: u64,
    /// Games that were drawn.
    pub draws: u64,
    /// Games that it lost.
    pub losses: u64,
    /// Games that ended by a fault of the new agent, without resignations. They count above, too.
    pub new_faults: u64,
    /// The same for the old agent.
    pub old_faults: u64,
    /// Games that repeat an earlier one with the same seats, and so give no new information.
    pub duplicates: u64,
    /// The new agent's mean score, 0 to 1; null before the first pair, as are the next three.
    pub score: Option<f64>,
    /// The difference in Elo (logistic: 400 points are odds of 10 to 1).
    pub elo: Option<f64>,
    /// Half the width of its 95 % interval.
    pub error: Option<f64>,
    /// The normalized Elo: the advantage in standard deviations of a game, on a similar scale; null if all pairs
    /// ended alike.
    pub normalized_elo: Option<f64>,
    /// How likely it is, in percent, that the new agent is stronger.
    pub los: Option<f64>,
    /// The share of pairs in which both got one point, 0 to 1; null before the first pair.
    pub draw_ratio: Option<f64>,
    /// The number of pairs that the new agent won per pair that it lost; null if it lost none.
    pub pairs_ratio: Option<f64>,
    /// The test; null if there is none.
    pub test: Option<TestSummary>,
}

/// A sequential test so far.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TestSummary {
    /// Its hypotheses and error rates.
    #[serde(flatten)]
    pub settings: SprtSettings,
    /// The log-likelihood ratio: positive if the games favour H1.
    pub llr: f64,
    /// At this ratio or below H0 is accepted.
    pub lower: f64,
    /// At this ratio or above H1 is accepted.
    pub upper: f64,
    /// The decision.
    pub decision: Decision,
    /// After how many pairs it was decided; null while it is open.
    pub decided_after_pairs: Option<u64>,
}

impl Summary {
    /// Summarizes the results of a comparison's pairings ([`crate::Schedule::results`]). The new agent
    /// is the first player. Strength and test follow from the pairings alone; [`Summary::add`] adds
    /// the counts of games.
    pub fn of(sprt: Option<&SprtSettings>, results: &[PairingResult]) -> Self {
        let pairs = Pentanomial::of(results);
        let estimate = pairs.estimate();
        Self {
            pairs: pairs.pairs(),
            pentanomial: pairs,
            score: pairs.score().map(rounded),
            elo: estimate.map(|estimate| rounded(estimate.elo)),
            error: estimate.map(|estimate| rounded(estimate.error)),
            normalized_elo: pairs.normalized_elo().map(rounded),
            los: estimate.map(|estimate| rounded(estimate.los)),
            draw_ratio: pairs.draw_ratio().map(rounded),
            pairs_ratio: pairs.pairs_ratio().map(rounded),
            test: sprt.map(|settings| TestSummary::of(settings, &pairs)),
            ..Self::default()
        }
    }

    /// Adds a game; the order makes no difference. Games of pairings that haven't ended are left out.
    /// `repeats` says whether it repeats an earlier game.
    pub fn add(&mut self, record: &Record, repeats: bool) {
        if record.block < self.pairs {
            self.count(record);
            self.duplicates += u64::from(repeats);
        }
    }

    fn count(&mut self, record: &Record) {
        for ((player, seat), worth) in
            record.players.iter().zip(&record.seats).zip(half_points(&record.places))
        {
            let fault = u64::from(seat.own_fault().is_some());
            if *player != Player(0) {
                self.old_faults += fault;
                continue;
            }
            self.new_faults += fault;
            match worth {
                0 => self.losses += 1,
                1 => self.draws += 1,
                _ => self.wins += 1,
            }
        }
    }
}

impl TestSummary {
    fn of(settings: &SprtSettings, pairs: &Pentanomial) -> Self {
        let (lower, upper) = settings.bounds();
        let decision = settings.decision(pairs);
        Self {
            settings: *settings,
            llr: rounded(pairs.llr(settings)),
            lower: rounded(lower),
            upper: rounded(upper),
            decision,
            decided_after_pairs: (decision != Decision::Open).then(|| pairs.pairs()),
        }
    }
}

/// Rounds to six decimals: machines differ in the last digits of a logarithm, but reports must not.
/// Never returns minus zero.
fn rounded(figure: f64) -> f64 {
    (figure * 1e6).round() / 1e6 + 0.0
}
