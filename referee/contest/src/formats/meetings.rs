//! Who met whom, and how often.

use super::Met;
use crate::Player;
use std::collections::BTreeMap;

/// The meetings of all players.
#[derive(Debug)]
pub(super) struct Meetings {
    /// Of each player its opponents.
    of: Vec<BTreeMap<Player, Meeting>>,
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
        let mut of = vec![BTreeMap::new(); players];
        for met in past {
            for &player in &met.pairing.players {
                let others = met.pairing.players.iter().filter(|&&other| other != player);
                for &other in others {
                    let meeting: &mut Meeting = of[player.index()].entry(other).or_default();
                    meeting.times += 1;
                    meeting.last = i64::from(met.pairing.round);
                }
            }
        }
        Self { of }
    }

    /// Those of two players.
    pub(super) fn between(&self, one: Player, other: Player) -> Meeting {
        self.of[one.index()].get(&other).copied().unwrap_or_default()
    }
}
