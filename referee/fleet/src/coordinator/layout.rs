//! The contest's streams and buckets on the server: created at the beginning, found when it
//! resumes, removed at the end.

use crate::bundles::{Packed, object_exists, put};
use crate::connect::Connection;
use crate::link::{call, contests, find_stream};
use crate::names::{BRIEF, CONTESTS, COORDINATOR, WORKERS};
use crate::{Announcement, BUILD, Brief, Names};
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::{
    Config, ConsumerErrorKind, DiscardPolicy, RetentionPolicy, StorageType,
};
use futures_util::TryStreamExt;
use referee_process::Failure;
use referee_protocol::encode::to_hex;
use sha2::{Digest, Sha256};
use std::time::Duration;
use tokio::fs::File;

/// How long the server remembers message ids. A later duplicate does no harm: the first report of
/// a game counts.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);
/// How long verifying and storing a report may take before the server delivers it again.
const REPORT_LEASE: Duration = Duration::from_secs(120);

/// What the coordinator puts on the server.
#[derive(Debug)]
pub(super) struct Layout {
    /// Its names.
    pub(super) names: Names,
    /// The brief.
    pub(super) brief: Brief,
    /// The agents' files, kept in case the server loses them.
    pub(super) packed: Packed,
    /// When the contest began or was resumed, RFC 3339.
    pub(super) since: String,
    /// Its share of the workers' time.
    pub(super) priority: u32,
}

impl Layout {
    /// Returns the layout of a contest that began at this time.
    pub(super) fn of(brief: Brief, packed: Packed, priority: u32, begun: &str) -> Self {
        let since = jiff::Timestamp::now().to_string();
        Self { names: Names::of(&brief.contest, begun), brief, packed, since, priority }
    }

    /// Creates what is missing and leaves the rest as it is. If this run `begins`, it also
    /// replaces the brief, and reports that an earlier run did not acknowledge are delivered again
    /// at once.
    pub(super) async fn make(&self, connection: &Connection, begins: bool) -> Result<(), String> {
        let (jetstream, names) = (&connection.jetstream, &self.names);
        if begins {
            let reports = names.reports_stream();
            let deleted = async {
                match jetstream.delete_consumer_from_stream(COORDINATOR, &reports).await {
                    Err(error) if !is_missing(&error.kind()) => Err(error),
                    _ => Ok(()),
                }
            };
            call(deleted).await?;
        }
        let lease = Duration::from_millis(self.brief.lease_ms);
        for (name, subjects, a_subject, consumer) in [
            (names.orders_stream(), names.orders(), 1, consumer(WORKERS, lease)),
            (names.reports_stream(), names.reports(), -1, consumer(COORDINATOR, REPORT_LEASE)),
        ] {
            let stream = stream(name.clone(), subjects, a_subject);
            call(jetstream.create_stream(stream)).await?;
            call(jetstream.create_consumer_on_stream(consumer, name)).await?;
        }
        call(jetstream.get_or_create_stream(objects(&names.bucket()))).await?;
        let bucket = call(jetstream.get_object_store(names.bucket())).await?;
        for (bundle, path) in &self.packed.bundles {
            if !object_exists(&bucket, &bundle.sha256, bundle.bytes).await {
                let file = File::open(path).await.map_err(|error| error.to_string())?;
                put(&bucket, &bundle.sha256, file, bundle.bytes).await?;
            }
        }
        let brief = serde_json::to_vec(&self.brief).map_err(|error| error.to_string())?;
        let length = brief.len() as u64;
        if begins || !object_exists(&bucket, BRIEF, length).await {
            put(&bucket, BRIEF, brief.as_slice(), length).await?;
        }
        self.announce(connection, to_hex(&Sha256::digest(&brief))).await
    }

    /// Announces the contest; last, when everything that workers need is there.
    async fn announce(&self, connection: &Connection, brief_sha256: String) -> Result<(), String> {
        let jetstream = &connection.jetstream;
        // Created as a stream, as which it is stored: `create_key_value` needs answers that
        // servers of version 2.9 don't give, and allows direct reads (see [`objects`]).
        let config = Config {
            name: format!("KV_{CONTESTS}"),
            subjects: vec![format!("$KV.{CONTESTS}.>")],
            storage: StorageType::File,
            discard: DiscardPolicy::New,
            max_messages_per_subject: 1,
            allow_rollup: true,
            deny_delete: true,
            ..Config::default()
        };
        call(jetstream.get_or_create_stream(config)).await?;
        let contests = call(jetstream.get_key_value(CONTESTS)).await?;
        let announcement = Announcement {
            name: self.brief.contest.name.clone(),
            referee: BUILD.to_owned(),
            since: self.since.clone(),
            priority: self.priority,
            brief_sha256,
        };
        let value = serde_json::to_vec(&announcement).map_err(|error| error.to_string())?;
        call(contests.put(&self.names.id, value.into())).await?;
        Ok(())
    }

