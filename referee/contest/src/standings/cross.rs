//! The cross table: what every pair of players did to each other.

use super::{Meeting, Points};
use crate::{Player, Record};
use std::collections::BTreeMap;

/// What pairs of players did to each other.
#[derive(Debug)]
pub(super) struct Cross {
    /// Games, and the halves of the first against the second, by ordered pair.
    pairs: BTreeMap<(Player, Player), (u64, u64)>,
}

impl Cross {
    pub(super) fn new(records: &[&Record]) -> Self {
        let mut pairs: BTreeMap<(Player, Player), (u64, u64)> = BTreeMap::new();
        for record in records {
            for (seat, &row) in record.players.iter().enumerate() {
                for (other, &column) in record.players.iter().enumerate() {
                    if row == column {
                        continue;
                    }
                    // The smaller place is the better one.
                    let halves = match record.places[seat].cmp(&record.places[other]) {
                        std::cmp::Ordering::Less => 2,
                        std::cmp::Ordering::Equal => 1,
                        std::cmp::Ordering::Greater => 0,
                    };
                    let entry = pairs.entry((row, column)).or_default();
                    *entry = (entry.0 + 1, entry.1 + halves);
                }
            }
        }
        Self { pairs }
    }

    /// All pairs that met.
    pub(super) fn meetings(&self) -> Vec<Meeting> {
        let meeting = |(&(row, column), &(games, halves)): (&(Player, Player), &(u64, u64))| {
            Meeting { row, column, games, points: Points::new(halves, 2) }
        };
        self.pairs.iter().map(meeting).collect()
    }

    /// The opponents of a player, each with the number of games and the player's halves.
    pub(super) fn opponents(&self, of: Player) -> impl Iterator<Item = (Player, u64, u64)> {
        let range = (of, Player(0))..=(of, Player(u32::MAX));
        self.pairs.range(range).map(|(&(_, column), &(games, halves))| (column, games, halves))
    }

    /// Games of a pair, and the halves of the first.
    pub(super) fn pair(&self, row: Player, column: Player) -> (u64, u64) {
        self.pairs.get(&(row, column)).copied().unwrap_or_default()
    }
}
