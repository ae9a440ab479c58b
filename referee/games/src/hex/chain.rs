//! The winning chain.

use super::board::Board;
use super::setup::Side;
use crate::board::{Cell, Shape};
use std::collections::VecDeque;

/// Returns a shortest chain of the side's stones that connects its borders, from the border at line 0
/// to the other; of several the first in the order of the cells. Empty if there is none.
pub(super) fn shortest(board: &Board, side: Side) -> Vec<Cell> {
    let shape = Shape::Diamond(board.size());
    let end = board.size().cast_signed() - 1;
    let index = |cell: Cell| board.index(cell.0.cast_unsigned(), cell.1.cast_unsigned());
    let own = |cell: Cell| board.stone(index(cell)) == Some(side);
    let across = |cell: Cell| match side {
        Side::Black => cell.1,
        Side::Red => cell.0,
    };
    // For every reached cell, its predecessor; itself for those at the border.
    let mut from: Vec<Option<Cell>> = vec![None; index(Cell(end, end)) + 1];
    let mut queue = VecDeque::new();
    for cell in shape.cells() {
        if across(cell) == 0 && own(cell) {
            from[index(cell)] = Some(cell);
            queue.push_back(cell);
        }
    }
    while let Some(cell) = queue.pop_front() {
        if across(cell) == end {
            let mut chain = vec![cell];
            let mut at = cell;
            while let Some(before) = from[index(at)].filter(|&before| before != at) {
                chain.push(before);
                at = before;
            }
            chain.reverse();
            return chain;
        }
        for next in shape.neighbours(cell) {
            if own(next) && from[index(next)].is_none() {
                from[index(next)] = Some(cell);
                queue.push_back(next);
            }
        }
    }
    Vec::new()
}