    /// Returns the blocks for which an earlier run has left orders.
    pub(super) async fn found(&self, connection: &Connection) -> Result<Vec<u64>, String> {
        let stream = connection.jetstream.get_stream(self.names.orders_stream());
        let stream = call(stream).await?;
        let mut subjects = call(stream.info_with_subjects(self.names.orders())).await?;
        let mut found = Vec::new();
        while let Some((subject, _)) = call(subjects.try_next()).await? {
            found.extend(subject.rsplit('.').next().and_then(|block| block.parse::<u64>().ok()));
        }
        Ok(found)
    }
}

/// The bucket of objects, as a stream. Direct reads are off: with them a client could have any
/// message sent to any subject, past all permissions, and only the coordinator may write
/// announcements and briefs.
fn objects(bucket: &str) -> Config {
    Config {
        name: format!("OBJ_{bucket}"),
        subjects: vec![format!("$O.{bucket}.C.>"), format!("$O.{bucket}.M.>")],
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        ..Config::default()
    }
}

/// Returns whether the consumer or its stream does not exist.
fn is_missing(kind: &ConsumerErrorKind) -> bool {
    let missing = [ErrorCode::CONSUMER_NOT_FOUND, ErrorCode::STREAM_NOT_FOUND];
    matches!(kind, ConsumerErrorKind::JetStream(error) if missing.contains(&error.error_code()))
}

fn stream(name: String, subject: String, a_subject: i64) -> Config {
    Config {
        name,
        subjects: vec![subject],
        retention: RetentionPolicy::WorkQueue,
        storage: StorageType::File,
        discard: DiscardPolicy::Old,
        max_messages_per_subject: a_subject,
        duplicate_window: DUPLICATE_WINDOW,
        ..Config::default()
    }
}

fn consumer(name: &str, lease: Duration) -> pull::Config {
    pull::Config {
        durable_name: Some(name.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: lease,
        // The coordinator counts the attempts.
        max_deliver: -1,
        max_ack_pending: 1 << 20,
        max_waiting: 1 << 16,
        ..pull::Config::default()
    }
}

/// Removes the contest's announcement; its orders and reports stay.
pub(super) async fn retract(connection: &Connection, names: &Names) -> Result<(), String> {
    match contests(&connection.jetstream).await? {
        Some(contests) => {
            // Not by the library, which leaves a tombstone that every later search would have to
            // read.
            let subject = format!("{}{}", contests.prefix, names.id);
            let purge = contests.stream.purge().filter(subject);
            call(purge.into_future()).await.map(drop)
        }
        None => Ok(()),
    }
}

/// What was removed from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Withdrawn {
    /// Orders without a report.
    pub orders: u64,
    /// Reports that the coordinator had not taken.
    pub reports: u64,
}

/// Removes everything; `None` if there is nothing.
pub(super) async fn remove(
    connection: &Connection,
    names: &Names,
) -> Result<Option<Withdrawn>, String> {
    retract(connection, names).await?;
    let orders = remove_stream(connection, &names.orders_stream()).await?;
    let reports = remove_stream(connection, &names.reports_stream()).await?;
    let objects = remove_stream(connection, &objects(&names.bucket()).name).await?;
    let any = orders.or(reports).or(objects).is_some();
    let removed =
        Withdrawn { orders: orders.unwrap_or_default(), reports: reports.unwrap_or_default() };
    Ok(any.then_some(removed))
}

/// Removes a stream and returns the number of its messages; `None` if it does not exist.
async fn remove_stream(connection: &Connection, name: &str) -> Result<Option<u64>, String> {
    let Some(stream) = find_stream(&connection.jetstream, name).await? else { return Ok(None) };
    call(connection.jetstream.delete_stream(name)).await?;
    Ok(Some(stream.cached_info().state.messages))
}

/// Returns the failure for a contest that can't be created on the server.
pub(super) fn create_failure(connection: &Connection, shown: &str, error: &str) -> Failure {
    let what = format!("{shown}: can't create the contest on this server");
    if connection.denied().is_some() {
        return connection.failure(&what);
    }
    Failure::machine(format!("{what}: {error}")).help(
        "the server needs JetStream (`nats-server -js`) and free disk space, and this user \
         permission to create streams",
    )
}
