//! Verifies reports: replays their transcripts by the rules and compares them with what was
//! ordered. Nothing else that a worker reports counts.

use super::report_reader::{ReportReader, too_long};
use crate::bundles::{is_chunk_id, read_object};
use crate::connect::Connection;
use crate::link::call;
use crate::{Payload, Report};
use base64::prelude::{BASE64_URL_SAFE, Engine};
use referee_contest::{Contest, Fixture, Record};
use referee_games::GameKind;
use referee_protocol::SandboxRecord;
use referee_protocol::plain::to_hex;
use referee_runner::backend::FinishedGame;
use referee_runner::folder::Folder;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::task::{JoinError, JoinSet};

/// The bytes of packed transcripts that are read before they are verified.
const BATCH_BYTES: usize = 1 << 20;
/// See [`Rules`].
pub(super) const HELD_BYTES_MAX: usize = 64 << 20;
/// The maximum number of transcript bytes per byte that an agent writes: `{"type":"info"}` is the
/// shortest line that it may repeat, and is recorded in five times as many.
const TRANSCRIPT_BYTES_PER_BYTE: u64 = 8;
/// What is needed to verify the reports of a contest.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) contest: Arc<Contest>,
    pub(super) kinds: Vec<GameKind>,
    pub(super) folder: Folder,
    /// The maximum size of a report's unpacked transcripts in memory; what exceeds it goes to the
    /// disk.
    pub(super) held_bytes_max: usize,
    /// The maximum size of a transcript, packed or not.
    pub(super) transcript_bytes_max: usize,
    /// Held while a transcript above `held_bytes_max` is in memory: one at a time.
    pub(super) long: Arc<Mutex<()>>,
}

impl Rules {
    /// Returns the rules of a contest.
    pub(super) fn of(contest: Arc<Contest>, kinds: Vec<GameKind>, folder: Folder) -> Self {
        let seats = contest.games.iter().map(|game| game.seats as u64).max().unwrap_or(0);
        let outcome = contest.limits.match_bytes.saturating_mul(seats);
        let most =
            outcome.saturating_mul(TRANSCRIPT_BYTES_PER_BYTE).saturating_add(HELD_BYTES_MAX as u64);
        Self {
            contest,
            kinds,
            folder,
            held_bytes_max: HELD_BYTES_MAX,
            transcript_bytes_max: usize::try_from(most).unwrap_or(usize::MAX),
            long: Arc::default(),
        }
    }
}

/// Games by number, and whether each has a result already.
pub(super) type Fixtures = BTreeMap<u64, (Fixture, bool)>;

/// The result of verifying a report.
#[derive(Debug)]
pub(super) struct Judged {
    /// The report's number in the stream.
    pub(super) number: u64,
    pub(super) report: Report,
    pub(super) verified: Result<VerifiedReport, String>,
}

impl Judged {
    /// Waits for `judging`. A panic in it is an error of the report, so that nothing waits
    /// forever.
    pub(super) async fn of(
        number: u64,
        report: Report,
        judging: impl Future<Output = Result<VerifiedReport, String>> + Send + 'static,
    ) -> Self {
        // A set aborts its task when it is dropped.
        let mut task = JoinSet::new();
        task.spawn(judging);
        let verified = match task.join_next().await {
            Some(Ok(verified)) => verified,
            Some(Err(error)) => Err(judging_failed(&error)),
            None => std::future::pending().await,
        };
        Self { number, report, verified }
    }
}

/// A game's moves and places, compared when it was played twice.
pub(super) type Outcome = (String, Vec<u32>);

pub(super) fn outcome(record: &Record) -> Outcome {
    (record.moves.clone(), record.places.clone())
}

/// The contents of a valid report.
#[derive(Debug, Default)]
pub(super) struct VerifiedReport {
    /// Games that had no result.
    pub(super) came: Vec<FinishedGame>,
    /// Games that already have one.
    pub(super) known: Vec<Record>,
    /// Their outcomes in the store.
    pub(super) before: BTreeMap<u64, Outcome>,
    /// The agents' sandbox.
    pub(super) sandbox: Option<SandboxRecord>,
    /// The objects with its transcripts.
    pub(super) objects: Vec<String>,
}

/// Where transcripts that did not fit a message are read.
pub(super) trait Objects: Send {
    /// Reads an object of at most `most` bytes; `None` if there is none. Waits as long as the
    /// server is away. An error means that the server is connected and does not return the object.
    fn fetch(
        &self,
        name: &str,
        most: usize,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, String>> + Send;
}

/// The contest's bucket.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    pub(super) connection: Connection,
    pub(super) name: String,
}

