//! Actions: their JSON and text forms.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A placement, or a swap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Places a stone of the mover's colour.
    Place {
        /// Row and column of an empty cell, from 0.
        at: [i64; 2],
    },
    /// Takes over the first stone or the first player's colour, depending on the setup.
    Swap {},
}

/// Returns a cell's name: the column's letter and the row's number from 1; its two numbers if it is
/// off every board.
pub(super) fn name_of([row, column]: [i64; 2]) -> String {
    let letter = u8::try_from(column).ok().filter(|&column| column < 26);
    match (letter, row.checked_add(1)) {
        (Some(letter), Some(number)) if number > 0 => {
            format!("{}{number}", char::from(b'a' + letter))
        }
        _ => format!("{row},{column}"),
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place { at } => f.write_str(&name_of(*at)),
            Self::Swap {} => f.write_str("swap"),
        }
    }
}

impl FromStr for Action {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "swap" {
            return Ok(Self::Swap {});
        }
        lettered(text)
            .or_else(|| numbered(text))
            .map(|at| Self::Place { at })
            .ok_or_else(|| format!("expected a cell such as `c4`, or `swap`, got `{text}`"))
    }
}

/// Parses `c4`.
fn lettered(text: &str) -> Option<[i64; 2]> {
    let (letter, number) = text.split_at_checked(1)?;
    let letter = letter.as_bytes()[0].to_ascii_lowercase();
    if !letter.is_ascii_lowercase() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i64 = number.parse().ok().filter(|&number| number > 0)?;
    Some([number - 1, i64::from(letter - b'a')])
}

/// Parses `3,-1`, the form of cells off every board.
fn numbered(text: &str) -> Option<[i64; 2]> {
    let (row, column) = text.split_once(',')?;
    Some([row.parse().ok()?, column.parse().ok()?])
}
