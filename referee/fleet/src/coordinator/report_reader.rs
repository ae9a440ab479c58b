//! Reads the transcripts of a report, one after the other.

use super::judge::{Fixtures, Outcome, Rules, VerifiedReport, outcome};
use crate::Report;
use crate::live::write_or_append;
use referee_contest::audit::{VerifiedTranscript, differences, verify_and_record};
use referee_contest::log::WorkerSignature;
use referee_contest::{Fixture, Record, Void};
use referee_match::transcript::{is_packed, unpack};
use referee_protocol::SandboxRecord;
use referee_protocol::plain::sanitize_name;
use referee_runner::backend::{FinishedGame, NoResult, VoidGame};
use referee_runner::disk_failure;
use referee_runner::folder::Folder;
use referee_runner::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;
use tempfile::{SpooledTempFile, spooled_tempfile_in};
use tokio::sync::OwnedMutexGuard;

/// A report that is being verified. Its transcripts are written only if all of them are valid.
#[derive(Debug)]
pub(super) struct ReportReader {
    rules: Arc<Rules>,
    block: u64,
    /// The game numbers of the transcripts that follow, in reverse order.
    coming: Vec<u64>,
    /// The worker's signatures of these transcripts.
    signatures: Vec<Option<WorkerSignature>>,
    fixtures: Fixtures,
    verified: VerifiedReport,
    spoiled: BTreeMap<u64, Vec<VoidGame>>,
    done: BTreeSet<u64>,
    /// How many more bytes may be held in memory.
    room: usize,
    /// Held while a long transcript is in memory.
    long: Option<OwnedMutexGuard<()>>,
    /// The transcripts that count, until all of them are verified.
    files: Vec<(u64, SpooledTempFile)>,
}

impl ReportReader {
    /// Starts with no transcript read. `fixtures` are the games of the block that count, and
    /// whether each has a result already.
    pub(super) fn new(report: &Report, fixtures: Fixtures, rules: Arc<Rules>) -> Self {
        Self {
            block: report.block,
            coming: report.tries.iter().rev().map(|one| one.number).collect(),
            signatures: report.tries.iter().rev().map(|one| one.signature.clone()).collect(),
            fixtures,
            verified: VerifiedReport::default(),
            spoiled: BTreeMap::new(),
            done: BTreeSet::new(),
            room: rules.held_bytes_max,
            long: None,
            files: Vec::new(),
            rules,
        }
    }

    /// Waits until no other report has a long transcript in memory.
    pub(super) async fn hold_long(&mut self) {
        if self.long.is_none() {
            self.long = Some(self.rules.long.clone().lock_owned().await);
        }
    }

    /// The same on a thread that may block.
    fn hold_long_blocking(&mut self) {
        self.long.get_or_insert_with(|| self.rules.long.clone().blocking_lock_owned());
    }

    /// Lets other reports have one.
    pub(super) fn release_long(&mut self) {
        self.long = None;
    }

    /// Returns whether a game has a result already.
    pub(super) fn knows(&self, number: u64) -> bool {
        self.fixtures.get(&number).is_some_and(|(_, known)| *known)
    }

    /// Notes that a transcript is in this object.
    pub(super) fn add_object(&mut self, name: &str) {
        self.verified.objects.push(name.to_owned());
    }

    /// Verifies the next transcript. It may be missing if the game has a result: it is removed
    /// once that is durable.
    pub(super) fn read_next(&mut self, payload: Option<&[u8]>) -> Result<(), String> {
        let worker = self.signatures.pop().flatten();
        let (Some(number), Some(payload)) = (self.coming.pop(), payload) else { return Ok(()) };
        let (fixture, known) = self
            .fixtures
            .get(&number)
            .cloned()
            .ok_or_else(|| format!("game {number} does not belong to block {}", self.block))?;
        if self.done.contains(&number) {
            return Err(format!("game {number} was played again after a match that counts"));
        }
        let rules = self.rules.clone();
        let bytes = self.unpacked(payload, number)?;
        if is_packed(&bytes) {
            return Err(format!("game {number}: its transcript is packed more than once"));
        }
        match verify(&bytes, &fixture, &rules, &mut self.verified.sandbox)? {
            Ok(record) if known => self.verified.known.push(*record),
            Ok(record) => {
                let worker = worker.map(|it| checked(it, &record)).transpose()?;
                // A full disk here is not the worker's fault.
                let result = match self.keep(&bytes) {
                    Ok(kept) => {
                        self.files.push((number, kept));
                        Ok(record)
                    }
                    Err(error) => Err(NoResult::Halt(disk_failure(rules.folder.root(), &error))),
                };
                let void_games = self.spoiled.remove(&number).unwrap_or_default();
                self.verified.came.push(FinishedGame { number, void_games, result, worker });
            }
            Err(_) if known => return Ok(()),
            // The worker's machine failed; another worker may succeed.
            Err(void) if !self.coming.contains(&number) => {
                return Err(format!("game {number}: {}", void.text));
            }
            Err(void) => {
                let transcript = self.reserve(bytes.len()).then_some(bytes);
                self.spoiled.entry(number).or_default().push(VoidGame { void, transcript });
                return Ok(());
            }
        }
        self.done.insert(number);
        Ok(())
    }

