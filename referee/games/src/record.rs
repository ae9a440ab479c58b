//! Whole games as other programs keep them in files: what such a record says, and the notations of
//! a game that write and read it. Text in, text out: no notation touches a file.

use referee_protocol::Seat;
use serde_json::Value;

/// A game from its setup to where its record ends.
#[derive(Clone, Debug, PartialEq)]
pub struct GameRecord {
    /// The whole setup, as a transcript has it.
    pub setup: Value,
    /// The players' names, in seat order, where they are known.
    pub names: Vec<Option<String>>,
    /// What the game itself is called, where it has a name.
    pub title: Option<String>,
    /// The day on which it began, as `2026-05-01`, where it is known.
    pub date: Option<String>,
    /// Every action, as a transcript has it.
    pub actions: Vec<Value>,
    /// How it ended.
    pub end: RecordEnd,
    /// What is to be said at its end, empty or some lines. Readers leave it empty.
    pub comment: String,
}

/// How a recorded game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordEnd {
    /// By its rules: the actions say how.
    Played,
    /// This seat resigned.
    Resigned(Seat),
    /// This seat's time ran out.
    TimedOut(Seat),
    /// This seat lost in another way that the rules don't know.
    Forfeited(Seat),
    /// It didn't, or the record doesn't say how.
    Unfinished,
}

/// What was read of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRecord {
    /// The game.
    pub record: GameRecord,
    /// What the reader should know who believes that this is all, sentence by sentence, without
    /// full stops.
    pub notes: Vec<String>,
}

/// A notation of whole games that a game has.
#[derive(Clone, Copy, Debug)]
pub struct NotationKind {
    /// The name.
    pub name: &'static str,
    /// How its files' names end, without the dot.
    pub ending: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    pub(crate) write: fn(&GameRecord) -> Result<String, String>,
    pub(crate) read: fn(&str, usize) -> Result<ReadRecord, String>,
}

impl NotationKind {
    /// Writes a file with this one game, or says what in the record is no game.
    pub fn write(&self, record: &GameRecord) -> Result<String, String> {
        (self.write)(record)
    }

    /// Reads a file's game of this number, from 1. The error says where it is, what was expected
    /// there, and for an illegal move its number.
    pub fn read(&self, text: &str, number: usize) -> Result<ReadRecord, String> {
        (self.read)(text, number)
    }
}
