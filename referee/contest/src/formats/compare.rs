//! Two players, until it is decided whether the first is better.

use super::{Field, Format, Met, Pairing};
use crate::sprt::{Decision, Pentanomial};
use crate::{Player, SprtSettings};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The same two, `rounds` times at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compare {
    /// The test; none: all rounds are played.
    pub sprt: Option<SprtSettings>,
}

impl Format for Compare {
    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let most = u64::from(field.rounds);
        let least = if self.sprt.is_some() { most.min(1) } else { most };
        least..=most
    }

    fn next(&self, field: Field, past: &[Met]) -> Vec<Pairing> {
        if !past.is_empty() {
            return Vec::new();
        }
        let players: Vec<Player> = Player::all(2).collect();
        (1..=field.rounds).map(|round| Pairing { round, players: players.clone() }).collect()
    }

    /// Only the whole of `past` is looked at: every shorter beginning was asked about before, and
    /// decided nothing.
    fn decided(&self, past: &[Met]) -> Option<usize> {
        let decision = self.sprt?.decision(&Pentanomial::of(past));
        (decision != Decision::Open).then_some(past.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Compare;
    use crate::formats::{Field, Format, Met, Pairing};
    use crate::{Player, SprtSettings};

    const SPRT: SprtSettings = SprtSettings { elo0: 0.0, elo1: 100.0, alpha: 0.05, beta: 0.05 };

    fn field(rounds: u32) -> Field {
        Field { players: 2, seats: 2, rounds, seed: 1 }
    }

    /// What comes of the pairings when the first player gets so many halves in each block.
    fn met(pairings: &[Pairing], blocks: &[u32]) -> Vec<Met> {
        let met = |pairing: &Pairing| {
            let blocks: Vec<Vec<u32>> = blocks.iter().map(|&new| vec![new, 4 - new]).collect();
            let halves = (0..2).map(|player| blocks.iter().map(|block| block[player]).sum());
            Met { pairing: pairing.clone(), halves: halves.collect(), blocks: blocks.clone() }
        };
        pairings.iter().map(met).collect()
    }

    #[test]
    fn all_pairings_come_at_once() {
        let (format, field) = (Compare { sprt: Some(SPRT) }, field(3));
        let pairings = format.next(field, &[]);
        let players: Vec<Player> = Player::all(2).collect();
        let expected = |round| Pairing { round, players: players.clone() };
        assert_eq!(pairings, [expected(1), expected(2), expected(3)]);
        assert_eq!(format.size(field), 1..=3);
        assert_eq!(Compare { sprt: None }.size(field), 3..=3);
        assert_eq!(format.next(field, &met(&pairings, &[2])), []);
        assert_eq!(format.ranking(field, &met(&pairings, &[2])), None);
    }

    #[test]
    fn it_ends_when_the_test_does() {
        for (sprt, most, blocks, decided) in [
            (Some(SPRT), 100, &[4][..], Some(12)),
            (Some(SPRT), 100, &[0], Some(9)),
            // Two games of the contest are two pairs in a pairing.
            (Some(SPRT), 100, &[4, 4], Some(6)),
            (Some(SPRT), 5, &[4], None),
            (None, 100, &[4], None),
        ] {
            let format = Compare { sprt };
            let met = met(&format.next(field(most), &[]), blocks);
            let found = (0..=met.len()).find_map(|ended| format.decided(&met[..ended]));
            assert_eq!(found, decided, "{sprt:?}, {most} pairings, {blocks:?}");
        }
    }
}
