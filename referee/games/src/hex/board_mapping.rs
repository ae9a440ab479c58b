//! Cells and colours as most Hex programs have them, and as they are here.
//!
//! There, the player who begins is black and joins the first row with the last one; here, black
//! joins columns and either colour may begin. So two boards differ by a transposition or not at
//! all, and that one bit also says which colour is which. Every swap is one of two, which differ by
//! a transposition and an exchange of colours: where the program's is not the match's, the bit
//! changes.

use super::action::{Action, name_of};
use super::setup::{Setup, Side, Swap};
use referee_protocol::Seat;

/// From here to there and back.
#[derive(Clone, Debug)]
pub(super) struct BoardMapping {
    rule: Swap,
    /// The colour of each seat here, now.
    sides: [Side; 2],
    transposed: bool,
}

impl BoardMapping {
    /// At the beginning of a game, or at its position.
    pub(super) fn new(setup: &Setup) -> Self {
        let transposed = setup.first == Side::Black;
        Self { rule: setup.swap, sides: setup.colours(), transposed }
    }

    /// The seat's colour here.
    pub(super) fn side(&self, seat: Seat) -> Side {
        self.sides[seat.index() % 2]
    }

    /// The colour there: whether it is black, the one that joins rows.
    pub(super) fn is_black(&self, side: Side) -> bool {
        (side == Side::Black) == self.transposed
    }

    /// The name of a cell there.
    pub(super) fn to_engine(&self, at: [i64; 2]) -> String {
        name_of(self.transpose(at))
    }

    /// A cell as it is named there; whether it is on the board is for the rules to say.
    pub(super) fn from_engine(&self, name: &str) -> Option<[i64; 2]> {
        if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            return None;
        }
        match name.parse() {
            Ok(Action::Place { at }) => Some(self.transpose(at)),
            Ok(Action::Swap {}) | Err(_) => None,
        }
    }

    /// A cell there as row and column, and back.
    pub(super) fn transpose(&self, [row, column]: [i64; 2]) -> [i64; 2] {
        if self.transposed { [column, row] } else { [row, column] }
    }

    /// The second player swaps, which the program's board does so: as sides, or else as pieces.
    pub(super) fn swap(&mut self, there: Swap) {
        let exchanges = self.rule == Swap::Sides;
        if exchanges {
            self.sides.reverse();
        }
        if exchanges != (there == Swap::Sides) {
            self.transposed = !self.transposed;
        }
    }

    /// Where the first stone lies after a swap, here.
    pub(super) fn swapped_stone(&self, [row, column]: [i64; 2]) -> [i64; 2] {
        if self.rule == Swap::Sides { [row, column] } else { [column, row] }
    }
}

/// Why a game that isn't over refused an action, in the words of a program that names its cell so.
pub(super) fn refusal(action: &Action, name: &str, size: i64) -> String {
    match action {
        Action::Place { at } if at.iter().all(|place| (0..size).contains(place)) => {
            format!("{name} is occupied")
        }
        Action::Place { .. } => format!("{name} is off the board"),
        Action::Swap {} => "only the second player may swap, and on its first turn only".to_owned(),
    }
}
