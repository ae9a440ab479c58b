//! Maps cells and colours between this game and most Hex programs ("engines").
//!
//! For an engine, the first player is black and connects the first row with the last one. Here,
//! black connects columns and either colour may begin. So the boards differ by a transposition or
//! not at all, and the same bit maps the colours. The two kinds of swap differ by a transposition
//! and an exchange of colours: if the engine's swap is not the match's, a swap flips the bit.

use super::action::{Action, name_of};
use super::setup::{Setup, Side, Swap};
use referee_protocol::Seat;

/// The mapping between a match and an engine's board.
#[derive(Clone, Debug)]
pub(super) struct BoardMapping {
    rule: Swap,
    /// The current colour of each seat, in the match.
    sides: [Side; 2],
    transposed: bool,
}

impl BoardMapping {
    /// Creates the mapping for the start of a game or its position.
    pub(super) fn new(setup: &Setup) -> Self {
        let transposed = setup.first == Side::Black;
        Self { rule: setup.swap, sides: setup.colours(), transposed }
    }

    /// Returns the seat's colour in the match.
    pub(super) fn side(&self, seat: Seat) -> Side {
        self.sides[seat.index() % 2]
    }

    /// Returns whether the side is black for the engine, which connects rows.
    pub(super) fn is_black(&self, side: Side) -> bool {
        (side == Side::Black) == self.transposed
    }

    /// Returns the engine's name of a cell.
    pub(super) fn to_engine(&self, at: [i64; 2]) -> String {
        name_of(self.transpose(at))
    }

    /// Parses the engine's name of a cell; doesn't check that it is on the board.
    pub(super) fn read_engine_name(&self, name: &str) -> Option<[i64; 2]> {
        if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            return None;
        }
        match name.parse() {
            Ok(Action::Place { at }) => Some(self.transpose(at)),
            Ok(Action::Swap {}) | Err(_) => None,
        }
    }

    /// Maps a cell from the match to the engine or back.
    pub(super) fn transpose(&self, [row, column]: [i64; 2]) -> [i64; 2] {
        if self.transposed { [column, row] } else { [row, column] }
    }

    /// Records that the second player swaps; `there` is the kind of swap that the engine's board does.
    pub(super) fn swap(&mut self, there: Swap) {
        let exchanges = self.rule == Swap::Sides;
        if exchanges {
            self.sides.reverse();
        }
        if exchanges != (there == Swap::Sides) {
            self.transposed = !self.transposed;
        }
    }

    /// Returns where the first stone is after a swap, in the match.
    pub(super) fn swapped_stone(&self, [row, column]: [i64; 2]) -> [i64; 2] {
        if self.rule == Swap::Sides { [row, column] } else { [column, row] }
    }
}
