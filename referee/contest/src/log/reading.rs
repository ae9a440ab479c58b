//! Reads a log and checks it by itself: the chain of its lines and the signatures.

use super::{
    Chain, Checkpoint, Entry, Head, LINE_BYTES_MAX, Line, LoggedChange, LoggedGame, LoggedReport,
    LoggedVoid, Purpose, VERSION, WorkerSignature, digest,
};
use crate::Change;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

/// A log that could be read, up to its first broken line.
#[derive(Clone, Debug)]
pub struct Log {
    /// The first entry.
    pub head: Head,
    /// The games that count, by number.
    pub games: BTreeMap<u64, GameLine>,
    /// The void attempts, by game and attempt, with their lines.
    pub voids: BTreeMap<(u64, u32), (u64, LoggedVoid)>,
    /// The changes of the contest, in order.
    pub changes: Vec<Change>,
    /// The games that were dropped when the contest was resumed, with the lines.
    pub dropped: Vec<(u64, u64)>,
    /// The last report, and whether nothing but checkpoints follows.
    pub report: Option<(LoggedReport, bool)>,
    /// The number of lines up to the last checkpoint.
    pub signed_lines: u64,
    /// The number of bytes up to the last checkpoint.
    pub signed_bytes: u64,
    /// The digest of the last checkpoint's line.
    pub signed_digest: String,
    /// The time of the last checkpoint, RFC 3339.
    pub signed_at: String,
    /// The first line that is wrong, counted from 1, and why. A line that is only cut off isn't wrong.
    pub broken: Option<(u64, String)>,
    /// Entries that can't be: a game that is recorded twice.
    pub problems: Vec<String>,
    /// Whether something follows the last checkpoint: what a kill may leave.
    pub has_tail: bool,
    /// Whether a checkpoint follows the first wrong line, so that no kill has left it.
    pub is_changed: bool,
}

/// What a log has of a game, as far as it is compared: there may be a million.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameLine {
    /// The line, from 1.
    pub line: u32,
    /// The beginning of the digest of the game's seal.
    pub seal: SealDigest,
    /// The signature of the worker that reported it.
    pub worker: Option<Box<WorkerSignature>>,
}

/// The first 128 bits of the SHA-256 of a seal's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SealDigest([u8; 16]);

impl SealDigest {
    /// Returns the digest of a seal in hex.
    pub fn of(seal: &str) -> Self {
        Self(*Sha256::digest(seal).first_chunk().expect("a digest has 32 bytes"))
    }
}

/// Why a file is no log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// It can't be read.
    #[error("{0}")]
    Unreadable(String),
    /// It has no first line.
    #[error("it is empty or cut off in its first lines")]
    Cut,
    /// Its first line is not that of a log.
    #[error("its first line is not that of a log: {0}")]
    NoHead(String),
    /// It was written by a later version.
    #[error("it has version {0}, this referee reads up to {VERSION}")]
    Newer(u32),
    /// The first checkpoint is wrong: nothing is signed.
    #[error("nothing in it is signed: {0}")]
    Unsigned(String),
}

/// Reads a log line by line. An error means that not even its beginning is signed.
pub fn read(mut file: impl BufRead) -> Result<Log, LogError> {
    let mut line = Vec::new();
    let mut next = |line: &mut Vec<u8>| {
        line.clear();
        // One byte more shows that a line is too long.
        let most = LINE_BYTES_MAX as u64 + 1;
        let read = file.by_ref().take(most).read_until(b'\n', line);
        read.map_err(|error| LogError::Unreadable(error.to_string()))
    };
    next(&mut line)?;
    if !line.ends_with(b"\n") {
        return Err(LogError::Cut);
    }
    let head = match parse(&line, "").map_err(LogError::NoHead)? {
        Entry::Log(head) if head.version > VERSION => return Err(LogError::Newer(head.version)),
        Entry::Log(head) => head,
        _ => return Err(LogError::NoHead("it is another entry".to_owned())),
    };
    let mut reader = Reader::new(head, &line);
    while next(&mut line)? > 0 {
        reader.line(&line);
    }
    reader.finish()
}

/// Parses a line, whose end may be missing, and compares the digest in it.
fn parse(line: &[u8], prev: &str) -> Result<Entry, String> {
    if line.len() > LINE_BYTES_MAX {
        return Err("it is too long".to_owned());
    }
    let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    if line.prev == prev {
        Ok(line.entry)
    } else {
        Err("it does not follow the line before it".to_owned())
    }
}

struct Reader {
    log: Log,
    /// The entries since the last checkpoint, with their lines.
    pending: Vec<(u64, Entry)>,
    /// The digest of the last line.
    prev: String,
    /// The number and the bytes of the lines so far.
    lines: u64,
    bytes: u64,
}

