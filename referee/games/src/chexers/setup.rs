//! The setup and the position.

use crate::Illegal;
use crate::board::Cell;
use crate::setup_fields::check_limit;
use serde::{Deserialize, Serialize};

/// The limits of a game. Source: Rules for the Game of Chexers, "Ending the game".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// The number of exits that wins, 1 to 1000000.
    pub exits: u32,
    /// The number of turns of each seat after which the game is a draw, 1 to 1000000.
    pub turns_per_seat: u32,
    /// The occurrence of one position at which the game is a draw, 1 to 1000000.
    pub repetitions: u32,
    /// The position to start from instead of the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

impl Default for Setup {
    fn default() -> Self {
        Self { exits: 4, turns_per_seat: 256, repetitions: 4, position: None }
    }
}

impl Setup {
    /// Returns an error if a limit is out of range.
    pub(super) fn check_limits(&self) -> Result<(), Illegal> {
        check_limit("exits", self.exits)?;
        check_limit("turns_per_seat", self.turns_per_seat)?;
        check_limit("repetitions", self.repetitions)
    }

    /// Returns the number of turns, over all seats, after which the game is over.
    pub(super) fn turns_max(&self) -> u32 {
        3 * self.turns_per_seat
    }
}

/// The position as in `turn.position`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The seat to move: `turn` mod 3.
    pub to_move: u8,
    /// The hexes of each colour's pieces, sorted.
    pub pieces: [Vec<Cell>; 3],
    /// Each seat's number of exits.
    pub exits: [u32; 3],
    /// The number of the turn, skipped turns included.
    pub turn: u32,
    /// The retired seats, sorted; their pieces stay on the board.
    #[serde(default)]
    pub retired: Vec<u8>,
}
