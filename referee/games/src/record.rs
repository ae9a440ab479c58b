//! Whole games in the file notations of other programs. Notations convert between text and
//! [`GameRecord`]; they don't touch files.

use referee_protocol::Seat;
use serde_json::Value;

/// A recorded game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameRecord {
    /// The complete setup, as in a transcript.
    pub setup: Value,
    /// The players' names by seat, if known.
    pub names: Vec<Option<String>>,
    /// The title of the game, if it has one.
    pub title: Option<String>,
    /// The day on which it began, as `2026-05-01`, if known.
    pub date: Option<String>,
    /// Every action, as in a transcript.
    pub actions: Vec<Value>,
    /// How it ended.
    pub end: RecordEnd,
    /// A comment at the end, of any number of lines. Empty after reading.
    pub comment: String,
}

/// How a recorded game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordEnd {
    /// By its rules, as the actions show.
    Played,
    /// This seat resigned.
    Resigned(Seat),
    /// This seat's time ran out.
    TimedOut(Seat),
    /// This seat lost in another way outside the rules.
    Forfeited(Seat),
    /// The game did not end, or the record doesn't say how.
    Unfinished,
}

/// A game read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRecord {
    /// The game.
    pub record: GameRecord,
    /// Notes on gaps and contradictions in the record: sentences without full stops.
    pub notes: Vec<String>,
}

/// A file notation for whole games.
#[derive(Clone, Copy, Debug)]
pub struct NotationKind {
    /// The name.
    pub name: &'static str,
    /// The file extension, without the dot.
    pub ending: &'static str,
    /// A short description.
    pub about: &'static str,
    pub(crate) write: fn(&GameRecord) -> Result<String, String>,
    pub(crate) read: fn(&str, usize) -> Result<ReadRecord, String>,
}

impl NotationKind {
    /// Returns the text of a file with this one game. Fails if the record is not a valid game.
    pub fn write(&self, record: &GameRecord) -> Result<String, String> {
        (self.write)(record)
    }

    /// Reads game `number`, from 1, of a file. The error has its position, what was expected there,
    /// and for an illegal move its number.
    pub fn read(&self, text: &str, number: usize) -> Result<ReadRecord, String> {
        (self.read)(text, number)
    }
}
