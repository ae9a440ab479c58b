//! A report is looked at: its transcripts are played again by the rules, and compared with what was
//! ordered. Whatever a worker says beside them counts for nothing.

use super::looking::{Looking, too_long};
use crate::bundles::{ObjectError, names_pieces, read_object};
use crate::connect::Connection;
use crate::link::{CALL, there, within};
use crate::{Parcel, Report};
use base64::prelude::{BASE64_URL_SAFE, Engine};
use referee_contest::{Contest, Fixture, Record};
use referee_games::GameKind;
use referee_protocol::Sandbox;
use referee_protocol::plain::hex;
use referee_runner::field::Came;
use referee_runner::folder::Folder;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tokio::task::{JoinError, JoinSet};

/// So many bytes of packed transcripts are had before they are looked at.
const BATCH_BYTES: usize = 1 << 20;
/// See [`Rules`].
pub(super) const HELD_BYTES_MAX: usize = 64 << 20;
/// So many bytes of a transcript one byte that an agent says comes to at most: `{"type":"info"}` is the
/// shortest line that it may send as often as it likes, and comes to five times as much.
const A_BYTE_SAID: u64 = 8;
/// How long to wait when an object can't be had for the first time; it doubles.
const AGAIN: Duration = Duration::from_secs(1);
/// So often an object is asked for while the server is there.
const ASKED: u32 = 4;

/// What is known of a contest by whoever looks at its reports.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) contest: Arc<Contest>,
    pub(super) kinds: Vec<GameKind>,
    pub(super) folder: Folder,
    /// The unpacked transcripts of a report that are held in memory have no more bytes together; what is
    /// beyond goes to the disk.
    pub(super) held_bytes_max: usize,
    /// No transcript has more bytes, be it packed or not.
    pub(super) transcript_bytes_max: usize,
    /// Who has a transcript in memory that is longer than all that may be held: one at a time.
    pub(super) long: Arc<Mutex<()>>,
}

