//! The position's estimate, for simple agents and searches.

use super::parity;
use super::pegs::Pegs;
use crate::board::{Cell, Shape};

/// The value of a position that can't be solved any more.
const UNSOLVABLE: i64 = -1_000_000;

/// Returns the estimate; larger is better. A peg that others can't reach stays to the end, so pegs
/// without a neighbour and pegs far out count against a position, possible jumps for it.
pub(super) fn estimate(shape: Shape, board: Pegs, pegs: Pegs, end: Option<Cell>) -> i64 {
    let mut alone = pegs;
    let mut far_out = 0;
    for &step in shape.steps() {
        alone = pegs.shifted_back(step).outside(&alone);
        far_out += board.shifted_back(step).outside(&pegs).count();
    }
    let for_it = i64::from(pegs.count_jumps(shape, &board));
    let against = i64::from(4 * alone.count() + far_out + pegs.count());
    let penalty = if parity::allows(shape, pegs, end) { 0 } else { UNSOLVABLE };
    for_it - against + penalty
}
