//! The viewer in a terminal: what it shows, what keys change of that, and how it is drawn into a
//! buffer of cells. It never reads a key, a file or a clock, and never writes to a terminal: that is
//! the command line's.

mod model;
mod layout;
mod text;
mod draw;
#[cfg(test)]
mod tests;

pub use draw::draw;
pub use model::{Model, Pane, Setting, Wish};

use referee_match::transcript::{ExchangedLine, Playback};

/// What is looked at, as it stands now.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The match; `None` before anything of it can be read.
    pub playback: Option<&'a Playback>,
    /// How far it is.
    pub progress: Progress,
    /// What it is called: a file, or a game of a contest.
    pub name: &'a str,
    /// Why it can't be read on.
    pub problem: Option<&'a str>,
    /// The exact lines of the ply that the model is at, where they are wanted; or why there are none.
    pub said: Result<&'a [ExchangedLine], &'a str>,
    /// How long the seat that was asked has been thinking, in milliseconds.
    pub waiting_ms: u64,
}

/// How far a match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is being played.
    Live,
    /// It has its end.
    Over,
    /// It has no end, and nobody is known to write it.
    Unfinished,
    /// It can't be read to its end.
    Broken,
}
