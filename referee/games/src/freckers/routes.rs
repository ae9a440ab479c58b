//! The ways of a frog over the board: checking one, and finding the shortest to every cell.

use super::cells::{self, Cells, DIRECTIONS, SHAPE};
use super::{Board, COLOURS, Direction, Landing, show};
use crate::Illegal;
use crate::board::Cell;

/// The most directions that a move may have.
pub(super) const DIRECTIONS_MAX: usize = 64;

/// The cells that a frog comes through, from first to last, by their numbers. It has a fixed size,
/// so that copies of a game need no memory of their own.
#[derive(Clone, Debug)]
pub(super) struct Path {
    numbers: [u8; DIRECTIONS_MAX + 1],
    count: u8,
}

impl Default for Path {
    fn default() -> Self {
        Self { numbers: [0; DIRECTIONS_MAX + 1], count: 0 }
    }
}

impl Path {
    fn from(cell: Cell) -> Self {
        let mut path = Self::default();
        path.push(cell);
        path
    }

    fn push(&mut self, cell: Cell) {
        self.numbers[usize::from(self.count)] = cells::bit(cell);
        self.count += 1;
    }

    /// The cells in order.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell> {
        self.numbers[..usize::from(self.count)].iter().map(|&number| cells::numbered(number))
    }

    /// The first cell. The path must not be empty.
    pub(super) fn start(&self) -> Cell {
        cells::numbered(self.numbers[0])
    }

    /// The last cell. The path must not be empty.
    pub(super) fn end(&self) -> Cell {
        cells::numbered(self.numbers[usize::from(self.count) - 1])
    }

    /// The direction from each cell to the next.
    pub(super) fn directions(&self) -> Vec<Direction> {
        let towards = |from: Cell, to: Cell| {
            let step = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
            DIRECTIONS.as_flattened().iter().copied().find(|direction| direction.step() == step)
        };
        self.cells().zip(self.cells().skip(1)).filter_map(|(from, to)| towards(from, to)).collect()
    }
}

/// The shortest way of one frog to every cell that it can come to.
pub(super) struct Routes {
    start: Cell,
    ends: Cells,
    /// For every cell come to, the number of the cell before it.
    before: [u8; 64],
}

impl Routes {
    /// The cells on which a move may end.
    pub(super) fn ends(&self) -> Cells {
        self.ends
    }

    /// The cells from the start to an end, if it is one.
    pub(super) fn path(&self, end: Cell) -> Option<Path> {
        if self.ends & cells::only(end) == 0 {
            return None;
        }
        let mut path = Path::from(end);
        while path.end() != self.start {
            let before = self.before[usize::from(cells::bit(path.end()))];
            path.push(cells::numbered(before));
        }
        path.numbers[..usize::from(path.count)].reverse();
        Some(path)
    }
}

impl Board {
    /// The shortest way of the mover's frog to every cell that it can come to. Of equally short
    /// ones it is the first in the order of the directions.
    pub(super) fn routes(&self, start: Cell) -> Routes {
        let mut routes = Routes { start, ends: 0, before: [0; 64] };
        let frogs = self.all_frogs();
        // A frog's own cell is one with a frog, so that it never comes back to it.
        let has_frog = |cell: Cell| cells::only(cell) & frogs != 0;
        let is_pad = |cell: Cell| cells::only(cell) & self.pads != 0;
        for direction in DIRECTIONS[self.mover] {
            let to = start.step(direction.step());
            if SHAPE.contains(to) && is_pad(to) {
                routes.ends |= cells::only(to);
                routes.before[usize::from(cells::bit(to))] = cells::bit(start);
            }
        }
        // Breadth first, and in the order of the directions: the first way to a cell is the one
        // that is wanted. No cell is both a step and a sequence of jumps away, because jumps keep
        // row and column even or odd.
        let mut landings = Path::from(start);
        let mut next = 0;
        let mut reached: Cells = 0;
        while next < landings.count {
            let from = cells::numbered(landings.numbers[usize::from(next)]);
            next += 1;
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
                landings.push(to);
            }
        }
        routes.ends |= reached & self.pads;
        routes
    }

    /// The way that the directions lead from the mover's frog on `start`, or the rule that they
    /// break. Source: "MOVE".
    pub(super) fn walk(&self, start: Cell, directions: &[Direction]) -> Result<Path, Illegal> {
        let has_frog = |cell: Cell| cells::only(cell) & self.all_frogs() != 0;
        let is_pad = |cell: Cell| cells::only(cell) & self.pads != 0;
        let refused = |rule: String| Err(Illegal::new(rule));
        let mut path = Path::from(start);
        for &direction in directions {
            if !DIRECTIONS[self.mover].contains(&direction) {
                let colour = COLOURS[self.mover].name();
                return refused(format!("{colour} frogs never go {direction}"));
            }
            let next = path.end().step(direction.step());
            if !SHAPE.contains(next) {
                return refused(format!("{direction} of {} the board ends", show(path.end())));
            }
            if !has_frog(next) {
                if directions.len() > 1 {
                    let rule = "each of several directions is a jump over a frog";
                    return refused(format!("{rule}, and {} holds none", show(next)));
                }
                path.push(next);
                break;
            }
            let behind = next.step(direction.step());
            if !SHAPE.contains(behind) {
                return refused(format!("a jump over {} leaves the board", show(next)));
            }
            if has_frog(behind) {
                let rule =
                    "a jump lands on a cell without a frog, and the moving frog's own counts";
                return refused(format!("{rule}: {} holds one", show(behind)));
            }
            if self.landing == Landing::Every && !is_pad(behind) {
                let rule = "with landing \"every\" each jump lands on a free pad";
                return refused(format!("{rule}, and {} has none", show(behind)));
            }
            path.push(behind);
        }
        if !is_pad(path.end()) {
            let rule = "a move ends on a free pad";
            return refused(format!("{rule}, and {} has none", show(path.end())));
        }
        Ok(path)
    }
}
