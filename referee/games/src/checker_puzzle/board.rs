//! Cells of the diamond as indexes, and pieces as bit sets.

use crate::board::{Cell, Shape};
use crate::cell_set::CellSet;

/// A set of cells of the largest diamond, 26 x 26, or a smaller one.
pub(super) type Pieces = CellSet<u16, 11>;

/// A diamond. The index of cell (r,c) is r times the size plus c, so indexes sort like coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Diamond(u8);

impl Diamond {
    pub(super) fn new(size: u64) -> Self {
        Self(u8::try_from(size).expect("a size of at most 26"))
    }

    pub(super) fn shape(self) -> Shape {
        Shape::Diamond(self.0)
    }

    /// Returns the index of the cell with these coordinates, if it is on the board.
    pub(super) fn find(self, at: [i64; 2]) -> Option<u16> {
        self.shape().find(at).map(|cell| self.index(cell))
    }

    pub(super) fn cell(self, index: u16) -> Cell {
        let size = u16::from(self.0);
        let coordinate = |value: u16| i8::try_from(value).expect("less than 26");
        Cell(coordinate(index / size), coordinate(index % size))
    }

    pub(super) fn at(self, index: u16) -> [i64; 2] {
        self.cell(index).pair()
    }

    /// Returns the cell `steps` away in one of the six directions. Opposite directions add up to 5,
    /// and a greater direction leads to a greater index.
    pub(super) fn step(self, from: u16, direction: usize, steps: i8) -> Option<u16> {
        let (rows, columns) = self.shape().steps()[direction];
        let to = self.cell(from).step((rows * steps, columns * steps));
        self.shape().contains(to).then(|| self.index(to))
    }

    /// Returns the row as drawn, 0 to 2 size - 2 from the top.
    pub(super) fn row(self, index: u16) -> u8 {
        let Cell(row, column) = self.cell(index);
        row.unsigned_abs() + column.unsigned_abs()
    }

    /// Returns the cells of the first `depth` rows as drawn.
    pub(super) fn top(self, depth: u64) -> Pieces {
        self.all().filter(|&cell| u64::from(self.row(cell)) < depth).collect()
    }

    /// Returns the cells of the last `depth` rows as drawn.
    pub(super) fn bottom(self, depth: u64) -> Pieces {
        let last = 2 * (self.0 - 1);
        self.all().filter(|&cell| u64::from(last - self.row(cell)) < depth).collect()
    }

    fn all(self) -> impl Iterator<Item = u16> {
        0..u16::from(self.0) * u16::from(self.0)
    }

    fn index(self, Cell(row, column): Cell) -> u16 {
        let [row, column] = [row, column].map(|value| u16::from(value.unsigned_abs()));
        row * u16::from(self.0) + column
    }
}

#[cfg(test)]
mod tests {
    use super::Diamond;

    #[test]
    fn start_and_goal_are_at_opposite_ends() {
        for (size, depth, count) in [(3, 2, 3), (3, 4, 8), (4, 3, 6), (8, 4, 10), (26, 8, 36)] {
            let diamond = Diamond::new(size);
            let (top, bottom) = (diamond.top(depth), diamond.bottom(depth));
            assert_eq!((top.len(), bottom.len()), (count, count), "{size} {depth}");
            let last = u16::try_from(size * size - 1).unwrap();
            assert!(top.iter().all(|cell| bottom.contains(last - cell)));
        }
        let start: Vec<[i64; 2]> =
            Diamond::new(4).bottom(3).iter().map(|cell| Diamond::new(4).at(cell)).collect();
        assert_eq!(start, [[1, 3], [2, 2], [2, 3], [3, 1], [3, 2], [3, 3]]);
    }
}
