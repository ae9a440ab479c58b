//! The walk over a transcript that is there as a whole.

use super::read::{End, NoHeader, Reading, read};
use super::walk::Walk;
use referee_protocol::Event;

/// A transcript that is walked over, event by event.
///
/// ```text
/// let mut steps = walk(&bytes)?;              // the header is read, and the game begun
/// while let Some(event) = steps.step()? {
///     draw(steps.walk().game());              // as it is after the event
/// }
/// ```
#[derive(Debug)]
pub struct Steps<'a> {
    reading: Reading<'a>,
    walk: Walk,
}

/// Why a transcript can't be walked over, or not any further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotWalkable {
    /// It has no header to begin with.
    #[error(transparent)]
    NoHeader(#[from] NoHeader),
    /// A line is no event, or breaks the rules.
    #[error("line {line}: {text}")]
    Broken {
        /// The line, counted from 1, the header's.
        line: u64,
        /// What is wrong with it.
        text: String,
    },
}

/// Begins to walk over a transcript (unpacked, see [`unpack`](super::unpack)).
pub fn walk(bytes: &[u8]) -> Result<Steps<'_>, NotWalkable> {
    let reading = read(bytes)?;
    let walk = Walk::begin(reading.header.clone())
        .map_err(|error| NotWalkable::Broken { line: 1, text: error.to_string() })?;
    Ok(Steps { reading, walk })
}

impl Steps<'_> {
    /// Takes in the next event and returns it; `None` at the seal, or where the file was cut off.
    pub fn step(&mut self) -> Result<Option<Event>, NotWalkable> {
        let event = self.reading.next();
        let walked = match (&event, self.reading.end()) {
            (Some(event), _) => self.walk.event(event),
            (None, Some(End::Broken { text, .. })) => Err(text.clone()),
            (None, _) => Ok(()),
        };
        let line = self.reading.line();
        walked.map(|()| event).map_err(|text| NotWalkable::Broken { line, text })
    }

    /// The match after the last event.
    pub fn walk(&self) -> &Walk {
        &self.walk
    }

    /// Where the steps end; `None` before the last.
    pub fn end(&self) -> Option<&End> {
        self.reading.end()
    }
}
