//! What can be set before the puzzle starts, and the position that it can start from.

use super::board::{Diamond, Pieces};
use crate::Illegal;
use crate::setup_fields::{check_range, deserialize_some};
use serde::{Deserialize, Serialize};

/// The setup of a puzzle. Source: Board Games on Hexagonal Grids (IT-3105), section 4.2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RawSetup")]
pub struct Setup {
    /// The rows and columns of the diamond, 3 to 26; by default that of the position, or else 4.
    pub size: u64,
    /// The rows, as drawn, that the pieces fill at the start and must fill at the end: 2 to 8, and
    /// at most 2 size - 2; by default that of the position, or else 3.
    pub depth: u64,
    /// Moves after which the puzzle counts as unsolved, 1 to 1000000.
    pub max_moves: u64,
    /// Where to start from, if not from the usual start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

/// A setup as it is written, where every field can be left out.
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
    /// Says which field is out of its range.
    pub(super) fn check(&self) -> Result<(), Illegal> {
        let Self { size, depth, max_moves, .. } = self;
        check_range("size", *size, 3..=26)?;
        let depth_max = (2 * size - 2).min(8);
        if !(2..=depth_max).contains(depth) {
            let rule = format!("`depth` must be 2 to {depth_max} on size {size}, not {depth}");
            return Err(Illegal::new(rule));
        }
        check_range("max_moves", *max_moves, 1..=1_000_000)
    }
}

impl Position {
    /// Checks the position against the setup that it is part of, and sorts its pieces.
    pub(super) fn place(
        &mut self,
        (size, depth): (u64, u64),
        diamond: Diamond,
        goal: usize,
    ) -> Result<Pieces, Illegal> {
        let illegal = |rule: String| Err(Illegal::new(format!("position: {rule}")));
        for (name, here, there) in [("size", self.size, size), ("depth", self.depth, depth)] {
            if here != there {
                return illegal(format!("`{name}` is {here}, and the setup's is {there}"));
            }
        }
        if self.pieces.len() != goal {
            let count = self.pieces.len();
            return illegal(format!(
                "there must be as many pieces as the goal has cells, {goal}, not {count}"
            ));
        }
        let mut pieces = Pieces::EMPTY;
        for &[row, column] in &self.pieces {
            let Some(cell) = diamond.find([row, column]) else {
                return illegal(format!("[{row},{column}] is off the board"));
            };
            if pieces.contains(cell) {
                return illegal(format!("two pieces stand on [{row},{column}]"));
            }
            pieces.insert(cell);
        }
        self.pieces.sort_unstable();
        Ok(pieces)
    }
}
