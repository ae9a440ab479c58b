//! Checks the signed log of a contest, and compares it with the store.

use super::folder::{Folder, LOG_FILE};
use super::log_file::{LOG_BYTES_MAX, Logged};
use super::store::{Store, StoredContest};
use referee_contest::log::{Log, LoggedReport, PublicKey, contest_digest, read};
use referee_process::Failure;
use referee_process::files::open_regular;
use referee_protocol::plain::{count, games, sanitize_line};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, BufReader};

/// Who signed a contest, as `verify --json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Signature {
    /// Whether it is signed.
    pub status: SignatureStatus,
    /// The key's fingerprint, as `ssh-keygen -l` prints it; null if unsigned.
    pub key: Option<String>,
    /// The name that the key's owner gave it; untrusted text.
    pub name: Option<String>,
    /// When the last results were signed, RFC 3339.
    pub at: Option<String>,
    /// Whether this key was expected: it is pinned, or was given with `--key`.
    pub expected: bool,
}

/// Whether a contest is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignatureStatus {
    /// All results are signed with one key.
    Signed,
    /// It has no log: an earlier version began it, or there was no place for a key.
    Unsigned,
    /// The log or what it signs was changed.
    Broken,
}

/// What is found in a log.
#[derive(Debug)]
pub(super) struct LogCheck {
    pub(super) signature: Signature,
    pub(super) differences: Vec<String>,
    pub(super) notes: Vec<String>,
    /// The last report that was signed.
    pub(super) report: Option<LoggedReport>,
    /// The worker that reported each game, as text.
    pub(super) workers: BTreeMap<u64, String>,
}

impl Signature {
    /// Of a contest without a log.
    pub(super) fn unsigned() -> Self {
        let status = SignatureStatus::Unsigned;
        Self { status, key: None, name: None, at: None, expected: false }
    }
}

impl LogCheck {
    fn without(expected: Option<PublicKey>) -> Self {
        let mut signature = Signature::unsigned();
        if expected.is_some() {
            signature.status = SignatureStatus::Broken;
        }
        let differs = expected.map(|key| {
            let key = key.fingerprint();
            format!("{LOG_FILE} is missing, but this contest should be signed with key {key}")
        });
        Self {
            signature,
            differences: differs.into_iter().collect(),
            notes: Vec::new(),
            report: None,
            workers: BTreeMap::new(),
        }
    }
}

/// Checks the log of a contest; `expected` is the key that it should have.
pub(super) fn check(
    folder: &Folder,
    store: &Store,
    stored: &StoredContest,
    expected: Option<PublicKey>,
    over: bool,
) -> Result<LogCheck, Failure> {
    let file = match open_regular(&folder.path(LOG_FILE), LOG_BYTES_MAX) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(LogCheck::without(expected));
        }
        Err(error) => return Ok(unreadable(&error.to_string())),
    };
    let log = match read(BufReader::new(file)) {
        Ok(log) => log,
        Err(error) => return Ok(unreadable(&error.to_string())),
    };
    let mut found = LogCheck::without(None);
    let key = log.head.key;
    if let Some(expected) = expected.filter(|expected| *expected != key) {
        let (key, expected) = (key.fingerprint(), expected.fingerprint());
        let text = format!("{LOG_FILE} is signed with key {key}, but {expected} is expected");
        found.differences.push(text);
    }
    if (&log.head.contest, &log.head.begun) != (&contest_digest(&stored.contest), &stored.begun) {
        found.differences.push(format!("{LOG_FILE} is of another contest"));
    }
    found.chain(&log);
    found.compare(&log, store, &Logged::read(folder, store)?, over)?;
    let broken = !found.differences.is_empty();
    found.signature = Signature {
        status: if broken { SignatureStatus::Broken } else { SignatureStatus::Signed },
        key: Some(key.fingerprint()),
        name: Some(sanitize_line(&log.head.name)),
        at: Some(log.signed_at.clone()),
        expected: expected == Some(key),
    };
    found.report = log.report.map(|(report, _)| report);
    Ok(found)
}

fn unreadable(text: &str) -> LogCheck {
    let mut found = LogCheck::without(None);
    found.signature.status = SignatureStatus::Broken;
    found.differences.push(format!("{LOG_FILE}: {text}"));
    found
}

impl LogCheck {
    /// Adds what is wrong with the log itself.
    fn chain(&mut self, log: &Log) {
        if let Some((line, text)) = &log.broken {
            self.differences.push(format!("{LOG_FILE}, line {line}: {text}"));
        } else if log.has_tail {
            let lines = log.signed_lines;
            self.notes.push(format!("{LOG_FILE}: what follows line {lines} is not signed yet"));
        }
        self.differences.extend(log.problems.iter().map(|text| format!("{LOG_FILE}, {text}")));
        if let Some((line, _)) = log.dropped.first() {
            let numbers: Vec<u64> = log.dropped.iter().map(|(_, number)| *number).collect();
            self.notes.push(format!(
                "{LOG_FILE}, line {line}: {} had a result that the store lacked when the contest was \
                 resumed, and was played again",
                games(&numbers)
            ));
        }
    }

    /// Compares the log with the store.
    fn compare(
        &mut self,
        log: &Log,
        store: &Store,
        logged: &Logged,
        over: bool,
    ) -> Result<(), Failure> {
        let mut by_worker: BTreeMap<String, u64> = BTreeMap::new();
        let (mut unsigned, mut broken) = (0, Vec::new());
        let mut compared = logged.compare(log, store, |game| {
            let Some(worker) = &game.worker else {
                unsigned += 1;
                return;
            };
            let name = sanitize_line(&worker.name);
            let text = format!("worker {name}, key {}", worker.key.fingerprint());
            if !worker.is_of(&game.seal) {
                let number = game.number;
                broken.push(format!("game {number}: the signature of {text} is broken"));
            }
            *by_worker.entry(text.clone()).or_default() += 1;
            self.workers.insert(game.number, text);
        })?;
        self.differences.append(&mut compared.differences);
        let behind = compared.games.len() + compared.voids.len();
        if behind > 0 {
            let text =
                format!("{} of the store are not in {LOG_FILE}", count(behind as u64, "result"));
            let ended = over && log.report.as_ref().is_some_and(|(_, is_last)| *is_last);
            if behind > logged.room(&compared) || ended {
                self.differences.push(format!("{text}: {}", games(&compared.games)));
            } else {
                self.notes.push(format!(
                    "{text} yet: the referee is at work or was killed, and `contest resume` adds them"
                ));
            }
        }
        self.differences.append(&mut broken);
        if !by_worker.is_empty() && unsigned > 0 {
            self.notes.push(format!("{} without a worker's signature", count(unsigned, "game")));
        }
        self.notes.extend(
            by_worker
                .into_iter()
                .map(|(worker, number)| format!("{} by {worker}", count(number, "game"))),
        );
        Ok(())
    }
}
