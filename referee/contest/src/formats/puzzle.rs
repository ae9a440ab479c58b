//! Puzzle: every player plays alone.

use super::{Field, Format, FromContestFile, Pairing, PairingResult};
use crate::Player;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;
use std::ops::RangeInclusive;

/// Every player alone, `rounds` times. In a round all get the same instance. All pairings are known
/// from the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Puzzle {}

impl FromContestFile for Puzzle {
    const HELP: &'static str = "each player plays alone; all get the same instances";
    const SEATS: RangeInclusive<usize> = 1..=1;
    type Table = ();
}

impl Format for Puzzle {
    fn takes_late(&self) -> bool {
        true
    }

    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let count = (field.players as u64).saturating_mul(u64::from(field.rounds));
        count..=count
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn next(&self, field: Field, past: &[PairingResult]) -> Vec<Pairing> {
        if !past.is_empty() {
            return Vec::new();
        }
        (1..=field.rounds)
            .flat_map(|round| {
                Player::all(field.players)
                    .map(move |player| Pairing { round, players: smallvec![player] })
            })
            .collect()
    }
}
