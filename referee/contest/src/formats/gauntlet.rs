//! Some players meet all others, who don't meet each other.

use super::balance::balance_seats;
use super::{Field, Format, Met, Pairing, groups};
use crate::Player;
use std::ops::RangeInclusive;

/// Each of the first players, the challengers, meets every group of others that fills the table,
/// `rounds` times. Challengers don't meet each other. Everything is given at once.
#[derive(Debug)]
pub(super) struct Gauntlet {
    field: Field,
    challengers: usize,
}

impl Gauntlet {
    pub(super) fn new(field: Field, challengers: u32) -> Self {
        Self { field, challengers: field.players.min(challengers as usize) }
    }

    fn others(&self) -> usize {
        self.field.players - self.challengers
    }
}

impl Format for Gauntlet {
    fn size(&self) -> RangeInclusive<u64> {
        let tables = groups::count(self.others(), self.field.seats.saturating_sub(1));
        let count = tables
            .saturating_mul(self.challengers as u64)
            .saturating_mul(u64::from(self.field.rounds));
        count..=count
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn next(&self, past: &[Met]) -> Vec<Pairing> {
        let Field { players, seats, rounds, .. } = self.field;
        if !past.is_empty() {
            return Vec::new();
        }
        let tables = groups::groups(self.others(), seats.saturating_sub(1));
        let mut pairings = Vec::new();
        for round in 1..=rounds {
            for step in 0..tables.len() {
                for (turn, challenger) in Player::all(self.challengers).enumerate() {
                    // Challengers begin as far from each other as they can, so that nobody waits.
                    let begins = turn * tables.len() / self.challengers;
                    let table = (step + begins) % tables.len();
                    let others = tables[table].iter().map(|other| other.index() + self.challengers);
                    let met = std::iter::once(challenger).chain(others.map(groups::player));
                    let mut players: Vec<Player> = met.collect();
                    // Every other opponent of a player is first: that balances two seats, and
                    // more than two nearly.
                    let turned = (round as usize - 1 + turn + table) % players.len();
                    players.rotate_left(turned);
                    pairings.push(Pairing { round, players });
                }
            }
        }
        if seats > 2 {
            balance_seats(&mut pairings, players, seats);
        }
        pairings
    }
}
