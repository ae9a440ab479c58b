//! Sets of cells as the bits of a word: cell `[r,c]` is bit 8 r + c.

use super::action::Direction;
use crate::board::{Cell, Shape};

/// The board: 64 cells.
pub(super) const SHAPE: Shape = Shape::Grid(8, 8);

/// A set of cells.
pub(super) type Cells = u64;

/// The cells of the first column.
const FIRST_COLUMN: Cells = 0x0101_0101_0101_0101;

/// Each seat's directions, in the order that breaks ties.
pub(super) const DIRECTIONS: [[Direction; 5]; 2] = [
    [Direction::Right, Direction::Left, Direction::Down, Direction::DownLeft, Direction::DownRight],
    [Direction::Right, Direction::Left, Direction::Up, Direction::UpLeft, Direction::UpRight],
];

/// The row that each seat must reach.
pub(super) const OPPOSITE: [Cells; 2] = [0xFF << 56, 0xFF];

/// Returns the set of one cell of the board.
pub(super) fn only(cell: Cell) -> Cells {
    1 << bit(cell)
}

/// Returns the number of a cell of the board.
pub(super) fn bit(cell: Cell) -> u8 {
    (8 * cell.0 + cell.1).cast_unsigned()
}

/// Returns the cell with this number, below 64.
pub(super) fn numbered(bit: u8) -> Cell {
    Cell((bit / 8).cast_signed(), (bit % 8).cast_signed())
}

/// Returns the cells of a set, in order.
pub(super) fn members(mut set: Cells) -> impl Iterator<Item = Cell> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| u8::try_from(set.trailing_zeros()).expect("below 64"))?;
        set &= set - 1;
        Some(numbered(bit))
    })
}

/// A direction to shift sets by: a rotation to the left, and a mask of the cells that can be reached
/// without leaving the board.
#[derive(Clone, Copy)]
pub(super) struct Way {
    rotation: u32,
    kept: Cells,
}

impl Way {
    const fn of(direction: Direction) -> Self {
        let no_first_column = !FIRST_COLUMN;
        let no_last_column = !(FIRST_COLUMN << 7);
        let (no_first_row, no_last_row) = (!0xFF, !(0xFF << 56));
        let (rotation, kept) = match direction {
            Direction::Right => (1, no_first_column),
            Direction::Left => (63, no_last_column),
            Direction::Down => (8, no_first_row),
            Direction::DownLeft => (7, no_first_row & no_last_column),
            Direction::DownRight => (9, no_first_row & no_first_column),
            Direction::Up => (56, no_last_row),
            Direction::UpLeft => (55, no_last_row & no_last_column),
            Direction::UpRight => (57, no_last_row & no_first_column),
        };
        Self { rotation, kept }
    }

    /// Returns the ways for a seat's directions.
    const fn all_of(directions: [Direction; 5]) -> [Self; 5] {
        let mut ways = [Self { rotation: 0, kept: 0 }; 5];
        let mut index = 0;
        while index < ways.len() {
            ways[index] = Self::of(directions[index]);
            index += 1;
        }
        ways
    }
}

/// Each seat's directions as ways.
pub(super) const WAYS: [[Way; 5]; 2] = [Way::all_of(DIRECTIONS[0]), Way::all_of(DIRECTIONS[1])];

/// Shifts every cell of a set one step; cells that leave the board are dropped.
#[inline]
pub(super) fn shift(set: Cells, way: Way) -> Cells {
    set.rotate_left(way.rotation) & way.kept
}

/// Returns the cells around those of a set, possibly with some of its own.
pub(super) fn around(set: Cells) -> Cells {
    let row = set
        | shift(set, const { Way::of(Direction::Right) })
        | shift(set, const { Way::of(Direction::Left) });
    row | row << 8 | row >> 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_are_steps_on_the_board() {
        for cell in SHAPE.cells() {
            for direction in DIRECTIONS.as_flattened() {
                let to = cell.step(direction.step());
                let expected = if SHAPE.contains(to) { only(to) } else { 0 };
                assert_eq!(
                    shift(only(cell), Way::of(*direction)),
                    expected,
                    "{cell:?} {direction}"
                );
            }
            let neighbours = SHAPE.neighbours(cell).map(only).fold(only(cell), |set, to| set | to);
            assert_eq!(around(only(cell)), neighbours, "{cell:?}");
            assert_eq!(members(only(cell)).collect::<Vec<_>>(), [cell]);
        }
    }
}
