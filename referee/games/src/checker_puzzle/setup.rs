//! The setup and the position.

use super::board::{Diamond, Pieces};
use crate::Illegal;
use crate::setup_fields::{check_limit, check_range, deserialize_some};
use serde::{Deserialize, Serialize};

/// The setup of a puzzle. Source: Board Games on Hexagonal Grids (IT-3105), section 4.2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RawSetup")]
pub struct Setup {
    /// The rows and columns of the diamond, 3 to 26. Defaults to the position's, or else
    /// 4.
    pub size: u64,
    /// The number of rows, as drawn, that the pieces fill at the start and must fill at the end: 2
    /// to 8, and at most 2 size - 2. Defaults to the position's, or else 3.
    pub depth: u64,
    /// The number of moves after which the puzzle counts as unsolved, 1 to 1000000.
    pub max_moves: u64,
    /// The position to start from instead of the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

/// A setup as written: every field is optional.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawSetup {
    #[serde(deserialize_with = "deserialize_some")]
    size: Option<u64>,
    #[serde(deserialize_with = "deserialize_some")]
    depth: Option<u64>,
    #[serde(deserialize_with = "deserialize_some")]
    max_moves: Option<u64>,
    #[serde(deserialize_with = "deserialize_some")]
    position: Option<Position>,
}

impl From<RawSetup> for Setup {
    fn from(raw: RawSetup) -> Self {
        let position = raw.position.as_ref();
        Self {
            size: raw.size.or(position.map(|position| position.size)).unwrap_or(4),
            depth: raw.depth.or(position.map(|position| position.depth)).unwrap_or(3),
            max_moves: raw.max_moves.unwrap_or(200),
            position: raw.position,
        }
    }
}

/// A position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// As in the setup.
    pub size: u64,
    /// As in the setup.
    pub depth: u64,
    /// The cells `[r,c]` of the pieces, sorted; as many as the goal has.
    pub pieces: Vec<[i64; 2]>,
    /// Moves so far.
    pub moves: u64,
}

impl Setup {
    /// Returns an error if a field is out of range.
    pub(super) fn check(&self) -> Result<(), Illegal> {
        let Self { size, depth, max_moves, .. } = self;
        check_range("size", *size, 3..=26)?;
        let depth_max = (2 * size - 2).min(8);
        if !(2..=depth_max).contains(depth) {
            let rule = format!("`depth` must be 2 to {depth_max} on size {size}, not {depth}");
            return Err(Illegal::new(rule));
        }
        check_limit("max_moves", *max_moves)
    }
}

impl Position {
    /// Checks the position against its setup, sorts its pieces and returns them as a set.
    pub(super) fn place(
        &mut self,
        (size, depth): (u64, u64),
        diamond: Diamond,
        goal: usize,
    ) -> Result<Pieces, Illegal> {
        let illegal = |rule: String| Err(Illegal::new(format!("position: {rule}")));
        for (name, here, there) in [("size", self.size, size), ("depth", self.depth, depth)] {
            if here != there {
                return illegal(format!("`{name}` is {here}, but the setup has {there}"));
            }
        }
        if self.pieces.len() != goal {
            let count = self.pieces.len();
            return illegal(format!("there are {count} pieces, but the goal has {goal} cells"));
        }
        let mut pieces = Pieces::EMPTY;
        for &[row, column] in &self.pieces {
            let Some(cell) = diamond.find([row, column]) else {
                return illegal(format!("[{row},{column}] is off the board"));
            };
            if pieces.contains(cell) {
                return illegal(format!("two pieces are on [{row},{column}]"));
            }
            pieces.insert(cell);
        }
        self.pieces.sort_unstable();
        Ok(pieces)
    }
}
