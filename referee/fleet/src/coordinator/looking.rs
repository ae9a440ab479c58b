//! The transcripts of a report, one by one.

use super::judge::{Finding, Fixtures, Rules, Said, said};
use crate::Report;
use crate::live::settle;
use referee_contest::audit::{Heard, differences, hear};
use referee_contest::{Fixture, Record, Void};
use referee_match::transcript::{is_packed, unpack};
use referee_protocol::Sandbox;
use referee_runner::disk_failure;
use referee_runner::field::{Came, Missed, Spoiled};
use referee_runner::folder::Folder;
use referee_runner::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;
use tempfile::{SpooledTempFile, spooled_tempfile_in};
use tokio::sync::OwnedMutexGuard;

/// A report that is being looked at. Nothing of it is written unless all of it is as it should be.
#[derive(Debug)]
pub(super) struct Looking {
    rules: Arc<Rules>,
    block: u64,
    /// Of which game each transcript is that is still to come, the next one last.
    coming: Vec<u64>,
    fixtures: Fixtures,
    finding: Finding,
    spoiled: BTreeMap<u64, Vec<Spoiled>>,
    done: BTreeSet<u64>,
    /// How much more may be held in memory.
    room: usize,
    /// The right to have a long transcript in memory.
    long: Option<OwnedMutexGuard<()>>,
    /// The transcripts that count, until all the others have been looked at.
    files: Vec<(u64, SpooledTempFile)>,
}

impl Looking {
    /// At none of its transcripts yet. `fixtures` are the games of its block that count, and whether each
    /// has a result already.
    pub(super) fn at(report: &Report, fixtures: Fixtures, rules: Arc<Rules>) -> Self {
        Self {
            block: report.block,
            coming: report.tries.iter().rev().map(|one| one.number).collect(),
            fixtures,
            finding: Finding::default(),
            spoiled: BTreeMap::new(),
            done: BTreeSet::new(),
            room: rules.held_bytes_max,
            long: None,
            files: Vec::new(),
            rules,
        }
    }

    /// Waits until nobody else has a long transcript in memory.
    pub(super) async fn hold_long(&mut self) {
        if self.long.is_none() {
            self.long = Some(self.rules.long.clone().lock_owned().await);
        }
    }

    /// The same on a thread that may stand still.
    fn wait_long(&mut self) {
        self.long.get_or_insert_with(|| self.rules.long.clone().blocking_lock_owned());
    }

    /// Others may have one.
    pub(super) fn release_long(&mut self) {
        self.long = None;
    }

    /// Whether a game has a result already.
    pub(super) fn knows(&self, number: u64) -> bool {
        self.fixtures.get(&number).is_some_and(|(_, known)| *known)
    }

    /// A transcript is in the object of this name.
    pub(super) fn is_in(&mut self, name: &str) {
        self.finding.objects.push(name.to_owned());
    }

    /// Looks at the next transcript. There may be none of a game that has a result: it was taken away
    /// when that was durable.
    pub(super) fn look(&mut self, parcel: Option<&[u8]>) -> Result<(), String> {
        let (Some(number), Some(parcel)) = (self.coming.pop(), parcel) else { return Ok(()) };
        let (fixture, known) = self
            .fixtures
            .get(&number)
            .cloned()
            .ok_or_else(|| format!("game {number} is none of block {}", self.block))?;
        if self.done.contains(&number) {
            return Err(format!("game {number} was played again though it counts"));
        }
        let rules = self.rules.clone();
        let bytes = self.whole(parcel, number)?;
        if is_packed(&bytes) {
            return Err(format!("game {number}: packed more than once"));
        }
        match tried(&bytes, &fixture, &rules, &mut self.finding.apart)? {
            Ok(record) if known => self.finding.known.push(*record),
            Ok(record) => {
                // That there is no room for it here is nothing that its worker did.
                let result = match self.keep(&bytes) {
                    Ok(kept) => {
                        self.files.push((number, kept));
                        Ok(record)
                    }
                    Err(error) => Err(Missed::Halt(disk_failure(rules.folder.root(), &error))),
                };
                let spoiled = self.spoiled.remove(&number).unwrap_or_default();
                self.finding.came.push(Came { number, spoiled, result });
            }
            Err(_) if known => return Ok(()),
            // It was the machine's doing, and others may fare better.
            Err(void) if !self.coming.contains(&number) => {
                return Err(format!("game {number}: {}", void.text));
            }
            Err(void) => {
                let transcript = self.takes(bytes.len()).then_some(bytes);
                self.spoiled.entry(number).or_default().push(Spoiled { void, transcript });
                return Ok(());
            }
        }
        self.done.insert(number);
        Ok(())
    }

