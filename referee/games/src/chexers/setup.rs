//! How a game is set up: its limits and the position it starts from.

use crate::Illegal;
use crate::board::Cell;
use crate::setup_fields::check_limit;
use serde::{Deserialize, Serialize};

/// The limits of a game. Source: Rules for the Game of Chexers, "Ending the game".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// How many exits win, 1 to 1000000.
    pub exits: u32,
    /// After how many turns of every seat the game is a draw, 1 to 1000000.
    pub turns_per_seat: u32,
    /// At which occurrence of one position the game is a draw, 1 to 1000000.
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
    /// Refuses a limit out of its range.
    pub(super) fn check_limits(&self) -> Result<(), Illegal> {
        for (name, value) in [
            ("exits", self.exits),
            ("turns_per_seat", self.turns_per_seat),
            ("repetitions", self.repetitions),
        ] {
            check_limit(name, value)?;
        }
        Ok(())
    }

    /// The number of turns, over all seats, after which the game is over.
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
    /// How many exits each seat has made.
    pub exits: [u32; 3],
    /// The number of the turn, passed-over ones included.
    pub turn: u32,
    /// The seats that are out, sorted; their pieces stay.
    #[serde(default)]
    pub retired: Vec<u8>,
}
