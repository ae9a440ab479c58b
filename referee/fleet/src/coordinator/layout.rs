//! What a contest has on the server: made when it begins, found when it goes on, taken away when it
//! is over.

use crate::bundles::{Packed, Reading, is_there, put};
use crate::connect::Connection;
use crate::link::{CALL, contests, kept, next, within};
use crate::messages::FORM;
use crate::names::{BRIEF, CONTESTS, COORDINATOR, WORKERS};
use crate::{Announcement, Brief, Names};
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::{
    Config, ConsumerErrorKind, DiscardPolicy, RetentionPolicy, StorageType,
};
use referee_process::Failure;
use referee_protocol::plain::hex;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::time::Duration;

/// How long the server remembers which messages it has. What is sent again later is there twice, and
/// does no harm: the first report of a game counts.
const REMEMBERED: Duration = Duration::from_secs(120);
/// How long a report may be looked at, and wait to be durable, before it is handed out again.
const REPORT_LEASE: Duration = Duration::from_secs(120);

/// What is told to workers, and what it is kept from.
#[derive(Debug)]
pub(super) struct Layout {
    /// Its names.
    pub(super) names: Names,
    /// The brief.
    pub(super) brief: Brief,
    /// The agents' files, as long as they may be needed: the server can lose them.
    pub(super) packed: Packed,
    /// When the contest was begun or resumed, RFC 3339.
    pub(super) since: String,
}

impl Layout {
    /// Of a contest that was begun then, and goes on now.
    pub(super) fn of(brief: Brief, packed: Packed, begun: &str) -> Self {
        let since = jiff::Timestamp::now().to_string();
        Self { names: Names::of(&brief.contest, begun), brief, packed, since }
    }

    /// Makes everything that isn't there yet. What is there stays, with all that waits in it; but where
    /// this run `begins`, the brief is its own, and what an earlier run was given and has not answered for
    /// is handed out again at once.
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
            within(CALL, deleted).await?;
        }
        let lease = Duration::from_millis(self.brief.lease_ms);
        for (name, subjects, a_subject, consumer) in [
            (names.orders_stream(), names.orders(), 1, consumer(WORKERS, lease)),
            (names.reports_stream(), names.reports(), -1, consumer(COORDINATOR, REPORT_LEASE)),
        ] {
            let stream = stream(name.clone(), subjects, a_subject);
            within(CALL, jetstream.create_stream(stream)).await?;
            within(CALL, jetstream.create_consumer_on_stream(consumer, name)).await?;
        }
        within(CALL, jetstream.get_or_create_stream(objects(&names.bucket()))).await?;
        let bucket = within(CALL, jetstream.get_object_store(names.bucket())).await?;
        for (bundle, path) in &self.packed.bundles {
            if !is_there(&bucket, &bundle.sha256, bundle.bytes).await {
                let file = Reading(File::open(path).map_err(|error| error.to_string())?);
                put(&bucket, &bundle.sha256, file, bundle.bytes).await?;
            }
        }
        let brief = serde_json::to_vec(&self.brief).map_err(|error| error.to_string())?;
        let length = brief.len() as u64;
        if begins || !is_there(&bucket, BRIEF, length).await {
            put(&bucket, BRIEF, brief.as_slice(), length).await?;
        }
        self.announce(connection, hex(&Sha256::digest(&brief))).await
    }

    /// Says that there is a contest; last, when all is there for whoever hears it.
    async fn announce(&self, connection: &Connection, brief_sha256: String) -> Result<(), String> {
        let jetstream = &connection.jetstream;
        // As a stream, which a bucket is: `create_key_value` first asks for what servers of 2.9 don't
        // tell, and lets messages be read directly ([`objects`]).
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
        within(CALL, jetstream.get_or_create_stream(config)).await?;
        let contests = within(CALL, jetstream.get_key_value(CONTESTS)).await?;
        let announcement = Announcement {
            form: FORM,
            name: self.brief.contest.name.clone(),
            referee: self.brief.referee.clone(),
            since: self.since.clone(),
            brief_sha256,
        };
        let value = serde_json::to_vec(&announcement).map_err(|error| error.to_string())?;
        within(CALL, contests.put(&self.names.id, value.into())).await?;
        Ok(())
    }

    /// The blocks that an earlier run has left orders for.
    pub(super) async fn found(&self, connection: &Connection) -> Result<Vec<u64>, String> {
        let stream = connection.jetstream.get_stream(self.names.orders_stream());
        let stream = within(CALL, stream).await?;
        let mut subjects = within(CALL, stream.info_with_subjects(self.names.orders())).await?;
        let mut found = Vec::new();
        while let Some((subject, _)) =
            within(CALL, async { next(&mut subjects).await.transpose() }).await?
        {
            found.extend(subject.rsplit('.').next().and_then(|block| block.parse::<u64>().ok()));
        }
        Ok(found)
    }
}

/// The bucket of objects, as a stream, which it is. Messages can't be read directly: whoever may read
/// so may have what was read, as it is, sent to any subject, past all permissions. Nobody but the
/// coordinator may write contests and briefs.
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

/// Whether an answer says that there is no such thing.
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
        duplicate_window: REMEMBERED,
        ..Config::default()
    }
}

fn consumer(name: &str, lease: Duration) -> pull::Config {
    pull::Config {
        durable_name: Some(name.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: lease,
        // Who has tried how often is counted by the coordinator.
        max_deliver: -1,
        max_ack_pending: 1 << 20,
        max_waiting: 1 << 16,
        ..pull::Config::default()
    }
}

/// Says that there is no contest any more, for now; what waits there stays for whoever goes on.
pub(super) async fn hush(connection: &Connection, names: &Names) -> Result<(), String> {
    match contests(&connection.jetstream).await? {
        Some(contests) => {
            // Not as the bucket does it, which leaves a mark for ever that everybody who looks for contests
            // would have to ask for.
            let subject = format!("{}{}", contests.prefix, names.id);
            let purge = contests.stream.purge().filter(subject);
            within(CALL, purge.into_future()).await.map(drop)
        }
        None => Ok(()),
    }
}

/// What was taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Orders that nobody had reported.
    pub orders: u64,
    /// Reports that nobody had taken in.
    pub reports: u64,
}

/// Takes everything away; `None` where nothing is there.
pub(super) async fn remove(
    connection: &Connection,
    names: &Names,
) -> Result<Option<Removed>, String> {
    hush(connection, names).await?;
    let orders = remove_stream(connection, &names.orders_stream()).await?;
    let reports = remove_stream(connection, &names.reports_stream()).await?;
    let objects = remove_stream(connection, &objects(&names.bucket()).name).await?;
    let any = orders.or(reports).or(objects).is_some();
    let removed =
        Removed { orders: orders.unwrap_or_default(), reports: reports.unwrap_or_default() };
    Ok(any.then_some(removed))
}

/// How many messages were in it; `None` where it isn't there.
async fn remove_stream(connection: &Connection, name: &str) -> Result<Option<u64>, String> {
    let Some(stream) = kept(&connection.jetstream, name).await? else { return Ok(None) };
    within(CALL, connection.jetstream.delete_stream(name)).await?;
    Ok(Some(stream.cached_info().state.messages))
}

/// What is said where it can't be made at the beginning.
pub(super) fn not_made(connection: &Connection, shown: &str, error: &str) -> Failure {
    let what = format!("{shown}: the contest can't be laid out there");
    if connection.denied().is_some() {
        return connection.failure(&what);
    }
    Failure::machine(format!("{what}: {error}")).help(
        "the server needs JetStream (`nats-server -js`), room for it, and this user the right to \
         make streams",
    )
}
