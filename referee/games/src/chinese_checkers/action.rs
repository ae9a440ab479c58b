//! Actions: their JSON and text forms.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An action of Chinese Checkers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Moves one marble.
    Move {
        /// The numbers of the positions of the path, from start to end. Start and end are enough;
        /// the referee completes the path.
        path: Vec<i64>,
    },
    /// Does nothing; legal only if no marble can move.
    Pass {},
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move { path } => {
                let numbers: Vec<String> = path.iter().map(ToString::to_string).collect();
                f.write_str(&numbers.join("-"))
            }
            Self::Pass {} => f.write_str("pass"),
        }
    }
}

impl FromStr for Action {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "pass" {
            return Ok(Self::Pass {});
        }
        let numbers: Result<Vec<i64>, _> =
            text.split('-').map(|number| number.trim().parse()).collect();
        match numbers {
            Ok(path) if path.len() >= 2 => Ok(Self::Move { path }),
            _ => Err(format!(
                "expected positions joined by dashes, such as `4-15`, or `pass`, got `{text}`"
            )),
        }
    }
}
