//! The stones on the board and their chains, updated with every stone.

use super::setup::Side;

/// The largest board.
const SIZE_MAX: usize = 26;
/// The cells of the largest board and of the frame of border cells around it.
const SQUARES: usize = (SIZE_MAX + 2) * (SIZE_MAX + 2);

/// The low bits of a square: its parent in the forest of chains.
const PARENT: u16 = (1 << 10) - 1;
/// The shift of a square's contents above its parent.
const CONTENTS: u32 = 10;
/// The contents of a corner of the frame, which belongs to no side.
const NO_SIDE: u16 = 3;

/// A board within a frame of border cells: those beside the first and last column are black, those
/// beside the first and last row red. A side has won when its two borders are in one chain.
///
/// A square is one number: its contents and its parent in a forest with one tree per chain. Nothing
/// is on the heap, so copies are cheap.
#[derive(Clone, Debug)]
pub(super) struct Board {
    size: u8,
    squares: [u16; SQUARES],
}

impl Board {
    /// Creates an empty board of 3 to [`SIZE_MAX`] rows.
    pub(super) fn new(size: u8) -> Self {
        let mut board = Self { size, squares: [0; SQUARES] };
        let end = usize::from(size) + 1;
        let stride = board.stride();
        for line in 0..=end {
            for (at, root, contents) in [
                (line, 1, contents(Side::Red)),
                (end * stride + line, end * stride + 1, contents(Side::Red)),
                (line * stride, stride, contents(Side::Black)),
                (line * stride + end, stride + end, contents(Side::Black)),
            ] {
                let corner = line == 0 || line == end;
                let (root, contents) = if corner { (at, NO_SIDE) } else { (root, contents) };
                board.squares[at] = contents << CONTENTS | number(root);
            }
        }
        board
    }

    /// Returns the number of rows.
    pub(super) fn size(&self) -> u8 {
        self.size
    }

    fn stride(&self) -> usize {
        usize::from(self.size) + 2
    }

    /// Returns the index of a cell.
    pub(super) fn index(&self, row: u8, column: u8) -> usize {
        (usize::from(row) + 1) * self.stride() + usize::from(column) + 1
    }

    /// Returns the index of the cell with these coordinates, if it is on the board.
    pub(super) fn find(&self, [row, column]: [i64; 2]) -> Option<usize> {
        let place = |number: i64| u8::try_from(number).ok().filter(|&number| number < self.size);
        Some(self.index(place(row)?, place(column)?))
    }

    /// Returns whether the cell is empty.
    pub(super) fn is_empty(&self, at: usize) -> bool {
        self.squares[at] >> CONTENTS == 0
    }

    /// Returns the side whose stone is on the cell.
    pub(super) fn stone(&self, at: usize) -> Option<Side> {
        let found = self.squares[at] >> CONTENTS;
        [Side::Black, Side::Red].into_iter().find(|&side| contents(side) == found)
    }

    /// Returns every cell in order: row, column and index.
    pub(super) fn cells(&self) -> impl Iterator<Item = (u8, u8, usize)> {
        let size = self.size;
        (0..size).flat_map(move |row| {
            (0..size).map(move |column| (row, column, self.index(row, column)))
        })
    }

    /// Returns the numbers of the empty cells, counted row by row from 0.
    pub(super) fn empty_numbers(&self) -> Vec<usize> {
        let size = usize::from(self.size);
        let mut numbers = Vec::with_capacity(size * size + 1);
        let rows = self.squares[self.index(0, 0)..].chunks(self.stride()).take(size);
        for (row, squares) in rows.enumerate() {
            let first = row * size;
            let empty = squares[..size].iter().enumerate().filter(|(_, it)| **it >> CONTENTS == 0);
            numbers.extend(empty.map(|(column, _)| first + column));
        }
        numbers
    }

    /// Places a stone on an empty cell. Returns whether it connects its side's borders.
    pub(super) fn place(&mut self, at: usize, side: Side) -> bool {
        let runs = self.runs_around(at, side);
        self.squares[at] = contents(side) << CONTENTS | number(at);
        if runs == 0 {
            return false;
        }
        let around = self.around();
        let first_of = |runs: u32| at.wrapping_add(around[runs.trailing_zeros() as usize]);
        let chain = self.root(first_of(runs));
        self.adopt(chain, at);
        let mut left = runs & (runs - 1);
        let mut joined = false;
        while left != 0 {
            let other = self.root(first_of(left));
            joined |= other != chain;
            self.adopt(chain, other);
            left &= left - 1;
        }
        if !joined {
            return false;
        }
        let [low, high] = self.borders(side);
        self.root(low) == self.root(high)
    }

    /// Returns one bit for each run of the side's own cells among the six neighbours, at the run's
    /// first cell.
    ///
    /// Consecutive neighbours of a cell are adjacent, so a run is part of one chain, and only a stone
    /// that touches two runs can connect separate chains.
    fn runs_around(&self, at: usize, side: Side) -> u32 {
        let own = contents(side);
        let mut mask = 0u32;
        for (bit, &step) in self.around().iter().enumerate() {
            mask |= u32::from(self.squares[at.wrapping_add(step)] >> CONTENTS == own) << bit;
        }
        mask & !(mask << 1 | mask >> 5)
    }

    /// Returns the steps to the six neighbours, in order around the cell.
    fn around(&self) -> [usize; 6] {
        let stride = self.stride();
        let back = |step: usize| 0usize.wrapping_sub(step);
        [back(stride), back(stride - 1), 1, stride, stride - 1, back(1)]
    }

    /// Returns a cell of each of the side's borders.
    fn borders(&self, side: Side) -> [usize; 2] {
        let (end, stride) = (usize::from(self.size) + 1, self.stride());
        match side {
            Side::Black => [stride, stride + end],
            Side::Red => [1, end * stride + 1],
        }
    }

    fn parent(&self, at: usize) -> usize {
        usize::from(self.squares[at] & PARENT)
    }

    fn adopt(&mut self, parent: usize, child: usize) {
        self.squares[child] = self.squares[child] & !PARENT | number(parent);
    }

    /// Returns the root of a stone's chain and halves the path to it.
    fn root(&mut self, mut at: usize) -> usize {
        loop {
            let parent = self.parent(at);
            if parent == at {
                return at;
            }
            let next = self.parent(parent);
            self.adopt(next, at);
            at = next;
        }
    }
}

/// Two boards are equal if they have the same size and the same stones.
impl PartialEq for Board {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.cells().all(|(_, _, at)| self.stone(at) == other.stone(at))
    }
}

fn contents(side: Side) -> u16 {
    match side {
        Side::Black => 1,
        Side::Red => 2,
    }
}

fn number(at: usize) -> u16 {
    u16::try_from(at).expect("a square's index has ten bits")
}
