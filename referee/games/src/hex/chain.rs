//! The winning chain, and the count of placements.

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

/// Counts the sequences of `depth` placements when `side` begins and no one has won.
pub(super) fn count_placements(board: &Board, side: Side, depth: u32) -> u64 {
    let mut empty = Vec::new();
    let mut stones = [0u32; 2];
    for (_, _, at) in board.cells() {
        match board.stone(at) {
            None => empty.push(at),
            Some(owner) => stones[usize::from(owner != side)] += 1,
        }
    }
    // Connecting the borders takes at least as many stones as there are rows. The last placement
    // may win, as nothing is counted after it.
    let rows = u32::from(board.size());
    let before_last = depth.saturating_sub(1);
    let most = [stones[0] + before_last.div_ceil(2), stones[1] + before_last / 2];
    if most.iter().all(|&stones| stones < rows) {
        return (0..u64::from(depth)).map(|ply| (empty.len() as u64).saturating_sub(ply)).product();
    }
    count(board, side, &mut empty, depth)
}

/// Counts the same with the list of the empty cells, which is unchanged afterwards.
fn count(board: &Board, side: Side, empty: &mut Vec<usize>, depth: u32) -> u64 {
    let open = empty.len() as u64;
    match depth {
        0 => 1,
        1 => open,
        2 => {
            let continued = empty.iter().filter(|&&at| !board.wins(at, side)).count() as u64;
            continued * open.saturating_sub(1)
        }
        _ => {
            let mut total = 0;
            let mut next = board.clone();
            for place in 0..empty.len() {
                let at = empty.swap_remove(place);
                next.clone_from(board);
                if !next.place(at, side) {
                    total += count(&next, side.other(), empty, depth - 1);
                }
                empty.push(at);
                let last = empty.len() - 1;
                empty.swap(place, last);
            }
            total
        }
    }
}
