//! The checker puzzle's diamond as tables: where pieces go, opposite cells, and a lower bound of the
//! number of moves.

use crate::Cells;

/// Off the board.
const NOWHERE: u16 = u16::MAX;
/// The six steps; opposite ones add up to nothing.
const STEPS: [(i32, i32); 6] = [(-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)];

/// A diamond whose cells fit into `WORDS` words. The index of cell (r,c) is r times the size plus
/// c.
pub(crate) struct Diamond<const WORDS: usize> {
    pub(crate) size: usize,
    /// By cell and direction: the cell one step away, and two.
    ways: Vec<[(u16, u16); 6]>,
    /// By cell: its mirror image along the middle column.
    mirrored: Vec<u16>,
    /// By cell: two bits that no hop changes, a step always.
    class: Vec<usize>,
    /// The cells that all pieces must reach: the first rows as drawn.
    pub(crate) goal: Cells<WORDS>,
    /// The cells beside the goal.
    rim: Cells<WORDS>,
    /// By class: the number of goal cells.
    goal_classes: [usize; 4],
}

impl<const WORDS: usize> Diamond<WORDS> {
    pub(crate) fn new(size: usize, depth: usize) -> Self {
        let end = i32::try_from(size).expect("at most 26");
        let count = size * size;
        let index = |row: i32, column: i32| {
            let on = (0..end).contains(&row) && (0..end).contains(&column);
            let index = if on { row * end + column } else { NOWHERE.into() };
            u16::try_from(index).expect("at most 676 cells")
        };
        let place = |cell: usize| (cell / size, cell % size);
        let signed = |along: usize| i32::try_from(along).expect("at most 26");
        let way = |cell: usize, (rows, columns): (i32, i32)| {
            let (row, column) = place(cell);
            let (row, column) = (signed(row), signed(column));
            (index(row + rows, column + columns), index(row + 2 * rows, column + 2 * columns))
        };
        let ways: Vec<[(u16, u16); 6]> =
            (0..count).map(|cell| STEPS.map(|step| way(cell, step))).collect();
        let mirrored = (0..count).map(|cell| {
            let (row, column) = place(cell);
            index(signed(column), signed(row))
        });
        let class: Vec<usize> =
            (0..count).map(|cell| place(cell).0 % 2 + 2 * (place(cell).1 % 2)).collect();
        let row = |cell: usize| place(cell).0 + place(cell).1;
        let goal: Cells<WORDS> = (0..count).filter(|&cell| row(cell) < depth).collect();
        let beside = goal.iter().flat_map(|cell| ways[cell].iter().map(|&(beside, _)| beside));
        let rim: Cells<WORDS> = beside.filter(|&cell| cell != NOWHERE).map(usize::from).collect();
        let rim = rim.without(goal);
        let goal_classes = count_classes(&class, goal);
        Self { size, mirrored: mirrored.collect(), class, goal, rim, goal_classes, ways }
    }

    /// Returns the row as drawn and the distance from the middle column.
    pub(crate) fn drawn(&self, cell: usize) -> (i32, i32) {
        let (row, column) = (cell / self.size, cell % self.size);
        let signed = |along: usize| i32::try_from(along).expect("at most 50");
        (signed(row + column), signed(row.abs_diff(column)))
    }

    /// Every cell to which the piece on `from` can move.
    pub(crate) fn ends(&self, pieces: &Cells<WORDS>, from: usize) -> Cells<WORDS> {
        let mut others = *pieces;
        others.remove(from);
        let mut ends = Cells::EMPTY;
        let mut reached = Cells::EMPTY;
        reached.insert(from);
        for &(beside, _) in &self.ways[from] {
            if beside != NOWHERE && !others.contains(beside.into()) {
                ends.insert(beside.into());
            }
        }
        let mut open = reached;
        while !open.is_empty() {
            let mut next = Cells::EMPTY;
            for cell in open.iter() {
                for &(beside, behind) in &self.ways[cell] {
                    if behind != NOWHERE
                        && others.contains(beside.into())
                        && !others.contains(behind.into())
                        && !reached.contains(behind.into())
                    {
                        reached.insert(behind.into());
                        next.insert(behind.into());
                    }
                }
            }
            open = next;
        }
        reached.remove(from);
        ends.or(reached)
    }

    /// Calls `found` with the pieces after every move, and with the move.
    pub(crate) fn each_move(
        &self,
        pieces: &Cells<WORDS>,
        mut found: impl FnMut(Cells<WORDS>, usize, usize),
    ) {
        for from in pieces.iter() {
            let mut next = *pieces;
            next.remove(from);
            for to in self.ends(pieces, from).iter() {
                next.insert(to);
                found(next, from, to);
                next.remove(to);
            }
        }
    }

    /// The pieces or their mirror image, whichever comes first: both are as far from the goal.
    pub(crate) fn either(&self, pieces: &Cells<WORDS>) -> Cells<WORDS> {
        let mirror: Cells<WORDS> =
            pieces.iter().map(|cell| usize::from(self.mirrored[cell])).collect();
        (*pieces).min(mirror)
    }

    /// The pieces seen from the other end of the board.
    pub(crate) fn turned(&self, pieces: &Cells<WORDS>) -> Cells<WORDS> {
        let last = self.size * self.size - 1;
        pieces.iter().map(|cell| last - cell).collect()
    }

    /// Returns a lower bound of the number of moves to the goal. Every piece outside the goal needs
    /// one. Hops never change a piece's class and a step does, so some pieces must step; one that does
    /// so in its only move is beside the goal, and for any other it is one move more.
    pub(crate) fn least(&self, pieces: &Cells<WORDS>) -> usize {
        let outside = pieces.without(self.goal);
        let classes = count_classes(&self.class, *pieces).into_iter().zip(self.goal_classes);
        let surplus: usize = classes.map(|(own, wanted)| own.saturating_sub(wanted)).sum();
        let beside = outside.and(self.rim).len();
        outside.len() + surplus.saturating_sub(beside)
    }
}

/// Returns the number of cells of each class.
fn count_classes<const WORDS: usize>(class: &[usize], cells: Cells<WORDS>) -> [usize; 4] {
    let mut classes = [0; 4];
    cells.iter().for_each(|cell| classes[class[cell]] += 1);
    classes
}
