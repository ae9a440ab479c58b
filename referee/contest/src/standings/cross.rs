//! The cross table: the results of every pair of players.

use super::{Meeting, Points};
use crate::{Player, Record, half_points};
use std::collections::BTreeMap;

/// The sums of every ordered pair of players who met: games, and the half-points of the first against
/// the second.
#[derive(Debug, Default)]
pub(super) struct PairSums(BTreeMap<(Player, Player), (u64, u64)>);

impl PairSums {
    pub(super) fn add(&mut self, record: &Record) {
        for (&row, place) in record.players.iter().zip(&record.places) {
            for (&column, other) in record.players.iter().zip(&record.places) {
                if row == column {
                    continue;
                }
                // As in a game of these two alone.
                let won = half_points(&[*place, *other])[0];
                let (games, half_points) = self.0.entry((row, column)).or_default();
                *games += 1;
                *half_points += u64::from(won);
            }
        }
    }

    /// Returns the results of every pair, in order.
    pub(super) fn meetings(self) -> Vec<Meeting> {
        let meeting = |((row, column), (games, half_points))| {
            let points = Points::new(half_points, 2);
            Meeting { row, column, games, points }
        };
        self.0.into_iter().map(meeting).collect()
    }
}

/// Returns a player's results against each of its opponents.
pub(super) fn opponents(cross: &[Meeting], of: Player) -> &[Meeting] {
    let own = &cross[cross.partition_point(|met| met.row < of)..];
    &own[..own.partition_point(|met| met.row == of)]
}

/// Returns a player's results against another one, if they met.
pub(super) fn meeting(cross: &[Meeting], row: Player, column: Player) -> Option<&Meeting> {
    let found = cross.binary_search_by_key(&(row, column), |met| (met.row, met.column));
    found.ok().map(|index| &cross[index])
}
