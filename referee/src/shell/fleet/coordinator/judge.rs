//! A report is looked at: its transcripts are played again by the rules, and compared with what was
//! ordered. Whatever a worker says beside them counts for nothing.

use crate::contest::audit::{Heard, differences, hear};
use crate::contest::{Contest, Fixture, Record, Void};
use crate::failure::Failure;
use crate::fleet::{Parcel, Report};
use crate::plain::hex;
use crate::shell::contest::disk_failure;
use crate::shell::contest::field::{Came, Missed, Spoiled};
use crate::shell::contest::folder::Folder;
use crate::shell::fleet::connect::Connection;
use crate::shell::fleet::link::{CALL, there, within};
use crate::shell::fleet::live::settle;
use crate::transcript::{is_packed, unpack};
use async_nats::jetstream::object_store::{GetErrorKind, ObjectStore};
use referee_games::Kind;
use referee_protocol::Sandbox;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio::task::JoinError;

/// The transcripts of a report have no more bytes together, be they packed or not. Those of a match
/// have some MB at most.
pub(super) const BYTES_MAX: usize = 64 << 20;
/// How long to wait when an object can't be had for the first time; it doubles.
const AGAIN: Duration = Duration::from_secs(1);
/// So often an object is asked for while the server is there.
const ASKED: u32 = 4;
/// How long one byte of an object may take.
const A_BYTE: Duration = Duration::from_micros(1);

/// What ends matches on a worker and is its own affair.
const NOT_REPORTED: [&str; 2] = ["interrupted", "disk_full"];

/// What is known of a contest by whoever looks at its reports.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) contest: Arc<Contest>,
    pub(super) kinds: Vec<Kind>,
    pub(super) folder: Folder,
    /// The transcripts of a report have no more bytes together, be they packed or not.
    pub(super) bytes_max: usize,
}

/// A report that is to be looked at.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) report: Report,
    /// The bytes that came with it.
    pub(super) bytes: Vec<u8>,
    /// What the schedule says of its games, and whether each has a result already.
    pub(super) fixtures: BTreeMap<u64, (Fixture, bool)>,
}

/// What came of a report.
#[derive(Debug)]
pub(super) struct Judged {
    /// Its number in the stream.
    pub(super) number: u64,
    pub(super) report: Report,
    pub(super) finding: Result<Finding, String>,
}

/// What a report says, if nothing is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Finding {
    /// Games that had no result.
    pub(super) came: Vec<Came>,
    /// What it says of games that have one.
    pub(super) known: Vec<Record>,
    /// What kept agents apart.
    pub(super) apart: Option<Sandbox>,
}

/// Where transcripts are that didn't fit their message.
pub(super) trait Objects: Send {
    /// The bytes of an object, no more than one above `most`; `None` where there is none. Waits for
    /// as long as the server is away. An error is that the server is there and doesn't give it.
    fn fetch(
        &self,
        name: &str,
        most: usize,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, String>> + Send;
}

/// The contest's bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) connection: Connection,
    pub(super) name: String,
}

/// Looks at a report, as soon as all that belongs to it can be had.
pub(super) async fn judge(
    case: Case,
    rules: Arc<Rules>,
    objects: impl Objects,
) -> Result<Finding, String> {
    if case.report.fault.is_some() {
        return Ok(Finding::default());
    }
    let parcels = gather(&case, rules.bytes_max, &objects).await?;
    let looked = tokio::task::spawn_blocking(move || look(&case, parcels, &rules));
    looked.await.unwrap_or_else(|error| Err(broken(&error)))
}

/// What is said of a report that nobody could look at to the end.
pub(super) fn broken(error: &JoinError) -> String {
    format!("its report can't be looked at: {error}")
}

/// The packed transcripts of a report, wherever they are.
async fn gather(
    case: &Case,
    bytes_max: usize,
    objects: &impl Objects,
) -> Result<Vec<Vec<u8>>, String> {
    let mut rest = case.bytes.as_slice();
    let mut parcels = Vec::with_capacity(case.report.tries.len());
    let mut room = bytes_max;
    for one in &case.report.tries {
        match &one.transcript {
            Parcel::Message { bytes } => {
                let parcel = usize::try_from(*bytes).ok().and_then(|it| rest.split_at_checked(it));
                let Some((parcel, after)) = parcel else {
                    return Err(format!("the transcript of game {} is missing", one.number));
                };
                parcels.push(parcel.to_vec());
                rest = after;
            }
            Parcel::Object { sha256, bytes } => {
                let bytes = usize::try_from(*bytes).unwrap_or(usize::MAX);
                room = room
                    .checked_sub(bytes)
                    .ok_or_else(|| format!("the transcripts have more than {bytes_max} bytes"))?;
                parcels.push(object(objects, sha256, bytes).await?);
            }
        }
    }
    Ok(parcels)
}

/// An object, if it is the one that was reported.
async fn object(objects: &impl Objects, sha256: &str, bytes: usize) -> Result<Vec<u8>, String> {
    if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err("a transcript has a name that is none".to_owned());
    }
    let fetched = objects.fetch(sha256, bytes).await?.ok_or("a transcript is not there")?;
    let same = fetched.len() == bytes && hex(&Sha256::digest(&fetched)) == sha256;
    same.then_some(fetched)
        .ok_or_else(|| "a transcript is not the one that was reported".to_owned())
}

