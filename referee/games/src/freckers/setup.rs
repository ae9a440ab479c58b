//! How a game is set up: its switches and the position it starts from.

use crate::board::Cell;
use serde::{Deserialize, Serialize};

/// The switches of a game. Source: Rules for the Game of Freckers, "Actions" and "Ending the Game".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// Which cells of a sequence of jumps must be free pads.
    pub landing: Landing,
    /// After how many actions in all the game ends, 1 to 1000000.
    pub turn_limit: u32,
    /// The position to start from instead of the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

/// Which cells of a sequence of jumps must be free pads. The rule text asks it of the destination,
/// "MOVE", and is silent on the cells between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Landing {
    /// Only the last; the others need hold no frog.
    Last,
    /// Every one.
    Every,
}

impl Default for Setup {
    fn default() -> Self {
        Self { landing: Landing::Last, turn_limit: 150, position: None }
    }
}

/// The position as in `turn.position`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The seat to move.
    pub to_move: u8,
    /// The cells of each colour's six frogs, sorted.
    pub frogs: [Vec<Cell>; 2],
    /// The free pads, sorted; the pads that frogs stand on are not among them.
    pub pads: Vec<Cell>,
    /// How many actions there have been.
    pub turn: u32,
}
