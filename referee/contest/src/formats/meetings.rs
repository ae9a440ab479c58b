//! How often players met.

use super::PairingResult;
use crate::Player;
use std::collections::BTreeMap;

/// The meetings of all players.
#[derive(Debug)]
pub(super) struct Meetings {
    /// The opponents of each player.
    of: Vec<BTreeMap<Player, Meeting>>,
}

/// The meetings of two players.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meeting {
    /// The number of meetings.
    pub(super) times: i64,
    /// The round of the last one; 0 if there was none.
    pub(super) last: i64,
}

impl Meetings {
    /// Counts the meetings in pairings.
    pub(super) fn after(players: usize, past: &[PairingResult]) -> Self {
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

    /// Returns the meetings of two players.
    pub(super) fn between(&self, one: Player, other: Player) -> Meeting {
        self.of[one.index()].get(&other).copied().unwrap_or_default()
    }
}
