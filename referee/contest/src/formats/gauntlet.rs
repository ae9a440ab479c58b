//! Some players meet all others, who don't meet each other.

use super::balance::balance_seats;
use super::{Field, Format, Met, Pairing, groups};
use crate::Player;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Each of the first players, the challengers, meets every group of others that fills the table,
/// `rounds` times. Challengers don't meet each other. Everything is given at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gauntlet {
    /// The first so many players are those who meet everybody else.
    pub challengers: u32,
}

impl Gauntlet {
    /// How many challengers there are, and how many others.
    fn sides(self, field: Field) -> (usize, usize) {
        let challengers = field.players.min(self.challengers as usize);
        (challengers, field.players - challengers)
    }
}

impl Format for Gauntlet {
    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let (challengers, others) = self.sides(field);
        let tables = groups::count(others, field.seats.saturating_sub(1));
        let count =
            tables.saturating_mul(challengers as u64).saturating_mul(u64::from(field.rounds));
        count..=count
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn next(&self, field: Field, past: &[Met]) -> Vec<Pairing> {
        let Field { players, seats, rounds, .. } = field;
        let (challengers, others) = self.sides(field);
        if !past.is_empty() {
            return Vec::new();
        }
        let tables = groups::groups(others, seats.saturating_sub(1));
        let mut pairings = Vec::new();
        for round in 1..=rounds {
            for step in 0..tables.len() {
                for (turn, challenger) in Player::all(challengers).enumerate() {
                    // Challengers begin as far from each other as they can, so that nobody waits.
                    let begins = turn * tables.len() / challengers;
                    let table = (step + begins) % tables.len();
                    let others = tables[table].iter().map(|other| other.index() + challengers);
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
