//! The terminal viewer: its state, its keys, and how it is drawn into a buffer of cells. It does no
//! input or output; the command line does.

mod model;
mod layout;
mod text;
mod draw;
#[cfg(test)]
mod tests;

pub use draw::draw;
pub use model::{KeyRequest, Model, Pane, Setting};

use referee_match::transcript::{ExchangedLine, Playback};

/// What to draw.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The match; `None` before its header can be read.
    pub playback: Option<&'a Playback>,
    /// The progress of the match.
    pub progress: Progress,
    /// The name of the match: a file, or a game of a contest.
    pub name: &'a str,
    /// Why the rest can't be read.
    pub problem: Option<&'a str>,
    /// The lines sent and received in the shown ply, if wanted; or why there are none.
    pub exchange: Result<&'a [ExchangedLine], &'a str>,
    /// How long the seat to move has been thinking, in milliseconds.
    pub waiting_ms: u64,
}

/// The progress of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is running.
    Live,
    /// It is over.
    Over,
    /// It has no end and seems not to be running.
    Unfinished,
    /// It can't be read to the end.
    Broken,
}
