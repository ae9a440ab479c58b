//! Everybody meets everybody.

use super::balance::balance_seats;
use super::{Field, Format, Met, Pairing, groups, triples};
use crate::Player;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// All groups of as many players as there are seats, or a balanced choice of triples; `rounds`
/// times. Everything is given at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundRobin {
    /// With three seats: a balanced choice of triples instead of all, so many a player and round.
    pub triples_per_player: Option<u32>,
}

impl RoundRobin {
    fn triples(self, field: Field) -> Option<u32> {
        self.triples_per_player.filter(|_| field.seats == 3)
    }

    fn pairs(field: Field) -> Vec<Pairing> {
        let turned = |round: u32, [one, other]: [Player; 2]| {
            if round % 2 == 1 { vec![one, other] } else { vec![other, one] }
        };
        (1..=field.rounds)
            .flat_map(|round| {
                groups::pairs(field.players)
                    .map(move |pair| Pairing { round, players: turned(round, pair) })
            })
            .collect()
    }

    fn groups(self, field: Field) -> Vec<Pairing> {
        let Field { players, seats, rounds, seed } = field;
        let lists = match self.triples(field) {
            Some(each) => triples::choice(players, each, rounds, seed),
            None => vec![groups::groups(players, seats); rounds as usize],
        };
        let mut pairings: Vec<Pairing> = (1..)
            .zip(lists)
            .flat_map(|(round, list)| {
                list.into_iter().map(move |players| Pairing { round, players })
            })
            .collect();
        balance_seats(&mut pairings, players, seats);
        pairings
    }
}

impl Format for RoundRobin {
    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let Field { players, seats, rounds, .. } = field;
        let in_a_round = match self.triples(field) {
            Some(_) if players < seats => 0,
            Some(each) => (players as u64).saturating_mul(u64::from(each)).div_ceil(3),
            None => groups::count(players, seats),
        };
        let count = in_a_round.saturating_mul(u64::from(rounds));
        count..=count
    }

    fn is_fixed(&self) -> bool {
        true
    }

    fn next(&self, field: Field, past: &[Met]) -> Vec<Pairing> {
        match field.seats {
            _ if !past.is_empty() => Vec::new(),
            2 => Self::pairs(field),
            _ => self.groups(field),
        }
    }
}
