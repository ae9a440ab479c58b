//! Proofs that a start can't be solved: the three-colour parity count, and for few pegs an exhaustive
//! search.

use super::pegs::Pegs;
use crate::board::{Cell, Shape};
use std::collections::BTreeSet;

/// The most pegs for an exhaustive search.
const PEGS_TRIED_MAX: u32 = 10;

/// Returns a cell's colour when the board is coloured so that three cells in a row always differ.
fn colour(shape: Shape, cell: Cell) -> usize {
    let (row, column) = (i16::from(cell.0), i16::from(cell.1));
    let sum = if matches!(shape, Shape::Triangle(_)) { row + column } else { row - column };
    usize::from(sum.rem_euclid(3).unsigned_abs())
}

/// Returns whether the parity count allows one peg to be left, in the cell `end` if that is `Some`.
///
/// A jump removes a peg from two colours and adds one to the third, so it changes the parity of all
/// three. One peg left is one odd colour and two even ones, so one colour, that of the last peg, must
/// differ from the other two from the start.
pub(super) fn allows(shape: Shape, pegs: Pegs, end: Option<Cell>) -> bool {
    let mut odd = [false; 3];
    pegs.cells().for_each(|cell| odd[colour(shape, cell)] ^= true);
    let differs =
        |own: usize| odd[(own + 1) % 3] == odd[(own + 2) % 3] && odd[own] != odd[(own + 1) % 3];
    match end {
        Some(cell) => differs(colour(shape, cell)),
        None => (0..3).any(differs),
    }
}

/// Returns why one peg, in the cell `end` if that is `Some`, can't be left; `None` if unknown.
pub(super) fn unsolvable_reason(
    shape: Shape,
    pegs: Pegs,
    end: Option<Cell>,
) -> Option<&'static str> {
    if !allows(shape, pegs, end) {
        return Some("the three-colour parity count proves it");
    }
    let board = Pegs::all(shape);
    let known = pegs.count() <= PEGS_TRIED_MAX || pegs.count_jumps(shape, &board) == 0;
    let mut seen = BTreeSet::new();
    let solved = !known || try_all(shape, board, pegs, end, &mut seen);
    (!solved).then_some("an exhaustive search proves it")
}

/// Returns whether one peg can be left; `seen` are positions without a solution.
fn try_all(
    shape: Shape,
    board: Pegs,
    pegs: Pegs,
    end: Option<Cell>,
    seen: &mut BTreeSet<Pegs>,
) -> bool {
    if pegs.count() == 1 {
        return end.is_none_or(|end| pegs.has(end));
    }
    seen.insert(pegs)
        && pegs
            .jumps(shape, board)
            .any(|(from, to)| try_all(shape, board, pegs.after(from, to), end, seen))
}

/// Returns the first cell that, as the only open one, makes the puzzle solvable with any last peg.
///
/// If the parity count allows a start and it is too large to search, it is solvable on every board
/// that the setup allows; a test solves them.
pub(super) fn solvable_opening(shape: Shape) -> Option<Cell> {
    let all = Pegs::all(shape);
    let without = |cell: Cell| {
        let mut pegs = all;
        pegs.set(cell, false);
        pegs
    };
    shape.cells().into_iter().find(|&cell| unsolvable_reason(shape, without(cell), None).is_none())
}
