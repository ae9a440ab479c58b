//! Ratings against other programs, in corner cases, and against contests with a known truth.

mod corners;
mod frozen;
mod scores;

use super::RatingField;
use crate::standings::tests::contests;
use crate::{Record, SeatRecord};

/// A game that counts; it has moves of its own.
fn game(number: u64, block: u64, players: &[u32], places: &[u32]) -> Record {
    let seats = vec![SeatRecord::default(); players.len()];
    Record { block, seats, ..contests::game(number, players, places) }
}

/// Games of blocks of their own.
fn games(list: &[(&[u32], &[u32])]) -> Vec<Record> {
    let numbered = (0..).zip(list);
    numbered.map(|(number, (players, places))| game(number, number, players, places)).collect()
}

fn field(players: usize, seats: usize) -> RatingField {
    RatingField {
        players,
        seats,
        has_scores: true,
        fewer_is_better: false,
        rate_faults: true,
        inflation: 1.0,
        anchor: None,
    }
}
