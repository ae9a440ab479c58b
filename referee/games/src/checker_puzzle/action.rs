//! Actions: their JSON and text forms.

use crate::notation::{format_pair, read_pair};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An action of the puzzle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Moves one piece.
    Move {
        /// The cells `[r,c]` of the path, from start to end. Start and end are enough; the path is
        /// completed.
        path: Vec<[i64; 2]>,
    },
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Move { path } = self;
        let cells: Vec<String> = path.iter().map(|&cell| format_pair(cell)).collect();
        f.write_str(&cells.join("-"))
    }
}

impl FromStr for Action {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split('-').map(read_pair).collect::<Result<Vec<_>, _>>() {
            Ok(path) if path.len() >= 2 => Ok(Self::Move { path }),
            _ => Err(format!("expected cells joined by dashes, such as `3,1-2,1`, got `{text}`")),
        }
    }
}
