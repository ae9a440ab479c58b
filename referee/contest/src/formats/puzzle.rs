//! Everybody plays alone.

use super::{Field, Format, Met, Pairing};
use crate::Player;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Every player alone, `rounds` times: in a round all get the same instance. Everything is given at
/// once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Puzzle {}

impl Format for Puzzle {
    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let count = (field.players as u64).saturating_mul(u64::from(field.rounds));
        count..=count
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn next(&self, field: Field, past: &[Met]) -> Vec<Pairing> {
        if !past.is_empty() {
            return Vec::new();
        }
        (1..=field.rounds)
            .flat_map(|round| {
                Player::all(field.players)
                    .map(move |player| Pairing { round, players: vec![player] })
            })
            .collect()
    }
}
