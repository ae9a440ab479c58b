//! What came of an order goes to the coordinator, whenever the server can be reached.

use super::hands::Held;
use super::playing::Packed;
use super::session::Session;
use crate::connect::Connection;
use crate::link::{CALL, kept, within};
use crate::messages::with_bytes;
use crate::{FaultCause, Names, Parcel, Report, Try, WorkerFault};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::ObjectStore;
use std::fs::File;
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, ReadBuf};

/// What a message has beside its bytes, at most: subject, headers.
const ROOM_BYTES: usize = 4096;
/// How long an object may take: so long, and as long again for so many bytes.
const OBJECT: (Duration, u64) = (Duration::from_secs(20), 4 << 20);
/// How long to wait after the first failure; it doubles up to the other.
const AGAIN: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));

/// How long a report may be refused before others are to play the order, and how long it waits for
/// anything else before people are told.
const REFUSED: Duration = Duration::from_secs(120);

/// What came of an order: its matches, or why there are none.
pub(super) type Outcome = Result<Vec<Packed>, WorkerFault>;

/// Reports until the server has it, then answers for the order; false where the server won't have it
/// from this worker. What it has no room for is kept until it has: the server may be mended at any time, and
/// a worker has no more orders than places for them. Can be dropped at any time.
pub(super) async fn report(session: &Session, held: &Held, outcome: &Outcome) -> bool {
    let mut wait = AGAIN.0;
    let mut lost = None;
    let (mut refused, mut waited) = (None, Some(Instant::now()));
    let acker = loop {
        // The order may come again meanwhile, under another lease or as another attempt.
        let attempt = held.attempt();
        let outcome = lost.as_ref().unwrap_or(outcome);
        match publish(session, held.block(), attempt, outcome).await {
            Ok(()) => {
                if let Some(acker) = held.done(attempt) {
                    break acker;
                }
            }
            Err(Trouble::Files(error)) => {
                lost = Some(Err(WorkerFault::new(FaultCause::Disk, error)));
            }
            Err(Trouble::Server(error)) => {
                tracing::debug!("the report on block {}: {error}", held.block());
                refused = if is_refused(&session.connection, &session.joined.names).await {
                    refused.or_else(|| Some(Instant::now()))
                } else {
                    None
                };
                if refused.is_some_and(|since| since.elapsed() > REFUSED) {
                    tracing::warn!("the server doesn't take the report on a block: {error}");
                    return false;
                }
                if session.connection.is_up() && waited.is_some_and(|it| it.elapsed() > REFUSED) {
                    waited = None;
                    tracing::warn!("a report waits until the server has room for it: {error}");
                }
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(AGAIN.1);
            }
        }
    };
    // Should that fail, the order comes again, and somebody plays it for nothing.
    if let Err(error) = within(CALL, acker.double_ack()).await {
        tracing::debug!("block {} is not acknowledged: {error}", held.block());
    }
    true
}

/// Whether a server that is there won't have a report of this contest from this worker: it may not, or
/// there is nothing any more to put it into. A server whose disk is full answers anything, or nothing.
async fn is_refused(connection: &Connection, names: &Names) -> bool {
    if !connection.is_up() {
        return false;
    }
    if connection.denied().is_some_and(|denied| denied.is_about(&names.id)) {
        return true;
    }
    for stream in [names.reports_stream(), format!("OBJ_{}", names.bucket())] {
        if matches!(kept(&connection.jetstream, &stream).await, Ok(None)) {
            return true;
        }
    }
    false
}

/// Why a report is not with the server.
enum Trouble {
    /// The transcripts can't be read any more.
    Files(io::Error),
    /// The server doesn't take it.
    Server(String),
}

impl From<String> for Trouble {
    fn from(error: String) -> Self {
        Self::Server(error)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Files(error)
    }
}