    /// A transcript as it was written.
    fn whole(&mut self, parcel: &[u8], number: u64) -> Result<Vec<u8>, String> {
        let (most, held) = (self.rules.transcript_bytes_max, self.rules.held_bytes_max);
        if let Some(bytes) = unpack(parcel, most.min(held)) {
            return Ok(bytes.into_owned());
        }
        self.wait_long();
        let bytes = unpack(parcel, most).ok_or_else(|| too_long(number, most))?;
        Ok(bytes.into_owned())
    }

    /// Whether so much more is held.
    fn takes(&mut self, bytes: usize) -> bool {
        let left = self.room.checked_sub(bytes);
        self.room = left.unwrap_or(self.room);
        left.is_some()
    }

    /// Keeps a transcript: in memory where there is room, else in a file without a name.
    fn keep(&mut self, bytes: &[u8]) -> io::Result<SpooledTempFile> {
        let room = if self.takes(bytes.len()) { bytes.len() } else { 0 };
        let mut file = spooled_tempfile_in(room, self.rules.folder.root());
        file.write_all(bytes)?;
        Ok(file)
    }

    /// What it says, when all of it was looked at.
    pub(super) fn finish(mut self) -> Finding {
        for (number, mut kept) in std::mem::take(&mut self.files) {
            if kept.is_rolled() {
                // It is read as a whole.
                self.wait_long();
            }
            let path = self.rules.folder.path(&Folder::transcript(number));
            let mut bytes = Vec::new();
            let read = kept.rewind().and_then(|()| kept.read_to_end(&mut bytes));
            if let Err(error) = read.and_then(|_| settle(&path, &bytes)) {
                let failure = disk_failure(&path, &error);
                for came in self.finding.came.iter_mut().filter(|came| came.number == number) {
                    came.result = Err(Missed::Halt(failure.clone()));
                }
            }
        }
        self.finding.before = before(&self.rules, &self.finding.known);
        self.finding
    }
}

/// What the store says of these games.
fn before(rules: &Rules, known: &[Record]) -> BTreeMap<u64, Said> {
    let store = (!known.is_empty()).then(|| Store::look(&rules.folder).ok()).flatten();
    let Some(store) = store else { return BTreeMap::new() };
    let numbers = known.iter().map(|record| record.number);
    let records = numbers.filter_map(|number| store.record(number).ok().flatten());
    records.map(|record| (record.number, said(&record))).collect()
}

pub(super) fn too_long(number: u64, most: usize) -> String {
    format!("game {number}: more than {most} bytes")
}

/// What one transcript says: a record, or why the attempt doesn't count. An error is what no match
/// can have said; nor does a worker report one that has no end.
fn tried(
    bytes: &[u8],
    fixture: &Fixture,
    rules: &Rules,
    apart: &mut Option<Sandbox>,
) -> Result<Result<Box<Record>, Void>, String> {
    let number = fixture.number;
    let transcript = Folder::transcript(number);
    let heard: Heard =
        hear(bytes).map_err(|(status, text)| format!("game {number}: {status}: {text}"))?;
    let kind = rules.kinds[fixture.game];
    let found = differences(&rules.contest, kind, fixture, &heard.header);
    if !found.is_empty() {
        return Err(format!("game {number}: {}", found.join("; ")));
    }
    apart.get_or_insert_with(|| heard.header.sandbox.clone());
    Ok(heard.record(&rules.contest, fixture, transcript).map(Box::new))
}
