//! SGF, the Smart Game Format: the file format of `HexGui`, `HexWorld`, `PlayHex` and Little Golem.
//!
//! In SGF, black (B) connects the first row with the last one and white (W) the first column with the
//! last. Here black connects columns, so every cell is transposed, and W is red. Sources: the pages of
//! SGF FF[4] and of its Hex (GM[11]), and files of those programs.

mod tree;
mod read;
mod write;
#[cfg(test)]
mod tests;

use super::action::name_of;
use super::setup::Side;
use crate::NotationKind;

/// The entry in the list of Hex.
pub(super) const KIND: NotationKind = NotationKind {
    name: "sgf",
    ending: "sgf",
    about: "SGF, the Smart Game Format (FF[4], GM[11])",
    write: write::write,
    read: read::read,
};

/// The SGF game number of Hex.
const GAME_NUMBER: &str = "11";
/// The rule's name if the second player may take over the stone.
const SWAP_PIECES: &str = "swap-pieces";
/// The rule's name if the players may exchange colours.
const SWAP_SIDES: &str = "swap-sides";

/// Returns the letter of a side.
fn letter(side: Side) -> char {
    match side {
        Side::Black => 'B',
        Side::Red => 'W',
    }
}

/// Returns the SGF name of a cell.
fn to_sgf([row, column]: [i64; 2]) -> String {
    name_of([column, row])
}
