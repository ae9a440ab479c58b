//! Everybody plays alone.

use super::{Field, Format, Met, Pairing};
use crate::Player;
use std::ops::RangeInclusive;

/// Every player alone, `rounds` times: in a round all get the same instance. Everything is given at
/// once.
#[derive(Debug)]
pub(super) struct Puzzle {
    field: Field,
}

impl Puzzle {
    pub(super) fn new(field: Field) -> Self {
        Self { field }
    }
}

impl Format for Puzzle {
    fn size(&self) -> RangeInclusive<u64> {
        let count = (self.field.players as u64).saturating_mul(u64::from(self.field.rounds));
        count..=count
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn next(&self, past: &[Met]) -> Vec<Pairing> {
        if !past.is_empty() {
            return Vec::new();
        }
        (1..=self.field.rounds)
            .flat_map(|round| {
                Player::all(self.field.players)
                    .map(move |player| Pairing { round, players: vec![player] })
            })
            .collect()
    }
}