async fn publish(
    session: &Session,
    block: u64,
    attempt: u32,
    outcome: &Outcome,
) -> Result<(), Trouble> {
    let worker = session.info.id.clone();
    let id = format!("{block}-{attempt}-{worker}");
    let (matches, fault) = match outcome {
        Ok(matches) => (matches.as_slice(), None),
        Err(fault) => (&[][..], Some(fault.clone())),
    };
    let within_one = |packed: &Packed| Parcel::Message { bytes: packed.bytes };
    let mut report = Report { block, attempt, worker, tries: tries(matches, within_one), fault };
    let room = session.connection.client.max_payload().saturating_sub(ROOM_BYTES);
    let message = if let Some(message) = message(&report, matches, room) {
        message?
    } else {
        for packed in matches {
            put(&session.joined.bucket, packed).await?;
        }
        let apart = |it: &Packed| Parcel::Object { sha256: it.sha256.clone(), bytes: it.bytes };
        report.tries = tries(matches, apart);
        with_bytes(&report, &[])
    };
    let publish = PublishMessage::build().payload(message.into()).message_id(id);
    let subject = session.joined.names.report(block);
    let sent = within(CALL, session.connection.jetstream.send_publish(subject, publish)).await?;
    within(CALL, sent.into_future()).await?;
    Ok(())
}

fn tries(matches: &[Packed], parcel: impl Fn(&Packed) -> Parcel) -> Vec<Try> {
    let one = |packed: &Packed| Try { number: packed.number, transcript: parcel(packed) };
    matches.iter().map(one).collect()
}

/// The whole report as one message, if it fits into so many bytes.
fn message(report: &Report, matches: &[Packed], room: usize) -> Option<io::Result<Vec<u8>>> {
    let line = with_bytes(report, &[]);
    let bytes: u64 = matches.iter().map(|packed| packed.bytes).sum();
    if bytes.saturating_add(line.len() as u64) > room as u64 {
        return None;
    }
    let read = || {
        let mut all = line;
        for packed in matches {
            File::open(&packed.path)?.take(packed.bytes).read_to_end(&mut all)?;
        }
        Ok(all)
    };
    Some(read())
}

/// Puts a transcript into the contest's bucket, unless it is there.
async fn put(bucket: &ObjectStore, packed: &Packed) -> Result<(), Trouble> {
    let name = packed.sha256.as_str();
    let known = within(CALL, bucket.info(name)).await;
    if known.is_ok_and(|it| !it.deleted && it.size as u64 == packed.bytes) {
        return Ok(());
    }
    let mut file = Reading(File::open(&packed.path)?);
    let pieces = u32::try_from(packed.bytes / OBJECT.1 + 1).unwrap_or(u32::MAX);
    let limit = OBJECT.0.saturating_mul(pieces);
    within(limit, bucket.put(name, &mut file)).await?;
    Ok(())
}

/// A file that was just written and is read again: there is nothing to wait for.
struct Reading(File);

impl AsyncRead for Reading {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.0.read(buffer.initialize_unfilled());
        Poll::Ready(read.map(|length| buffer.advance(length)))
    }
}

#[cfg(test)]
mod tests {
    use super::is_refused;
    use crate::Names;
    use crate::coordinator::tests::server;
    use async_nats::jetstream::stream::{Config, DiscardPolicy};

    #[test]
    fn no_room_for_a_report_is_no_refusal() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let place = tempfile::tempdir().unwrap();
            let Some((mut running, connection)) = server(place.path()).await else { return };
            let names = Names::new("0123456789abcdef").unwrap();
            assert!(is_refused(&connection, &names).await, "there is no contest");
            for (name, subject) in [
                (names.reports_stream(), names.reports()),
                (format!("OBJ_{}", names.bucket()), format!("$O.{}.C.>", names.bucket())),
            ] {
                let config = Config {
                    name,
                    subjects: vec![subject],
                    max_bytes: 1000,
                    discard: DiscardPolicy::New,
                    ..Config::default()
                };
                connection.jetstream.create_stream(config).await.unwrap();
            }
            let report = vec![b'x'; 2000];
            let sent = connection.jetstream.publish(names.report(1), report.into()).await.unwrap();
            sent.await.unwrap_err();
            assert!(!is_refused(&connection, &names).await);
            connection.jetstream.delete_stream(names.reports_stream()).await.unwrap();
            assert!(is_refused(&connection, &names).await);
            running.end();
            connection.up.clone().wait_for(|up| !up).await.unwrap();
            assert!(!is_refused(&connection, &names).await, "it can't be asked");
        });
    }
}
