//! Ratings against other programs, in corner cases, and against contests with a known truth.

mod corners;
mod frozen;
mod simulation;

use super::RatingField;
use crate::{Player, Record, SeatRecord};
use referee_protocol::Result as Ended;

/// A game that counts; it has moves of its own.
fn game(number: u64, block: u64, players: &[u32], places: &[u32]) -> Record {
    Record {
        number,
        block,
        round: 1,
        game: 0,
        players: players.iter().copied().map(Player).collect(),
        match_id: String::new(),
        seed: number,
        result: Ended::Played,
        reason: String::new(),
        places: places.to_vec(),
        scores: None,
        seats: vec![SeatRecord::default(); players.len()],
        turns: 10,
        lag_ns: 0,
        marked: false,
        moves: number.to_string(),
        transcript: String::new(),
        seal: String::new(),
    }
}

/// Games of blocks of their own.
fn games(list: &[(&[u32], &[u32])]) -> Vec<Record> {
    let numbered = (0..).zip(list);
    numbered.map(|(number, (players, places))| game(number, number, players, places)).collect()
}

fn field(players: usize, seats: usize) -> RatingField {
    RatingField { players, seats, rate_faults: true, samples: 20, seed: 1 }
}
