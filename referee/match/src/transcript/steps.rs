//! The walk over a whole transcript.

use super::read::{EventReader, HeaderError, ReadEnd, read};
use super::walk::Walk;
use referee_games::Games;
use referee_protocol::Event;

/// A transcript that is replayed event by event.
///
/// ```text
/// let mut steps = walk(&bytes, &games)?;      // reads the header and starts the game
/// while let Some(event) = steps.step()? {
///     draw(steps.walk().game());              // the game after the event
/// }
/// ```
#[derive(Debug)]
pub struct TranscriptWalk<'a> {
    reading: EventReader<'a>,
    walk: Walk,
}

/// Why a transcript can't be replayed, or not any further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    /// Its header can't be read.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// A line is not an event, or breaks the rules.
    #[error("line {line}: {text}")]
    Broken {
        /// The line, counted from 1, the header.
        line: u64,
        /// What is wrong with it.
        text: String,
    },
}

/// Begins to replay a transcript (unpacked, see [`unpack`](super::unpack)).
pub fn walk<'a>(bytes: &'a [u8], games: &Games) -> Result<TranscriptWalk<'a>, WalkError> {
    let reading = read(bytes)?;
    let walk = Walk::begin(reading.header.clone(), games)
        .map_err(|text| WalkError::Broken { line: 1, text })?;
    Ok(TranscriptWalk { reading, walk })
}

impl TranscriptWalk<'_> {
    /// Replays the next event and returns it; `None` at the seal, or where the file is cut off.
    pub fn step(&mut self) -> Result<Option<Event>, WalkError> {
        let event = self.reading.next();
        let line = self.reading.line;
        let walked = match (&event, &self.reading.end) {
            (Some(event), _) => self.walk.event_in(line, event.clone()),
            (None, Some(ReadEnd::Broken { text, .. })) => Err(text.clone()),
            (None, _) => Ok(()),
        };
        walked.map(|()| event).map_err(|text| WalkError::Broken { line, text })
    }

    /// Returns the match after the last event.
    pub fn walk(&self) -> &Walk {
        &self.walk
    }

    /// Returns where reading stopped; `None` before the last event.
    pub fn end(&self) -> Option<&ReadEnd> {
        self.reading.end.as_ref()
    }
}
