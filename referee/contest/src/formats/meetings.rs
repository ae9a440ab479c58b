//! Who met whom, and how often.

use super::Met;
use crate::Player;

/// The meetings of all players.
#[derive(Debug)]
pub(super) struct Meetings {
    /// Of each player its opponents, in list order.
    of: Vec<Vec<(Player, Meeting)>>,
}

/// The meetings of two players.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meeting {
    /// How often they met.
    pub(super) times: i64,
    /// The round of the last time; 0: never.
    pub(super) last: i64,
}

impl Meetings {
    /// After some pairings.
    pub(super) fn after(players: usize, past: &[Met]) -> Self {
        let mut of = vec![Vec::new(); players];
        for met in past {
            for &player in &met.pairing.players {
                let others = met.pairing.players.iter().filter(|&&other| other != player);
                for &other in others {
                    remember(&mut of[player.index()], other, i64::from(met.pairing.round));
                }
            }
        }
        Self { of }
    }

    /// Those of two players.
    pub(super) fn between(&self, one: Player, other: Player) -> Meeting {
        let own = &self.of[one.index()];
        let found = own.binary_search_by_key(&other, |&(player, _)| player);
        found.map_or_else(|_| Meeting::default(), |found| own[found].1)
    }
}

fn remember(own: &mut Vec<(Player, Meeting)>, other: Player, round: i64) {
    match own.binary_search_by_key(&other, |&(player, _)| player) {
        Ok(found) => own[found].1 = Meeting { times: own[found].1.times + 1, last: round },
        Err(place) => own.insert(place, (other, Meeting { times: 1, last: round })),
    }
}
