//! The cross table: what every pair of players did to each other.

use super::{Meeting, Points};
use crate::{Player, Record};
use std::collections::BTreeMap;

/// What every ordered pair of players that met did to each other, in order.
pub(super) fn meetings(records: &[&Record]) -> Vec<Meeting> {
    // Games, and the halves of the first against the second.
    let mut pairs: BTreeMap<(Player, Player), (u64, u64)> = BTreeMap::new();
    for record in records {
        for (&row, place) in record.players.iter().zip(&record.places) {
            for (&column, other) in record.players.iter().zip(&record.places) {
                if row == column {
                    continue;
                }
                // The smaller place is the better one.
                let halves = match place.cmp(other) {
                    std::cmp::Ordering::Less => 2,
                    std::cmp::Ordering::Equal => 1,
                    std::cmp::Ordering::Greater => 0,
                };
                let entry = pairs.entry((row, column)).or_default();
                *entry = (entry.0 + 1, entry.1 + halves);
            }
        }
    }
    let meeting = |((row, column), (games, halves))| {
        let points = Points::new(halves, 2);
        Meeting { row, column, games, points }
    };
    pairs.into_iter().map(meeting).collect()
}

/// What a player did to each of its opponents.
pub(super) fn opponents(cross: &[Meeting], of: Player) -> &[Meeting] {
    let own = &cross[cross.partition_point(|met| met.row < of)..];
    &own[..own.partition_point(|met| met.row == of)]
}

/// What a player did to another, if they met.
pub(super) fn meeting(cross: &[Meeting], row: Player, column: Player) -> Option<&Meeting> {
    let found = cross.binary_search_by_key(&(row, column), |met| (met.row, met.column));
    found.ok().map(|index| &cross[index])
}