impl Rules {
    /// Those of a contest.
    pub(super) fn of(contest: Arc<Contest>, kinds: Vec<GameKind>, folder: Folder) -> Self {
        let seats = contest.games.iter().map(|game| game.seats as u64).max().unwrap_or(0);
        let said = contest.limits.match_bytes.saturating_mul(seats);
        let most = said.saturating_mul(A_BYTE_SAID).saturating_add(HELD_BYTES_MAX as u64);
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

/// What the schedule says of games, by number, and whether each has a result already.
pub(super) type Fixtures = BTreeMap<u64, (Fixture, bool)>;

/// What came of a report.
#[derive(Debug)]
pub(super) struct Judged {
    /// Its number in the stream.
    pub(super) number: u64,
    pub(super) report: Report,
    pub(super) finding: Result<Finding, String>,
}

impl Judged {
    /// What came of a report that is looked at as `judging` does. Whatever goes wrong with that is told as
    /// something that is wrong with the report: nobody waits for it for ever.
    pub(super) async fn of(
        number: u64,
        report: Report,
        judging: impl Future<Output = Result<Finding, String>> + Send + 'static,
    ) -> Self {
        // A set ends what is in it when nobody waits any more.
        let mut task = JoinSet::new();
        task.spawn(judging);
        let finding = match task.join_next().await {
            Some(Ok(finding)) => finding,
            Some(Err(error)) => Err(broken(&error)),
            None => std::future::pending().await,
        };
        Self { number, report, finding }
    }
}

/// What is compared where a game was played twice: its moves, and who came where.
pub(super) type Said = (String, Vec<u32>);

pub(super) fn said(record: &Record) -> Said {
    (record.moves.clone(), record.places.clone())
}

/// What a report says, if nothing is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Finding {
    /// Games that had no result.
    pub(super) came: Vec<Came>,
    /// What it says of games that have one.
    pub(super) known: Vec<Record>,
    /// What the store says of them.
    pub(super) before: BTreeMap<u64, Said>,
    /// What kept agents apart.
    pub(super) apart: Option<Sandbox>,
    /// The names of the objects that all this was in.
    pub(super) objects: Vec<String>,
}

/// Where transcripts are that didn't fit their message.
pub(super) trait Objects: Send {
    /// The bytes of an object, which are no more than `most`; `None` where there is none. Waits for
    /// as long as the server is away, and however slow the way is. An error is that the server is
    /// there and doesn't give it.
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

/// Looks at a report, with the bytes that came with it, as soon as all that belongs to it can be had.
/// An error is why its worker has failed.
pub(super) async fn judge(
    report: Report,
    bytes: Vec<u8>,
    fixtures: Fixtures,
    rules: Arc<Rules>,
    objects: impl Objects,
) -> Result<Finding, String> {
    if let Some(fault) = report.fault {
        return Err(fault.text);
    }
    if report.tries.is_empty() {
        return Err("its report has no games".to_owned());
    }
    let (most, long) = (rules.transcript_bytes_max, rules.held_bytes_max);
    let mut rest = bytes.as_slice();
    let (mut batch, mut held) = (Vec::new(), 0);
    let mut looking = Looking::at(&report, fixtures, rules);
    for one in &report.tries {
        let parcel = match &one.transcript {
            Parcel::Message { bytes } => {
                let parcel = usize::try_from(*bytes).ok().and_then(|it| rest.split_at_checked(it));
                let (parcel, after) = parcel
                    .ok_or_else(|| format!("the transcript of game {} is missing", one.number))?;
                rest = after;
                Some(parcel.to_vec())
            }
            Parcel::Object { sha256, bytes } => {
                let bytes = usize::try_from(*bytes).ok().filter(|&bytes| bytes <= most);
                let bytes = bytes.ok_or_else(|| too_long(one.number, most))?;
                if bytes > long {
                    looking.hold_long().await;
                }
                let there = object(&objects, sha256, bytes).await?;
                if there.is_some() {
                    looking.is_in(sha256);
                } else if !looking.knows(one.number) {
                    return Err("a transcript is not there".to_owned());
                }
                there
            }
        };
        held += parcel.as_ref().map_or(0, Vec::len);
        batch.push(parcel);
        if held >= BATCH_BYTES {
            held = 0;
            looking = apart(looking, std::mem::take(&mut batch), |looking| looking).await?;
        }
    }
    apart(looking, batch, Looking::finish).await
}

/// Looks at transcripts, and then does this, on a thread where that may take its time.
async fn apart<T: Send + 'static>(
    mut looking: Looking,
    parcels: Vec<Option<Vec<u8>>>,
    then: fn(Looking) -> T,
) -> Result<T, String> {
    let looked = tokio::task::spawn_blocking(move || {
        parcels.iter().try_for_each(|parcel| looking.look(parcel.as_deref()))?;
        drop(parcels);
        looking.release_long();
        Ok(then(looking))
    });
    looked.await.unwrap_or_else(|error| Err(broken(&error)))
}

/// What is said of a report that nobody could look at to the end.
fn broken(error: &JoinError) -> String {
    format!("its report can't be looked at: {error}")
}

/// An object, if it is the one that was reported; `None` where it is not there.
async fn object(
    objects: &impl Objects,
    sha256: &str,
    bytes: usize,
) -> Result<Option<Vec<u8>>, String> {
    if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err("a transcript has a name that is none".to_owned());
    }
    let Some(fetched) = objects.fetch(sha256, bytes).await? else { return Ok(None) };
    let same = fetched.len() == bytes && hex(&Sha256::digest(&fetched)) == sha256;
    same.then_some(Some(fetched))
        .ok_or_else(|| "a transcript is not the one that was reported".to_owned())
}

impl Objects for Bucket {
    async fn fetch(&self, name: &str, most: usize) -> Result<Option<Vec<u8>>, String> {
        let (jetstream, bucket) = (&self.connection.jetstream, self.name.as_str());
        let attempt = async || match read_object(jetstream, bucket, name, most as u64).await {
            Err(ObjectError::Missing) => Ok(None),
            read => read.map(Some),
        };
        ask(self.connection.up.clone(), AGAIN, attempt).await
    }
}

impl Bucket {
    /// Takes objects away. Those that can't be taken away now go with the bucket.
    pub(super) async fn remove(&self, names: &[String]) {
        for name in names {
            if let Err(error) = self.remove_one(name).await {
                tracing::debug!("a transcript stays at the server: {error}");
            }
        }
    }

    async fn remove_one(&self, name: &str) -> Result<(), String> {
        let (jetstream, bucket) = (&self.connection.jetstream, &self.name);
        let store = within(CALL, jetstream.get_object_store(bucket)).await?;
        let object = within(CALL, store.info(name)).await?;
        let stream = within(CALL, jetstream.get_stream_no_info(format!("OBJ_{bucket}"))).await?;
        // The library would leave a note of each object that was there. What it is called comes first:
        // what has no name isn't looked for.
        let mut subjects = vec![format!("$O.{bucket}.M.{}", BASE64_URL_SAFE.encode(name))];
        if names_pieces(&object.nuid) {
            subjects.push(format!("$O.{bucket}.C.{}", object.nuid));
        }
        for subject in subjects {
            within(CALL, stream.purge().filter(subject).into_future()).await?;
        }
        Ok(())
    }
}

/// Asks for an object until it is there, or was asked for often enough while the connection was up.
async fn ask<T, E: Display, F: Future<Output = Result<T, E>>>(
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

#[cfg(test)]
mod tests;
