//! A board of Peg Solitaire as a list of the jumps that there can be, each a pair of masks.

use crate::Cells;
use referee_games::board::{Cell, Shape};

/// A jump: the cells by their places in the board's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Jump<const WORDS: usize> {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// From, over and to.
    all: Cells<WORDS>,
    /// From and over.
    taken: Cells<WORDS>,
    /// To.
    left: Cells<WORDS>,
}

pub(crate) struct Board<const WORDS: usize> {
    pub(crate) cells: Vec<Cell>,
    pub(crate) jumps: Vec<Jump<WORDS>>,
    /// By cell: those beside it.
    pub(crate) beside: Vec<Cells<WORDS>>,
    /// By cell: how far it is from where jumps lead easily, 0 for cells over which pegs can jump.
    pub(crate) remote: Vec<i32>,
}

impl<const WORDS: usize> Board<WORDS> {
    pub(crate) fn new(shape: Shape) -> Self {
        let cells = shape.cells();
        let index = |cell: Cell| cells.iter().position(|&other| other == cell);
        let set = |cells: &[usize]| cells.iter().copied().collect::<Cells<WORDS>>();
        let mut jumps = Vec::new();
        for (from, &cell) in cells.iter().enumerate() {
            for &step in shape.steps() {
                let (over, to) = (cell.step(step), cell.step(step).step(step));
                let (Some(over), Some(to)) = (index(over), index(to)) else { continue };
                let [all, taken, left] = [set(&[from, over, to]), set(&[from, over]), set(&[to])];
                jumps.push(Jump { from, to, all, taken, left });
            }
        }
        let beside =
            cells.iter().map(|&cell| shape.neighbours(cell).filter_map(index).collect()).collect();
        let crossed = |cell: usize| {
            let over = |jump: &&Jump<WORDS>| {
                jump.all.contains(cell) && jump.from != cell && jump.to != cell
            };
            jumps.iter().filter(over).count()
        };
        let remote = (0..cells.len()).map(|cell| match crossed(cell) {
            0 => 3,
            1 | 2 => 1,
            _ => 0,
        });
        let remote = remote.collect();
        Self { cells, jumps, beside, remote }
    }

    /// The place of a cell in the board's order.
    pub(crate) fn place(&self, at: [i64; 2]) -> Option<usize> {
        self.cells.iter().position(|cell| [i64::from(cell.0), i64::from(cell.1)] == at)
    }
}

impl<const WORDS: usize> Jump<WORDS> {
    /// Returns the pegs after the jump, if it is legal.
    #[inline]
    pub(crate) fn of(&self, pegs: &Cells<WORDS>) -> Option<Cells<WORDS>> {
        (pegs.and(self.all) == self.taken).then(|| pegs.without(self.taken).or(self.left))
    }

    /// Returns the pegs before the jump, if it can have led to these.
    #[inline]
    pub(crate) fn back(&self, pegs: &Cells<WORDS>) -> Option<Cells<WORDS>> {
        (pegs.and(self.all) == self.left).then(|| pegs.without(self.left).or(self.taken))
    }
}