impl Reader {
    fn new(head: Head, first: &[u8]) -> Self {
        let log = Log {
            head,
            games: BTreeMap::new(),
            voids: BTreeMap::new(),
            changes: Vec::new(),
            dropped: Vec::new(),
            report: None,
            signed_lines: 0,
            signed_bytes: 0,
            signed_digest: String::new(),
            signed_at: String::new(),
            broken: None,
            problems: Vec::new(),
            has_tail: false,
            is_changed: false,
        };
        let bytes = first.len() as u64;
        Self { log, pending: Vec::new(), prev: digest(first), lines: 1, bytes }
    }

    fn line(&mut self, line: &[u8]) {
        if self.log.broken.is_some() {
            // After a kill nothing else is signed.
            self.log.is_changed |= is_checkpoint(line);
            return;
        }
        if !line.ends_with(b"\n") && line.len() <= LINE_BYTES_MAX {
            self.log.has_tail = true;
            return;
        }
        self.lines += 1;
        self.bytes += line.len() as u64;
        let entry = match parse(line, &self.prev) {
            Ok(entry) => entry,
            Err(text) => return self.broken(text, line),
        };
        if let Entry::Checkpoint(checkpoint) = &entry {
            let text = Checkpoint::text(&self.prev, &checkpoint.at);
            if !self.log.head.key.verifies(Purpose::Checkpoint, &text, &checkpoint.signature) {
                return self.broken("its signature is not of the log's key".to_owned(), line);
            }
            self.log.signed_lines = self.lines;
            self.log.signed_bytes = self.bytes;
            self.log.signed_digest = digest(line);
            self.log.signed_at.clone_from(&checkpoint.at);
            for (number, entry) in std::mem::take(&mut self.pending) {
                self.add(number, entry);
            }
        } else {
            self.pending.push((self.lines, entry));
        }
        self.prev = digest(line);
    }

    fn broken(&mut self, text: String, line: &[u8]) {
        self.log.broken = Some((self.lines, text));
        self.log.is_changed |= is_checkpoint(line);
    }

    /// Adds a signed entry.
    fn add(&mut self, line: u64, entry: Entry) {
        let log = &mut self.log;
        match entry {
            Entry::Game(game) => {
                let LoggedGame { number, seal, worker } = game;
                let short = u32::try_from(line).unwrap_or(u32::MAX);
                let (seal, worker) = (SealDigest::of(&seal), worker.map(Box::new));
                let game = GameLine { line: short, seal, worker };
                if let Some(GameLine { line: before, .. }) = log.games.insert(number, game) {
                    log.problems.push(format!(
                        "line {line}: game {number} is recorded a second time, after line {before}"
                    ));
                }
            }
            Entry::Void(void) => {
                let (number, attempt) = (void.number, void.attempt);
                if let Some((before, _)) = log.voids.insert((number, attempt), (line, void)) {
                    log.problems.push(format!(
                        "line {line}: attempt {attempt} at game {number} is recorded a second time, \
                         after line {before}"
                    ));
                }
            }
            Entry::Dropped { games, voids } => {
                for number in games {
                    log.games.remove(&number);
                    log.dropped.push((line, number));
                }
                for void in voids {
                    log.voids.remove(&void);
                }
            }
            Entry::Change(LoggedChange { number, change }) => {
                if number != log.changes.len() as u64 {
                    log.problems.push(format!("line {line}: change {number} is not the next one"));
                }
                log.apply(change);
            }
            Entry::Report(report) => {
                log.report = Some((report, true));
                return;
            }
            Entry::Log(_) => log.problems.push(format!("line {line}: a second beginning")),
            Entry::Checkpoint(_) | Entry::Unknown => return,
        }
        if let Some((_, is_last)) = &mut log.report {
            *is_last = false;
        }
    }

    fn finish(mut self) -> Result<Log, LogError> {
        if self.log.signed_lines == 0 {
            let text = self.log.broken.map(|(line, text)| format!("line {line}: {text}"));
            return Err(text.map_or(LogError::Cut, LogError::Unsigned));
        }
        self.log.has_tail |= self.lines > self.log.signed_lines;
        Ok(self.log)
    }
}

/// Whether a line that is not valid is, or was, a checkpoint.
fn is_checkpoint(line: &[u8]) -> bool {
    let text = b"\"type\":\"checkpoint\"";
    line.windows(text.len()).any(|window| window == text)
}

impl Log {
    /// Adds a change: the results that it removes no longer count.
    pub(super) fn apply(&mut self, change: Change) {
        for number in &change.removes {
            self.games.remove(number);
        }
        self.changes.push(change);
    }

    /// Returns the chain that continues the log after its last checkpoint.
    pub fn chain(&self) -> Chain {
        Chain { prev: self.signed_digest.clone(), bytes: Vec::new() }
    }
}
