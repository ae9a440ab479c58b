//! Actions: their JSON and text forms.

use crate::notation::{format_pair, read_pair};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One action. Hexes are axial `[q,r]`. Source: Rules for the Game of Chexers, "Gameplay".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// A piece leaves the board from one of its exit hexes.
    Exit {
        /// The hex that it leaves.
        from: [i64; 2],
    },
    /// A piece moves to an adjacent empty hex.
    Move {
        /// The hex that it leaves.
        from: [i64; 2],
        /// The hex that it moves to.
        to: [i64; 2],
    },
    /// A piece jumps over an adjacent piece to the empty hex opposite; a piece of another colour
    /// that is jumped over becomes the jumper's.
    Jump {
        /// The hex that it leaves.
        from: [i64; 2],
        /// The hex that it lands on.
        to: [i64; 2],
    },
    /// Does nothing; legal only if no other action is.
    Pass {},
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit { from } => write!(f, "exit {}", format_pair(*from)),
            Self::Move { from, to } => {
                write!(f, "move {} {}", format_pair(*from), format_pair(*to))
            }
            Self::Jump { from, to } => {
                write!(f, "jump {} {}", format_pair(*from), format_pair(*to))
            }
            Self::Pass {} => f.write_str("pass"),
        }
    }
}

impl FromStr for Action {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["exit", from] => Ok(Self::Exit { from: read_pair(from)? }),
            ["move", from, to] => Ok(Self::Move { from: read_pair(from)?, to: read_pair(to)? }),
            ["jump", from, to] => Ok(Self::Jump { from: read_pair(from)?, to: read_pair(to)? }),
            ["pass"] => Ok(Self::Pass {}),
            _ => Err(format!(
                "expected `move -3,0 -2,0`, `jump -3,0 -1,0`, `exit 3,0` or `pass`, got `{text}`"
            )),
        }
    }
}
