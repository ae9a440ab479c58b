//! The ties of a knockout: who met whom, how it went, and who went on.

use crate::formats::{Met, REPLAYS};
use crate::{Contest, FormatSettings, Player};
use schemars::JsonSchema;
use serde::Serialize;

/// Two players of a knockout, of whom one goes on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tie {
    /// The round, from 1.
    pub round: u32,
    /// Who goes on, and who does not.
    pub players: [Player; 2],
    /// Their points in all games of the tie.
    pub points: [f64; 2],
    /// How many pairings were played; more than the contest's rounds where it was level.
    pub pairings: u32,
    /// It stayed level, and the higher seed went on.
    pub by_seed: bool,
}

/// The ties that have ended, in order; none but in knockouts.
pub fn ties(contest: &Contest, past: &[Met]) -> Vec<Tie> {
    use FormatSettings::{DoubleKnockout, Knockout};
    if !matches!(contest.format, Knockout(_) | DoubleKnockout(_)) {
        return Vec::new();
    }
    let mut sums: Vec<Sum> = Vec::new();
    for met in past {
        let Some(sum) = Sum::of(met) else { continue };
        // Pairings of one round between the same two are one tie.
        let same = |other: &&mut Sum| (other.round, other.players) == (sum.round, sum.players);
        match sums.iter_mut().rfind(same) {
            Some(before) => {
                before.halves =
                    [before.halves[0] + sum.halves[0], before.halves[1] + sum.halves[1]];
                before.pairings += 1;
            }
            None => sums.push(sum),
        }
    }
    sums.into_iter().filter(|sum| sum.has_ended(contest.rounds)).map(Sum::tie).collect()
}

/// What two have played so far; the higher seed first.
struct Sum {
    round: u32,
    players: [Player; 2],
    halves: [u32; 2],
    pairings: u32,
}

impl Sum {
    fn of(met: &Met) -> Option<Self> {
        let players: [Player; 2] = met.pairing.players.as_slice().try_into().ok()?;
        let halves: [u32; 2] = met.halves.as_slice().try_into().ok()?;
        let turned = players[0] > players[1];
        let turn = |pair: [u32; 2]| if turned { [pair[1], pair[0]] } else { pair };
        let players = if turned { [players[1], players[0]] } else { players };
        Some(Self { round: met.pairing.round, players, halves: turn(halves), pairings: 1 })
    }

    fn has_ended(&self, rounds: u32) -> bool {
        let level = self.halves[0] == self.halves[1];
        self.pairings >= if level { rounds + REPLAYS } else { rounds }
    }

    fn tie(self) -> Tie {
        let Self { round, players, halves, pairings } = self;
        let points = halves.map(|halves| f64::from(halves) / 2.0);
        let by_seed = halves[0] == halves[1];
        let first = usize::from(halves[1] > halves[0]);
        let pick = |index: usize| (players[index], points[index]);
        let ((winner, won), (loser, lost)) = (pick(first), pick(1 - first));
        Tie { round, players: [winner, loser], points: [won, lost], pairings, by_seed }
    }
}
