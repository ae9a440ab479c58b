//! Actions: their JSON and text forms.

use crate::notation::{format_pair, read_pair};
use crate::setup_fields::deserialize_some;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use strum::{Display, EnumString};

/// One action. Cells are `[r,c]`. Source: Rules for the Game of Freckers, "Actions".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// A frog moves one step, or by one or more jumps, to a free pad. Either `directions` or `to` may
    /// be left out; if both exist they must agree. Recorded moves have both.
    Move {
        /// The direction of the step or of each jump, 1 to 64.
        #[serde(
            default,
            deserialize_with = "deserialize_some",
            skip_serializing_if = "Option::is_none"
        )]
        directions: Option<Vec<Direction>>,
        /// The cell that it leaves.
        from: [i64; 2],
        /// The cell that it reaches.
        #[serde(
            default,
            deserialize_with = "deserialize_some",
            skip_serializing_if = "Option::is_none"
        )]
        to: Option<[i64; 2]>,
    },
    /// A pad grows on every cell around the player's frogs that has none; always legal.
    Grow {},
}

/// A direction on the board; DOWN is towards larger rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Display, EnumString)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", ascii_case_insensitive)]
pub enum Direction {
    /// Towards larger columns.
    Right,
    /// Towards smaller columns.
    Left,
    /// Towards larger rows.
    Down,
    /// Down and left at once.
    DownLeft,
    /// Down and right at once.
    DownRight,
    /// Towards smaller rows.
    Up,
    /// Up and left at once.
    UpLeft,
    /// Up and right at once.
    UpRight,
}

impl Direction {
    /// Returns the step in rows and columns.
    pub fn step(self) -> (i8, i8) {
        match self {
            Self::Right => (0, 1),
            Self::Left => (0, -1),
            Self::Down => (1, 0),
            Self::DownLeft => (1, -1),
            Self::DownRight => (1, 1),
            Self::Up => (-1, 0),
            Self::UpLeft => (-1, -1),
            Self::UpRight => (-1, 1),
        }
    }

    /// Parses a name in upper or lower case.
    fn read(name: &str) -> Result<Self, String> {
        let read = name.parse();
        read.map_err(|_| format!("expected a direction such as `DOWN_LEFT`, got `{name}`"))
    }
}

/// `0,3 DOWN_LEFT,DOWN`, `grow`; a move by its end is `0,3 to 2,2`.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Move { from, directions, to } = self else {
            return f.write_str("grow");
        };
        f.write_str(&format_pair(*from))?;
        if let Some(directions) = directions {
            for (index, direction) in directions.iter().enumerate() {
                write!(f, "{}{direction}", if index == 0 { ' ' } else { ',' })?;
            }
        } else if let Some(to) = to {
            write!(f, " to {}", format_pair(*to))?;
        }
        Ok(())
    }
}

impl FromStr for Action {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["grow"] => Ok(Self::Grow {}),
            [from, "to", to] => Ok(Self::Move {
                from: read_pair(from)?,
                directions: None,
                to: Some(read_pair(to)?),
            }),
            [from, directions] => {
                let from = read_pair(from)?;
                let directions =
                    directions.split(',').map(Direction::read).collect::<Result<_, _>>()?;
                Ok(Self::Move { from, directions: Some(directions), to: None })
            }
            _ => Err(format!("expected `0,3 DOWN_LEFT`, `0,3 to 1,2` or `grow`, got `{text}`")),
        }
    }
}
