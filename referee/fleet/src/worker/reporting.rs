//! Sends reports to the coordinator, when the server can be reached.

use super::leases::HeldOrder;
use super::playing::{Outcome, PackedTranscript};
use super::session::Session;
use crate::bundles::{object_exists, put};
use crate::link::{self, call};
use crate::messages::with_bytes;
use crate::{FaultCause, PlayedMatch, Report, WorkerFault};
use async_nats::jetstream::object_store::ObjectStore;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::time::{Duration, Instant};

/// The maximum overhead of a message besides its bytes: subject and headers.
const OVERHEAD_BYTES: usize = 4096;
/// The first and the longest delay between attempts; it doubles.
const RETRY_DELAY: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));

/// How long a connected server may refuse a report before other workers play the order: this one may lack
/// a permission, or the server disk space.
const PATIENCE: Duration = Duration::from_secs(300);

/// Sends a report until the server has it, then acknowledges the order. Returns false if the
/// server refuses it. Cancel safe.
pub(super) async fn report(session: &Session, held: &HeldOrder, outcome: &Outcome) -> bool {
    let mut wait = RETRY_DELAY.0;
    let (mut lost, mut refused) = (None, None);
    let acker = loop {
        // Meanwhile the order may arrive again with another lease or attempt.
        let attempt = held.attempt();
        let outcome = lost.as_ref().unwrap_or(outcome);
        match publish(session, held.block, attempt, outcome).await {
            Ok(()) => {
                if let Some(acker) = held.done(attempt) {
                    break acker;
                }
            }
            Err(PublishError::Files(error)) => {
                lost = Some(Err(WorkerFault::new(FaultCause::Disk, error)));
            }
            Err(PublishError::Server(error)) => {
                tracing::debug!("can't send the report on block {} yet: {error}", held.block);
                let since = *refused.get_or_insert_with(Instant::now);
                if !session.connection.is_up() {
                    refused = None;
                } else if since.elapsed() > PATIENCE {
                    tracing::warn!("the server refuses the report on a block: {error}");
                    return false;
                }
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(RETRY_DELAY.1);
            }
        }
    };
    // If this fails the order is delivered again, and is played for nothing.
    if let Err(error) = call(acker.double_ack()).await {
        tracing::debug!("block {} is not acknowledged: {error}", held.block);
    }
    true
}

/// Why a report was not sent.
enum PublishError {
    /// The transcripts can't be read any more.
    Files(io::Error),
    /// The server did not accept it.
    Server(String),
}

impl From<String> for PublishError {
    fn from(error: String) -> Self {
        Self::Server(error)
    }
}

impl From<io::Error> for PublishError {
    fn from(error: io::Error) -> Self {
        Self::Files(error)
    }
}

async fn publish(
    session: &Session,
    block: u64,
    attempt: u32,
    outcome: &Outcome,
) -> Result<(), PublishError> {
    let worker = session.info.id.clone();
    let id = format!("{block}-{attempt}-{worker}");
    let (matches, fault) = match outcome {
        Ok(matches) => (matches.as_slice(), None),
        Err(fault) => (&[][..], Some(fault.clone())),
    };
    let tries =
        matches.iter().map(|&PackedTranscript { number, bytes, .. }| PlayedMatch { number, bytes });
    let tries = tries.collect();
    let mut report = Report { block, attempt, worker, tries, in_object: false, fault };
    let mut message = with_bytes(&report, &[]);
    let bytes: u64 = matches.iter().map(|packed| packed.bytes).sum();
    let room = session.connection.client.max_payload().saturating_sub(OVERHEAD_BYTES);
    if bytes.saturating_add(message.len() as u64) <= room as u64 {
        append(matches, &mut message)?;
    } else {
        report.in_object = true;
        message = with_bytes(&report, &[]);
        if let Some(name) = report.object() {
            send_object(&session.contest.bucket, &name, bytes, matches).await?;
        }
    }
    let subject = session.contest.announced.names.report(block);
    link::publish(&session.connection.jetstream, subject, id, message).await?;
    Ok(())
}

/// Appends the transcripts.
fn append(matches: &[PackedTranscript], into: &mut impl Write) -> io::Result<()> {
    for packed in matches {
        io::copy(&mut File::open(&packed.path)?.take(packed.bytes), into)?;
    }
    Ok(())
}

/// Puts the transcripts into the contest's bucket as one object, unless it is there. It is removed
/// with the bucket.
async fn send_object(
    bucket: &ObjectStore,
    name: &str,
    bytes: u64,
    matches: &[PackedTranscript],
) -> Result<(), PublishError> {
    if !object_exists(bucket, name, bytes).await {
        let mut all = tempfile::tempfile()?;
        append(matches, &mut all)?;
        all.rewind()?;
        put(bucket, name, tokio::fs::File::from_std(all), bytes).await?;
    }
    Ok(())
}
