//! Text and values made from transcripts. Reads bytes only, no files.

pub mod report;
mod print;
mod position;
mod case;

pub use case::Case;
pub use position::{
    PositionReport, Selection, caption, position_report, show_actions, show_recorded,
};
pub use print::print;

use referee_match::transcript::WalkError;
use referee_process::Failure;
use referee_protocol::plain::sanitize;

/// Returns the failure of a transcript that can't be read.
fn unreadable(file: &str, error: &WalkError) -> Failure {
    Failure::operation(format!("{file}: {}", sanitize(&error.to_string())))
        .help("`referee verify` explains it")
}
