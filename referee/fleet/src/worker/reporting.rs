//! What came of an order goes to the coordinator, whenever the server can be reached.

use super::hands::Held;
use super::playing::{Outcome, Packed};
use super::session::Session;
use crate::bundles::{Reading, is_there, put};
use crate::connect::Connection;
use crate::link::{CALL, kept, within};
use crate::messages::with_bytes;
use crate::{FaultCause, Names, Parcel, Report, Try, WorkerFault};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::ObjectStore;
use std::fs::File;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// What a message has beside its bytes, at most: subject, headers.
const ROOM_BYTES: usize = 4096;
/// How long to wait after the first failure; it doubles up to the other.
const AGAIN: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));

/// How long a report may be refused before others are to play the order, and how long it waits for
/// anything else before people are told.
const REFUSED: Duration = Duration::from_secs(120);

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
    let mut message = with_bytes(&report, &[]);
    let bytes: u64 = matches.iter().map(|packed| packed.bytes).sum();
    let room = session.connection.client.max_payload().saturating_sub(ROOM_BYTES);
    if bytes.saturating_add(message.len() as u64) <= room as u64 {
        for packed in matches {
            File::open(&packed.path)?.take(packed.bytes).read_to_end(&mut message)?;
        }
    } else {
        for packed in matches {
            send(&session.joined.bucket, packed).await?;
        }
        let apart = |it: &Packed| Parcel::Object { sha256: it.sha256.clone(), bytes: it.bytes };
        report.tries = tries(matches, apart);
        message = with_bytes(&report, &[]);
    }
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

/// Puts a transcript into the contest's bucket, unless it is there.
async fn send(bucket: &ObjectStore, packed: &Packed) -> Result<(), Trouble> {
    if !is_there(bucket, &packed.sha256, packed.bytes).await {
        let file = Reading(File::open(&packed.path)?);
        put(bucket, &packed.sha256, file, packed.bytes).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_refused;
    use crate::Names;
    use crate::coordinator::tests::at_server;
    use async_nats::jetstream::stream::{Config, DiscardPolicy};

    #[test]
    fn no_room_for_a_report_is_no_refusal() {
        at_server(async |_, connection, mut running| {
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
