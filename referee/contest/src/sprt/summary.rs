//! What a comparison has found so far, for people and for programs.

use super::{Decision, Pentanomial};
use crate::formats::Met;
use crate::{Player, Record, SprtSettings, halves};
use referee_protocol::FaultKind;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// A comparison so far, from the perspective of the new agent. It counts whole pairs alone, and
/// those only up to the first that is still missing. All figures are finite.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// The pairs: two games from one opening, in both seat orders.
    pub pairs: u64,
    /// How many pairs gave the new agent 0, 1/2, 1, 3/2 and 2 points.
    pub pentanomial: Pentanomial,
    /// Games that the new agent won.
    pub wins: u64,
    /// Games that were drawn.
    pub draws: u64,
    /// Games that it lost.
    pub losses: u64,
    /// Games that a fault of the new agent ended, resignations apart. They are counted above as
    /// what they are.
    pub new_faults: u64,
    /// The same of the old agent.
    pub old_faults: u64,
    /// Games that were the same game as an earlier one with the same seats, and so tell nothing
    /// new.
    pub duplicates: u64,
    /// The new agent's mean score, 0 to 1; null before the first pair, as are the next three.
    pub score: Option<f64>,
    /// The difference in Elo (logistic: 400 points are odds of 10 to 1).
    pub elo: Option<f64>,
    /// Half the width of its 95 % interval.
    pub error: Option<f64>,
    /// How likely it is, in percent, that the new agent is better at all.
    pub los: Option<f64>,
    /// The share of pairs in which both got one point, 0 to 1; null before the first pair.
    pub draw_ratio: Option<f64>,
    /// The pairs that the new agent won for each that it lost; null while it has lost none.
    pub pairs_ratio: Option<f64>,
    /// The test; null where none was asked for.
    pub test: Option<TestSummary>,
}

/// A sequential test so far.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TestSummary {
    /// The first hypothesis, in Elo.
    pub elo0: f64,
    /// The second.
    pub elo1: f64,
    /// How often the second may be accepted although the first is true.
    pub alpha: f64,
    /// How often the first may be accepted although the second is true.
    pub beta: f64,
    /// The log-likelihood ratio: positive where the games speak for the second hypothesis.
    pub llr: f64,
    /// At this ratio or below the first hypothesis is accepted.
    pub lower: f64,
    /// At this ratio or above the second is accepted.
    pub upper: f64,
    /// What was found.
    pub decision: Decision,
    /// After how many pairs it was found; null while it is open.
    pub decided_after_pairs: Option<u64>,
}

impl Summary {
    /// What a comparison's pairings ([`crate::Schedule::met`]) and its games come to. The
    /// new agent is the first player. Games that belong to no ended pairing are left out; the order
    /// of the records changes nothing. Strength and test come from the pairings alone, so that a
    /// line that is shown while games are played needs no records.
    pub fn of(sprt: Option<&SprtSettings>, met: &[Met], records: &[Record]) -> Self {
        let pairs = Pentanomial::of(met);
        let estimate = pairs.estimate();
        let mut summary = Self {
            pairs: pairs.pairs(),
            pentanomial: pairs,
            score: pairs.score().map(rounded),
            elo: estimate.map(|estimate| rounded(estimate.elo)),
            error: estimate.map(|estimate| rounded(estimate.error)),
            los: estimate.map(|estimate| rounded(estimate.los)),
            draw_ratio: pairs.draw_ratio().map(rounded),
            pairs_ratio: pairs.pairs_ratio().map(rounded),
            test: sprt.map(|settings| TestSummary::of(settings, &pairs)),
            ..Self::default()
        };
        let mut seen = BTreeSet::new();
        for record in records.iter().filter(|record| record.block < pairs.pairs()) {
            summary.count(record);
            if !seen.insert((record.players.as_slice(), record.moves.as_str())) {
                summary.duplicates += 1;
            }
        }
        summary
    }

    fn count(&mut self, record: &Record) {
        for ((player, seat), worth) in
            record.players.iter().zip(&record.seats).zip(halves(&record.places))
        {
            let fault = u64::from(seat.fault.is_some_and(|fault| fault != FaultKind::Resigned));
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
            elo0: settings.elo0,
            elo1: settings.elo1,
            alpha: settings.alpha,
            beta: settings.beta,
            llr: rounded(pairs.llr(settings)),
            lower: rounded(lower),
            upper: rounded(upper),
            decision,
            decided_after_pairs: (decision != Decision::Open).then(|| pairs.pairs()),
        }
    }
}

/// To six digits after the point: machines differ in the last digits of a logarithm, and reports
/// shall not. Never minus zero.
fn rounded(figure: f64) -> f64 {
    (figure * 1e6).round() / 1e6 + 0.0
}
