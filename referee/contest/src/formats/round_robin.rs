//! Everybody meets everybody.

use super::balance::balance_seats;
use super::{Field, Format, Met, Pairing, groups, triples};
use crate::Player;
use std::ops::RangeInclusive;

/// All groups of as many players as there are seats, or a balanced choice of triples; `rounds`
/// times. Everything is given at once.
#[derive(Debug)]
pub(super) struct RoundRobin {
    field: Field,
    /// A choice of triples, so many a player and round; only with three seats.
    triples_per_player: Option<u32>,
}

impl RoundRobin {
    pub(super) fn new(field: Field, triples_per_player: Option<u32>) -> Self {
        Self { field, triples_per_player: triples_per_player.filter(|_| field.seats == 3) }
    }

    fn pairs(&self) -> Vec<Pairing> {
        let turned = |round: u32, [one, other]: [Player; 2]| {
            if round % 2 == 1 { vec![one, other] } else { vec![other, one] }
        };
        (1..=self.field.rounds)
            .flat_map(|round| {
                groups::pairs(self.field.players)
                    .map(move |pair| Pairing { round, players: turned(round, pair) })
            })
            .collect()
    }

    fn groups(&self) -> Vec<Pairing> {
        let Field { players, seats, rounds, seed } = self.field;
        let lists = match self.triples_per_player {
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
    fn size(&self) -> RangeInclusive<u64> {
        let Field { players, seats, rounds, .. } = self.field;
        let in_a_round = match self.triples_per_player {
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

    fn next(&self, past: &[Met]) -> Vec<Pairing> {
        match self.field.seats {
            _ if !past.is_empty() => Vec::new(),
            2 => self.pairs(),
            _ => self.groups(),
        }
    }
}
