//! Sets of cells of a small board, and the jumps of pegs on them.

use crate::board::{Cell, Shape};

/// The largest board.
pub(super) const SIZE_MAX: i64 = 12;

/// The margin around the board: the length of a jump.
const MARGIN: i8 = 2;

/// A set of cells: rows of bits, with a margin on every side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pegs([u16; 16]);

impl Pegs {
    /// Returns all cells of a board of at most [`SIZE_MAX`] rows.
    pub(super) fn all(shape: Shape) -> Self {
        shape.cells().into_iter().collect()
    }

    /// Returns the number of cells.
    pub(super) fn count(&self) -> u32 {
        self.0.iter().map(|row| row.count_ones()).sum()
    }

    /// Returns whether the set contains the cell, which may be two steps off the board.
    pub(super) fn has(&self, cell: Cell) -> bool {
        let (row, bit) = place(cell);
        self.0[row] & bit != 0
    }

    /// Adds or removes the cell.
    pub(super) fn set(&mut self, cell: Cell, inside: bool) {
        let (row, bit) = place(cell);
        if inside {
            self.0[row] |= bit;
        } else {
            self.0[row] &= !bit;
        }
    }

    /// Returns the cells of the other set that are not in this one.
    #[must_use]
    pub(super) fn outside(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|row| other.0[row] & !self.0[row]))
    }

    /// Returns the cells in order.
    pub(super) fn cells(self) -> impl Iterator<Item = Cell> {
        (0..16i8).flat_map(move |row| {
            let mut left = self.0[usize::from(row.unsigned_abs())];
            std::iter::from_fn(move || {
                let bit = i8::try_from(left.trailing_zeros()).ok().filter(|_| left != 0)?;
                left &= left - 1;
                Some(Cell(row - MARGIN, bit - MARGIN))
            })
        })
    }

    /// Returns the cells from which this step leads to a cell of the set.
    #[must_use]
    pub(super) fn shifted_back(&self, (rows, columns): (i8, i8)) -> Self {
        let distance = u32::from(columns.unsigned_abs());
        let along = |row: u16| if columns < 0 { row << distance } else { row >> distance };
        let from = |row: usize| row.wrapping_add_signed(isize::from(rows)) & 15;
        Self(std::array::from_fn(|row| along(self.0[from(row)])))
    }

    /// Returns the intersection of both sets.
    #[must_use]
    pub(super) fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|row| self.0[row] & other.0[row]))
    }

    /// Counts the jumps when these cells of the board have pegs.
    pub(super) fn count_jumps(&self, shape: Shape, board: &Self) -> u32 {
        let open = self.outside(board);
        let along = |&(rows, columns): &(i8, i8)| {
            let over = self.and(&self.shifted_back((rows, columns)));
            over.and(&open.shifted_back((2 * rows, 2 * columns))).count()
        };
        shape.steps().iter().map(along).sum()
    }

    /// Returns the start and end of every jump, in order.
    pub(super) fn jumps(self, shape: Shape, board: Self) -> impl Iterator<Item = (Cell, Cell)> {
        let open = self.outside(&board);
        self.cells().flat_map(move |from| {
            shape.steps().iter().filter_map(move |&step| {
                let over = from.step(step);
                let to = over.step(step);
                (self.has(over) && open.has(to)).then_some((from, to))
            })
        })
    }

    /// Returns the pegs after a jump.
    #[must_use]
    pub(super) fn after(mut self, from: Cell, to: Cell) -> Self {
        self.set(from, false);
        self.set(between(from, to), false);
        self.set(to, true);
        self
    }
}

/// Returns the cell half-way between two cells that are a jump apart.
pub(super) fn between(from: Cell, to: Cell) -> Cell {
    Cell(i8::midpoint(from.0, to.0), i8::midpoint(from.1, to.1))
}

impl FromIterator<Cell> for Pegs {
    fn from_iter<I: IntoIterator<Item = Cell>>(cells: I) -> Self {
        let mut pegs = Self::default();
        cells.into_iter().for_each(|cell| pegs.set(cell, true));
        pegs
    }
}

fn place(cell: Cell) -> (usize, u16) {
    let index = |along: i8| usize::from((along + MARGIN).unsigned_abs() & 15);
    (index(cell.0), 1 << index(cell.1))
}
