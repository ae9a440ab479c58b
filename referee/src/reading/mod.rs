//! What the commands that read transcripts make of them: bytes in, text and values out. Files and
//! terminals are the command line's.

pub mod report;
mod print;
mod position;
mod case;

pub use case::Case;
pub use position::{Shown, Told, as_json, caption, given, recorded};
pub use print::print;

use referee_match::transcript::WalkError;
use referee_process::Failure;
use referee_protocol::plain::tame;

/// Why a transcript can't be read, with the name of its file.
fn unreadable(file: &str, error: &WalkError) -> Failure {
    Failure::operation(format!("{file}: {}", tame(&error.to_string())))
        .help("`referee verify` says more")
}
