//! The position's estimate for simple agents: the steps that each seat still needs.

use super::{Chexers, SEATS, hexes};
use referee_protocol::Seat;

/// The cost of a missing piece, in steps.
const MISSING: i64 = 14;
/// The value of a spare piece, in steps.
const SPARE: i64 = 3;

/// As [`Game::estimate`](crate::Game::estimate): twice the difference between the mean of
/// the other active seats' missing steps and the seat's own.
pub(super) fn estimate(game: &Chexers, seat: Seat) -> i64 {
    let own = seat.index();
    let others = (0..SEATS).filter(|&other| other != own && !game.retired[other]);
    let lacked: Vec<i64> = others.map(|other| lacking(game, other)).collect();
    let mean = 2 * lacked.iter().sum::<i64>() / i64::try_from(lacked.len().max(1)).unwrap_or(1);
    mean - 4 * lacking(game, own)
}

/// Returns the steps that a seat's foremost pieces need until its last exit.
fn lacking(game: &Chexers, seat: usize) -> i64 {
    let needed = (game.setup.exits - game.exits[seat]) as usize;
    // A piece needs one action more than the steps to its edge: the exit itself.
    let mut steps: Vec<i64> = hexes::cells(game.pieces[seat])
        .map(|hex| match seat {
            0 => 4 - i64::from(hex.0),
            1 => 4 - i64::from(hex.1),
            _ => 4 + i64::from(hex.0) + i64::from(hex.1),
        })
        .collect();
    steps.sort_unstable();
    let spare = steps.len().saturating_sub(needed);
    let missing = needed.saturating_sub(steps.len());
    let wide = |count: usize| i64::try_from(count).expect("at most a million");
    let walked: i64 = steps.iter().take(needed).sum();
    walked + MISSING * wide(missing) - SPARE * wide(spare)
}
