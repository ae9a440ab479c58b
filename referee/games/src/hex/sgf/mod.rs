//! SGF, the Smart Game Format: how `HexGui`, `HexWorld`, `PlayHex` and Little Golem keep whole
//! games.
//!
//! There, black (B) joins the first row with the last one and white (W) the first column with the
//! last. Here black joins columns, so every cell is transposed, and W is red. Sources: the pages of
//! SGF FF[4] and of its Hex (GM[11]), and what files of those programs look like.

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

/// The number that Hex has among the games of SGF.
const GAME_NUMBER: &str = "11";
/// How the rule is named where the second player may take over the stone.
const SWAP_PIECES: &str = "swap-pieces";
/// How it is named where the players may exchange colours.
const SWAP_SIDES: &str = "swap-sides";

/// The letter of a side.
fn letter(side: Side) -> char {
    match side {
        Side::Black => 'B',
        Side::Red => 'W',
    }
}

/// The name there of a cell here.
fn to_sgf([row, column]: [i64; 2]) -> String {
    name_of([column, row])
}