    /// Returns the unpacked transcript.
    fn unpacked(&mut self, payload: &[u8], number: u64) -> Result<Vec<u8>, String> {
        let (most, held) = (self.rules.transcript_bytes_max, self.rules.held_bytes_max);
        if let Some(bytes) = unpack(payload, most.min(held)) {
            return Ok(bytes.into_owned());
        }
        self.hold_long_blocking();
        let bytes = unpack(payload, most).ok_or_else(|| too_long(number, most))?;
        Ok(bytes.into_owned())
    }

    /// Reserves memory; returns whether there is enough.
    fn reserve(&mut self, bytes: usize) -> bool {
        let left = self.room.checked_sub(bytes);
        self.room = left.unwrap_or(self.room);
        left.is_some()
    }

    /// Holds a transcript in memory if there is room, else in an unnamed file.
    fn keep(&mut self, bytes: &[u8]) -> io::Result<SpooledTempFile> {
        let room = if self.reserve(bytes.len()) { bytes.len() } else { 0 };
        let mut file = spooled_tempfile_in(room, self.rules.folder.root());
        file.write_all(bytes)?;
        Ok(file)
    }

    /// Writes the transcripts when all of them are verified.
    pub(super) fn finish(mut self) -> VerifiedReport {
        for (number, mut kept) in std::mem::take(&mut self.files) {
            if kept.is_rolled() {
                // It is read as a whole.
                self.hold_long_blocking();
            }
            let path = self.rules.folder.path(&Folder::transcript(number));
            let mut bytes = Vec::new();
            let read = kept.rewind().and_then(|()| kept.read_to_end(&mut bytes));
            if let Err(error) = read.and_then(|_| write_or_append(&path, &bytes)) {
                let failure = disk_failure(&path, &error);
                for came in self.verified.came.iter_mut().filter(|came| came.number == number) {
                    came.result = Err(NoResult::Halt(failure.clone()));
                }
            }
        }
        self.verified.before = before(&self.rules, &self.verified.known);
        self.verified
    }
}

/// Returns a worker's signature if it is that of a game's transcript.
fn checked(worker: WorkerSignature, record: &Record) -> Result<WorkerSignature, String> {
    if !worker.is_of(&record.seal) {
        let number = record.number;
        return Err(format!("game {number}: the signature is not of its transcript"));
    }
    Ok(WorkerSignature { name: sanitize_name(&worker.name), ..worker })
}

/// Returns the outcomes in the store.
fn before(rules: &Rules, known: &[Record]) -> BTreeMap<u64, Outcome> {
    let store = (!known.is_empty()).then(|| Store::open_to_read(&rules.folder).ok()).flatten();
    let Some(store) = store else { return BTreeMap::new() };
    let numbers = known.iter().map(|record| record.number);
    let records = numbers.filter_map(|number| store.record(number).ok().flatten());
    records.map(|record| (record.number, outcome(&record))).collect()
}

pub(super) fn too_long(number: u64, most: usize) -> String {
    format!("game {number}: its transcript has more than {most} bytes")
}

/// Verifies one transcript: returns its record, or why the attempt is void. An error means that it
/// is no transcript of this game; workers don't report unfinished ones.
fn verify(
    bytes: &[u8],
    fixture: &Fixture,
    rules: &Rules,
    sandbox: &mut Option<SandboxRecord>,
) -> Result<Result<Box<Record>, Void>, String> {
    let number = fixture.number;
    let transcript = Folder::transcript(number);
    let verified: VerifiedTranscript = verify_and_record(bytes)
        .map_err(|(status, text)| format!("game {number}: {status}: {text}"))?;
    let kind = rules.kinds[fixture.game];
    let found = differences(&rules.contest, kind, fixture, &verified.header);
    if !found.is_empty() {
        return Err(format!("game {number}: {}", found.join("; ")));
    }
    sandbox.get_or_insert_with(|| verified.header.sandbox.clone());
    Ok(verified.record(&rules.contest, fixture, transcript).map(Box::new))
}
