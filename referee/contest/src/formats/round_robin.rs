//! Round robin: everyone plays everyone.

use super::balance::balance_seats;
use super::{
    Entry, Field, Format, FromContestFile, Pairing, PairingResult, Ranking, groups, triples,
};
use crate::Player;
use crate::forms::within;
use crate::settings::Mistake;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// All groups of as many players as a game has seats, or a balanced choice of triples; `rounds` times.
/// All pairings are known from the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundRobin {
    /// With three seats, the number of triples per player and round; `None` for all triples.
    pub triples_per_player: Option<u32>,
}

/// More about `round-robin`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RoundRobin")]
pub(crate) struct Table {
    /// With three seats: how many triples each player gets in a balanced choice, instead of all.
    #[serde(default, deserialize_with = "within::<_, _, 1, 1_000_000>")]
    triples_per_player: Option<u32>,
}

impl FromContestFile for RoundRobin {
    const HELP: &'static str = "everyone plays everyone";
    const SEATS: RangeInclusive<usize> = 2..=usize::MAX;
    type Table = Table;

    fn read(
        table: Option<&Table>,
        entry: &Entry<'_>,
        _order: &mut Vec<usize>,
    ) -> Result<Self, Mistake> {
        let triples_per_player = table.and_then(|table| table.triples_per_player);
        if triples_per_player.is_some() && entry.seats != 3 {
            let Entry { game, seats, .. } = entry;
            let message =
                format!("`triples_per_player` needs a game of 3 seats; {game} has {seats}");
            return Err(Mistake::at(".triples_per_player", message));
        }
        Ok(Self { triples_per_player })
    }
}

impl RoundRobin {
    fn triples(self, field: Field) -> Option<u32> {
        self.triples_per_player.filter(|_| field.seats == 3)
    }

    fn pairs(field: Field) -> Vec<Pairing> {
        let turned = |round: u32, [one, other]: [Player; 2]| {
            if round % 2 == 1 { [one, other] } else { [other, one] }
        };
        (1..=field.rounds)
            .flat_map(|round| {
                groups::pairs(field.players)
                    .map(move |pair| Pairing { round, players: turned(round, pair)[..].into() })
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
                list.into_iter().map(move |players| Pairing { round, players: players.into() })
            })
            .collect();
        balance_seats(&mut pairings, players, seats);
        pairings
    }
}

impl Format for RoundRobin {
    fn takes_late(&self) -> bool {
        self.triples_per_player.is_none()
    }

    fn ranked_by(&self, is_even: bool) -> Ranking {
        // While it is played, and where triples don't come out even, some have played more than others.
        if is_even { Ranking::Points } else { Ranking::PointsPerGame }
    }

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

    fn next(&self, field: Field, past: &[PairingResult]) -> Vec<Pairing> {
        match field.seats {
            _ if !past.is_empty() => Vec::new(),
            2 => Self::pairs(field),
            _ => self.groups(field),
        }
    }
}
