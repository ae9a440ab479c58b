//! Text and values made from transcripts. Reads bytes only, no files.

pub mod report;
mod print;
mod plies;
mod position;

pub use plies::{MatchReport, match_report};
pub use position::{
    PositionReport, Selection, caption, position_report, show_actions, show_recorded,
};
pub use print::print;

use std::str::FromStr;

/// A position to show: the value of `--turn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnChoice {
    /// The start position.
    Start,
    /// The position after this turn.
    After(u64),
}

impl FromStr for TurnChoice {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "start" => Ok(Self::Start),
            _ => text
                .parse()
                .map(Self::After)
                .map_err(|_| "expected the number of a turn, or `start`"),
        }
    }
}
