//! Actions: their JSON and text forms.

use crate::notation::{format_pair, read_pair};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A jump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// A peg jumps over a neighbouring peg into the open cell behind it; the peg it jumped over is
    /// removed.
    Jump {
        /// Row and column of the peg that jumps, from 0.
        from: [i64; 2],
        /// Row and column of the open cell that it jumps into.
        to: [i64; 2],
    },
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Jump { from, to } = self;
        write!(f, "{}-{}", format_pair(*from), format_pair(*to))
    }
}

impl FromStr for Action {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        cells(text).map(|[from, to]| Self::Jump { from, to }).ok_or_else(|| {
            format!("expected a jump from cell to cell such as `2,0-0,0`, got `{text}`")
        })
    }
}

/// Parses `2,0-0,0`. A number may be negative, so the hyphen between the cells is the first one after
/// a digit.
fn cells(text: &str) -> Option<[[i64; 2]; 2]> {
    let between =
        text.as_bytes().windows(2).position(|pair| pair[0].is_ascii_digit() && pair[1] == b'-')?;
    Some([read_pair(&text[..=between]).ok()?, read_pair(&text[between + 2..]).ok()?])
}
