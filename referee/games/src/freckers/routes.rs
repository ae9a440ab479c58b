//! The paths of a frog: checks one, and finds the shortest to every cell.

use super::cells::{self, Cells, DIRECTIONS, SHAPE};
use super::{Board, COLOURS, Direction, Landing, show};
use crate::Illegal;
use crate::board::Cell;
use std::collections::VecDeque;

/// The most directions that a move may have.
pub(super) const DIRECTIONS_MAX: usize = 64;

/// Returns the direction from each cell of a path to the next.
pub(super) fn directions(path: &[Cell]) -> Vec<Direction> {
    let towards = |pair: &[Cell]| {
        let (rows, columns) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        let step = (rows.signum(), columns.signum());
        DIRECTIONS.as_flattened().iter().copied().find(|direction| direction.step() == step)
    };
    path.windows(2).filter_map(towards).collect()
}

/// The shortest paths of one frog to every cell that it can reach.
pub(super) struct Routes {
    start: Cell,
    ends: Cells,
    /// For every reached cell, the number of the cell before it.
    before: [u8; 64],
}

impl Routes {
    /// Returns the cells on which a move may end.
    pub(super) fn ends(&self) -> Cells {
        self.ends
    }

    /// Returns the path from the start to an end, if it is one.
    pub(super) fn path(&self, end: Cell) -> Option<Vec<Cell>> {
        if self.ends & cells::only(end) == 0 {
            return None;
        }
        let before = |&cell: &Cell| cells::numbered(self.before[usize::from(cells::bit(cell))]);
        let back =
            std::iter::successors(Some(end), |cell| (*cell != self.start).then(|| before(cell)));
        let mut path: Vec<Cell> = back.collect();
        path.reverse();
        Some(path)
    }
}

impl Board {
    /// Returns the shortest paths of the mover's frog; of equally short ones the first in the order of
    /// the directions.
    pub(super) fn routes(&self, start: Cell) -> Routes {
        let mut routes = Routes { start, ends: 0, before: [0; 64] };
        let frogs = self.all_frogs();
        // A frog's own start counts as occupied, so it never returns there.
        let has_frog = |cell: Cell| cells::only(cell) & frogs != 0;
        let is_pad = |cell: Cell| cells::only(cell) & self.pads != 0;
        for direction in DIRECTIONS[self.mover] {
            let to = start.step(direction.step());
            if SHAPE.contains(to) && is_pad(to) {
                routes.ends |= cells::only(to);
                routes.before[usize::from(cells::bit(to))] = cells::bit(start);
            }
        }
        // Breadth first, in the order of the directions, so the first path to a cell is the right one.
        // No cell is both a step and a sequence of jumps away, because jumps keep the parity of row
        // and column.
        let mut landings = VecDeque::from([start]);
        let mut reached: Cells = 0;
        while let Some(from) = landings.pop_front() {
            for direction in DIRECTIONS[self.mover] {
                let over = from.step(direction.step());
                let to = over.step(direction.step());
                if !SHAPE.contains(to) || !has_frog(over) || has_frog(to) {
                    continue;
                }
                if reached & cells::only(to) != 0 || self.landing == Landing::Every && !is_pad(to) {
                    continue;
                }
                reached |= cells::only(to);
                routes.before[usize::from(cells::bit(to))] = cells::bit(from);
                landings.push_back(to);
            }
        }
        routes.ends |= reached & self.pads;
        routes
    }

    /// Returns the path along the directions from the mover's frog on `start`, or the rule that they
    /// break. Source: "MOVE".
    pub(super) fn walk(&self, start: Cell, directions: &[Direction]) -> Result<Vec<Cell>, Illegal> {
        let has_frog = |cell: Cell| cells::only(cell) & self.all_frogs() != 0;
        let is_pad = |cell: Cell| cells::only(cell) & self.pads != 0;
        let refused = |rule: String| Err(Illegal::new(rule));
        let (mut path, mut end) = (vec![start], start);
        for &direction in directions {
            if !DIRECTIONS[self.mover].contains(&direction) {
                let colour = COLOURS[self.mover].name();
                return refused(format!("{colour} frogs never move {direction}"));
            }
            let next = end.step(direction.step());
            if !SHAPE.contains(next) {
                return refused(format!("{direction} from {} leaves the board", show(end)));
            }
            if !has_frog(next) {
                if directions.len() > 1 {
                    let rule = "each of several directions is a jump over a frog";
                    return refused(format!("{rule}: there is none on {}", show(next)));
                }
                path.push(next);
                end = next;
                break;
            }
            let behind = next.step(direction.step());
            if !SHAPE.contains(behind) {
                return refused(format!("a jump over {} leaves the board", show(next)));
            }
            if has_frog(behind) {
                let rule = "a jump lands on a cell without a frog, and not on the move's start";
                return refused(format!("{rule}: not on {}", show(behind)));
            }
            if self.landing == Landing::Every && !is_pad(behind) {
                let rule = "with landing \"every\" each jump lands on a free pad";
                return refused(format!("{rule}: there is none on {}", show(behind)));
            }
            path.push(behind);
            end = behind;
        }
        if !is_pad(end) {
            let end = show(end);
            return refused(format!("a move ends on a free pad: there is none on {end}"));
        }
        Ok(path)
    }
}
