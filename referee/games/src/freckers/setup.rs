//! The setup and the position.

use crate::board::Cell;
use serde::{Deserialize, Serialize};

/// The switches of a game. Source: Rules for the Game of Freckers, "Actions" and "Ending the Game".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// Which cells of a sequence of jumps must be free pads.
    pub landing: Landing,
    /// The number of actions, over both players, after which the game ends: 1 to 1000000.
    pub turn_limit: u32,
    /// The position to start from instead of the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

/// Which cells of a sequence of jumps must be free pads. The rule text, "MOVE", requires it of the
/// destination and says nothing about the cells between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Landing {
    /// Only the last; the others must have no frog.
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
    /// The free pads, sorted, without the pads under frogs.
    pub pads: Vec<Cell>,
    /// The number of actions so far.
    pub turn: u32,
}
