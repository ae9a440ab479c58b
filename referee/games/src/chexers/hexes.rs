//! Sets of hexes as the bits of a word.
//!
//! A hex `[q,r]` is bit 8 (q + 3) + (r + 3), so bits are in the order of the hexes. A column of
//! seven has one spare bit, so a step off the board ends on a bit that is no hex.

use crate::board::{Cell, Shape};

/// The board: 37 hexes.
pub(super) const SHAPE: Shape = Shape::Hexagon(3);

/// A set of hexes.
pub(super) type Hexes = u64;

/// Every hex of the board.
pub(super) const ALL: Hexes = EVERY[0];

/// The hexes from which each seat exits: red q = 3, green r = 3, blue q + r = -3.
pub(super) const EXITS: [Hexes; 3] = [EVERY[1], EVERY[2], EVERY[3]];

/// The board, then the three exit edges.
const EVERY: [Hexes; 4] = {
    let mut sets = [0; 4];
    let mut bit = 0;
    while bit < 56 {
        let (q, r) = (bit / 8 - 3, bit % 8 - 3);
        let hex = 1 << bit;
        if r <= 3 && q + r <= 3 && q + r >= -3 {
            sets[0] |= hex;
            if q == 3 {
                sets[1] |= hex;
            }
            if r == 3 {
                sets[2] |= hex;
            }
            if q + r == -3 {
                sets[3] |= hex;
            }
        }
        bit += 1;
    }
    sets
};

/// The six steps, in the order of the cells that they lead to, as rotations to the left. A rotation
/// past either end of the word never ends on a hex.
pub(super) const WAYS: [u32; 6] = [56, 57, 63, 1, 7, 8];

/// Returns the hex with these coordinates, which come from an agent, if it is on the board.
pub(super) fn find(at: [i64; 2]) -> Option<Hexes> {
    let [q, r] = at;
    if !(-3..=3).contains(&q) || !(-3..=3).contains(&r) {
        return None;
    }
    let hex = 1 << (8 * (q + 3) + (r + 3));
    (hex & ALL != 0).then_some(hex)
}

/// Returns the set of one cell of the board.
pub(super) fn only(cell: Cell) -> Hexes {
    1 << (8 * i16::from(cell.0 + 3) + i16::from(cell.1 + 3))
}

/// Returns the hexes of a set, in order.
pub(super) fn cells(mut set: Hexes) -> impl Iterator<Item = Cell> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros().cast_signed())?;
        set &= set - 1;
        let coordinate = |wide: i32| i8::try_from(wide - 3).expect("a word has 64 bits");
        Some(Cell(coordinate(bit / 8), coordinate(bit % 8)))
    })
}

/// Returns the hexes around those of a set.
pub(super) fn around(set: Hexes) -> Hexes {
    WAYS.iter().fold(0, |all, &way| all | set.rotate_left(way)) & ALL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_the_cells_of_the_shape_in_their_order() {
        assert_eq!(cells(ALL).collect::<Vec<Cell>>(), SHAPE.cells());
        for cell in SHAPE.cells() {
            assert_eq!(find(cell.pair()), Some(only(cell)));
            let neighbours = SHAPE.neighbours(cell).map(only).fold(0, |set, hex| set | hex);
            assert_eq!(around(only(cell)), neighbours, "{cell:?}");
        }
    }

    #[test]
    fn each_exit_edge_has_four_hexes_and_faces_its_colour() {
        let [red, green, blue] = EXITS.map(|set| cells(set).map(Cell::pair).collect::<Vec<_>>());
        assert_eq!(red, [[3, -3], [3, -2], [3, -1], [3, 0]]);
        assert_eq!(green, [[-3, 3], [-2, 3], [-1, 3], [0, 3]]);
        assert_eq!(blue, [[-3, 0], [-2, -1], [-1, -2], [0, -3]]);
    }

    #[test]
    fn coordinates_off_the_board_are_no_hex() {
        for at in [[4, 0], [-3, -1], [2, 2], [i64::MAX, 0], [0, i64::MIN]] {
            assert_eq!(find(at), None, "{at:?}");
        }
    }
}