impl Objects for Bucket {
    async fn fetch(&self, name: &str, most: usize) -> Result<Option<Vec<u8>>, String> {
        let limit = CALL + A_BYTE * u32::try_from(most).unwrap_or(u32::MAX);
        let (jetstream, bucket) = (&self.connection.jetstream, self.name.as_str());
        let attempt = move || {
            within(limit, async move {
                let bucket = jetstream.get_object_store(bucket).await;
                let bucket = bucket.map_err(|error| error.to_string())?;
                read(&bucket, name, most).await
            })
        };
        ask(self.connection.up.clone(), AGAIN, attempt).await
    }
}

/// Asks for an object until it is there, or was asked for often enough while the connection was up.
async fn ask<T, F: Future<Output = Result<T, String>>>(
    mut up: watch::Receiver<bool>,
    mut wait: Duration,
    mut attempt: impl FnMut() -> F,
) -> Result<T, String> {
    let mut asked = 0;
    loop {
        up.mark_unchanged();
        let error = match attempt().await {
            Ok(there) => return Ok(there),
            Err(error) => error,
        };
        tracing::debug!("a transcript can't be had: {error}");
        if *up.borrow() && !up.has_changed().unwrap_or(false) {
            asked += 1;
            if asked >= ASKED {
                return Err(format!("a transcript can't be read: {error}"));
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        } else {
            tokio::time::sleep(wait).await;
            there(up.clone()).await;
        }
    }
}

/// The bytes of an object, no more than one above `most`; `None` where there is none.
async fn read(bucket: &ObjectStore, name: &str, most: usize) -> Result<Option<Vec<u8>>, String> {
    let object = match bucket.get(name).await {
        Ok(object) => object,
        Err(error) if error.kind() == GetErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut bytes = Vec::new();
    let read = object.take(most as u64 + 1).read_to_end(&mut bytes).await;
    read.map(|_| Some(bytes)).map_err(|error| error.to_string())
}

/// What a report says. Nothing of it is written unless all of it is as it should be.
fn look(case: &Case, parcels: Vec<Vec<u8>>, rules: &Rules) -> Result<Finding, String> {
    let mut finding = Finding::default();
    let mut room = rules.bytes_max;
    let mut spoiled: BTreeMap<u64, Vec<Spoiled>> = BTreeMap::new();
    let mut done = BTreeSet::new();
    let mut files: Vec<(u64, PathBuf, Vec<u8>)> = Vec::new();
    for (index, (one, parcel)) in case.report.tries.iter().zip(parcels).enumerate() {
        let number = one.number;
        let (fixture, known) = case
            .fixtures
            .get(&number)
            .ok_or_else(|| format!("game {number} is none of block {}", case.report.block))?;
        if done.contains(&number) {
            return Err(format!("game {number} was played again though it counts"));
        }
        let bytes = unpack(&parcel, room)
            .ok_or_else(|| format!("game {number}: more than {} bytes", rules.bytes_max))?
            .into_owned();
        if is_packed(&bytes) {
            return Err(format!("game {number}: packed more than once"));
        }
        room -= bytes.len();
        let transcript = Folder::transcript(number);
        let path = rules.folder.path(&transcript);
        match tried(&bytes, fixture, rules, transcript, &mut finding.apart)? {
            Ok(record) if *known => finding.known.push(*record),
            Ok(record) => {
                files.push((number, path, bytes));
                let spoiled = spoiled.remove(&number).unwrap_or_default();
                finding.came.push(Came { number, spoiled, result: Ok(record) });
            }
            Err(_) if *known => {}
            Err(void) => {
                let attempt = Spoiled { void, transcript: Some(bytes) };
                let last = case.report.tries[index + 1..].iter().all(|it| it.number != number);
                if last && NOT_REPORTED.contains(&attempt.void.cause.as_str()) {
                    return Err(format!("game {number}: {}", attempt.void.text));
                }
                if last {
                    let spoiled = spoiled.remove(&number).unwrap_or_default();
                    let result = Err(Missed::Void(attempt));
                    finding.came.push(Came { number, spoiled, result });
                } else {
                    spoiled.entry(number).or_default().push(attempt);
                    continue;
                }
            }
        }
        done.insert(number);
    }
    for (number, path, bytes) in files {
        if let Err(error) = settle(&path, &bytes) {
            halt(&mut finding, number, &disk_failure(&path, &error));
        }
    }
    Ok(finding)
}

/// A game that can't be kept.
fn halt(finding: &mut Finding, number: u64, failure: &Failure) {
    for came in finding.came.iter_mut().filter(|came| came.number == number) {
        came.result = Err(Missed::Halt(failure.clone()));
    }
}

/// What one transcript says: a record, or why the attempt doesn't count. An error is what no match
/// can have said; nor does a worker report one that has no end.
fn tried(
    bytes: &[u8],
    fixture: &Fixture,
    rules: &Rules,
    transcript: String,
    apart: &mut Option<Sandbox>,
) -> Result<Result<Box<Record>, Void>, String> {
    let number = fixture.number;
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

#[cfg(test)]
mod tests;
