//! The log of a contest's results: lines that are only appended, each with the digest of the line before
//! it, and checkpoints that a key signs. It shows whether rows were removed, games replayed or files
//! exchanged later. This module has the format and the checks; the runner has the file and the keys.
//!
//! One line is one JSON object: `{"prev": DIGEST, "entry": {"type": ..}}`. The first entry names the contest
//! and the key. A checkpoint signs the digest before it, and so every line up to it.

mod keys;
mod reading;
mod comparing;

pub use comparing::{Comparing, Comparison};
pub use keys::{PrivateKey, PublicKey, Purpose};
pub use reading::{GameLine, Log, LogError, SealDigest, read};

use super::{Change, Contest, Record};
use referee_protocol::plain::to_hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The version of the format.
pub const VERSION: u32 = 2;
/// The longest line, in bytes.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    /// SHA-256 of the line before, with its end, in hex; empty in the first line.
    prev: String,
    entry: Entry,
}

/// What a line records. Readers skip types of later versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry {
    /// The first line.
    Log(Head),
    /// A game that counts.
    Game(LoggedGame),
    /// An attempt that doesn't count.
    Void(LoggedVoid),
    /// What the log had and the store did not when the contest was resumed; the games are played again.
    Dropped {
        /// The numbers of games.
        games: Vec<u64>,
        /// The games and attempts of void attempts.
        voids: Vec<(u64, u32)>,
    },
    /// The contest was changed: a player was added, games are played again.
    Change(LoggedChange),
    /// The report's files were written.
    Report(LoggedReport),
    /// A signature of all lines before.
    Checkpoint(Checkpoint),
    /// An entry of a later version.
    #[serde(other)]
    Unknown,
}

/// Which contest it is, and who signs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// [`VERSION`].
    pub version: u32,
    /// [`contest_digest`].
    pub contest: String,
    /// When the contest began, RFC 3339.
    pub begun: String,
    /// The key that signs the checkpoints.
    pub key: PublicKey,
    /// The name that its owner gave it; untrusted text.
    pub name: String,
}

/// A game that counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedGame {
    /// Its number.
    pub number: u64,
    /// SHA-256 of its transcript's seal, in hex.
    pub seal: String,
    /// The signature of the worker that reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerSignature>,
}

/// A worker's signature of a transcript that it reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSignature {
    /// The worker's name; untrusted text.
    pub name: String,
    /// Its key.
    pub key: PublicKey,
    /// The signature of the seal's SHA-256 in hex.
    pub signature: String,
}

/// An attempt that doesn't count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LoggedVoid {
    /// The game.
    pub number: u64,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The cause.
    pub cause: String,
    /// SHA-256 of the transcript's file, in hex; null without one.
    pub sha256: Option<String>,
}

/// A change of the contest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedChange {
    /// Its number, from 0.
    pub number: u64,
    /// The change.
    #[serde(flatten)]
    pub change: Change,
}

/// The files of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedReport {
    /// The version of the referee that wrote it.
    pub referee: String,
    /// SHA-256 of each file, in hex, by name.
    pub files: BTreeMap<String, String>,
}

/// A signature of all lines before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// When it was signed, RFC 3339.
    pub at: String,
    /// The signature of the digest of the line before and of the time.
    pub signature: String,
}

impl Checkpoint {
    /// What is signed after the line with this digest.
    fn text(prev: &str, at: &str) -> String {
        format!("{prev}\n{at}")
    }
}

impl WorkerSignature {
    /// Signs the transcript with this seal.
    pub fn new(key: &PrivateKey, name: String, seal: &str) -> Self {
        Self { name, key: key.public(), signature: key.sign(Purpose::Report, seal) }
    }

    /// Returns whether it is the signature of the transcript with this seal.
    pub fn is_of(&self, seal: &str) -> bool {
        self.key.verifies(Purpose::Report, seal, &self.signature)
    }
}

/// Appends lines to a log.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    /// The digest of the last line; empty before the first.
    prev: String,
    /// The lines that were not taken yet.
    bytes: Vec<u8>,
}

impl Chain {
    /// Appends an entry.
    pub fn push(&mut self, entry: Entry) {
        let line = Line { prev: std::mem::take(&mut self.prev), entry };
        let begin = self.bytes.len();
        serde_json::to_writer(&mut self.bytes, &line).expect("numbers and texts can be written");
        self.bytes.push(b'\n');
        self.prev = digest(&self.bytes[begin..]);
    }

    /// Appends a checkpoint.
    pub fn sign(&mut self, key: &PrivateKey, at: String) {
        let signature = key.sign(Purpose::Checkpoint, &Checkpoint::text(&self.prev, &at));
        self.push(Entry::Checkpoint(Checkpoint { at, signature }));
    }

    /// Takes the lines to append to the file.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

/// Returns SHA-256 in hex.
pub fn digest(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

/// Returns the digest of a contest as it began: of its players, games, formats, clocks and seeds.
pub fn contest_digest(contest: &Contest) -> String {
    digest(&serde_json::to_vec(&contest.with_changes(0)).expect("a contest can be written as JSON"))
}

impl From<&Record> for LoggedGame {
    fn from(record: &Record) -> Self {
        Self { number: record.number, seal: record.seal.clone(), worker: None }
    }
}

#[cfg(test)]
mod tests;