/// Verifies a report and its bytes. An error is why its worker failed.
pub(super) async fn judge(
    report: Report,
    bytes: Vec<u8>,
    fixtures: Fixtures,
    rules: Arc<Rules>,
    objects: impl Objects,
) -> Result<VerifiedReport, String> {
    if let Some(fault) = report.fault {
        return Err(fault.text);
    }
    if report.tries.is_empty() {
        return Err("its report has no games".to_owned());
    }
    let (most, long) = (rules.transcript_bytes_max, rules.held_bytes_max);
    let mut rest = bytes.as_slice();
    let (mut batch, mut held) = (Vec::new(), 0);
    let mut reader = ReportReader::new(&report, fixtures, rules);
    for one in &report.tries {
        let payload = match &one.transcript {
            Payload::Message { bytes } => {
                let payload = usize::try_from(*bytes).ok().and_then(|it| rest.split_at_checked(it));
                let (payload, after) = payload
                    .ok_or_else(|| format!("the transcript of game {} is missing", one.number))?;
                rest = after;
                Some(payload.to_vec())
            }
            Payload::Object { sha256, bytes } => {
                let bytes = usize::try_from(*bytes).ok().filter(|&bytes| bytes <= most);
                let bytes = bytes.ok_or_else(|| too_long(one.number, most))?;
                if bytes > long {
                    reader.hold_long().await;
                }
                let fetched = object(&objects, sha256, bytes).await?;
                if fetched.is_some() {
                    reader.add_object(sha256);
                } else if !reader.knows(one.number) {
                    return Err("a transcript is missing on the server".to_owned());
                }
                fetched
            }
        };
        held += payload.as_ref().map_or(0, Vec::len);
        batch.push(payload);
        if held >= BATCH_BYTES {
            held = 0;
            reader = run_blocking(reader, std::mem::take(&mut batch), |reader| reader).await?;
        }
    }
    run_blocking(reader, batch, ReportReader::finish).await
}

/// Reads transcripts, then calls `then`, on a thread for blocking work.
async fn run_blocking<T: Send + 'static>(
    mut reader: ReportReader,
    payloads: Vec<Option<Vec<u8>>>,
    then: fn(ReportReader) -> T,
) -> Result<T, String> {
    let read = tokio::task::spawn_blocking(move || {
        payloads.iter().try_for_each(|payload| reader.read_next(payload.as_deref()))?;
        drop(payloads);
        reader.release_long();
        Ok(then(reader))
    });
    read.await.unwrap_or_else(|error| Err(judging_failed(&error)))
}

/// The error for a report whose task panicked.
fn judging_failed(error: &JoinError) -> String {
    format!("verifying its report failed: {error}")
}

/// Reads a reported object; `None` if there is none.
async fn object(
    objects: &impl Objects,
    sha256: &str,
    bytes: usize,
) -> Result<Option<Vec<u8>>, String> {
    if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err("a transcript has an invalid object name".to_owned());
    }
    let Some(fetched) = objects.fetch(sha256, bytes).await? else { return Ok(None) };
    let same = fetched.len() == bytes && to_hex(&Sha256::digest(&fetched)) == sha256;
    same.then_some(Some(fetched))
        .ok_or_else(|| "a transcript differs from the one that was reported".to_owned())
}

impl Objects for Bucket {
    async fn fetch(&self, name: &str, most: usize) -> Result<Option<Vec<u8>>, String> {
        let Connection { jetstream, up, .. } = &self.connection;
        let read = read_object(jetstream, up, &self.name, name, most as u64).await;
        read.map_err(|error| format!("a transcript can't be read: {error}"))
    }
}

impl Bucket {
    /// Removes objects. Those that can't be removed now go with the bucket.
    pub(super) async fn remove(&self, names: &[String]) {
        for name in names {
            if let Err(error) = self.remove_one(name).await {
                tracing::debug!("a transcript can't be removed from the server: {error}");
            }
        }
    }

    async fn remove_one(&self, name: &str) -> Result<(), String> {
        let (jetstream, bucket) = (&self.connection.jetstream, &self.name);
        let store = call(jetstream.get_object_store(bucket)).await?;
        let object = call(store.info(name)).await?;
        let stream = call(jetstream.get_stream_no_info(format!("OBJ_{bucket}"))).await?;
        // The library would leave a tombstone for each object. The name is removed first: chunks
        // without a name are never read.
        let mut subjects = vec![format!("$O.{bucket}.M.{}", BASE64_URL_SAFE.encode(name))];
        if is_chunk_id(&object.nuid) {
            subjects.push(format!("$O.{bucket}.C.{}", object.nuid));
        }
        for subject in subjects {
            call(stream.purge().filter(subject).into_future()).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
