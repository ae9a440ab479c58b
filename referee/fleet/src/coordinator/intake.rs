//! Reports from their arrival until all of their games are durable. Only then are they
//! acknowledged: until then the server delivers them again after a crash.

use super::judge::{Fixtures, Rules, VerifiedReport, judge};
use crate::bundles::read_object;
use crate::connect::Connection;
use crate::link::send_unacknowledged;
use crate::messages::split_bytes;
use crate::{Names, Report};
use async_nats::jetstream::Message;
use async_nats::jetstream::message::AckKind;
use referee_contest::Schedule;
use referee_process::cores;
use referee_protocol::SandboxRecord;
use referee_protocol::sanitize::sanitize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The number of reports verified at once per core; some of them wait for their object.
const AT_ONCE_A_CORE: usize = 2;
/// The maximum number of games that wait to be durable; above it no more reports are taken.
const NOT_DURABLE_MAX: usize = 512;
/// After this time the server delivers a report again that waits for another one on the same block.
const DEFERRED_TIME: Duration = Duration::from_secs(1);
/// The maximum number of matches per game in a report.
const TRIES_MAX: usize = 64;

/// The maximum number of different sandboxes that are recorded.
const SANDBOXES_MAX: usize = 8;

/// A report that is not acknowledged yet.
#[derive(Debug)]
struct PendingReport {
    /// The message to acknowledge, without its bytes.
    message: Message,
    /// The number of its games and void attempts that are not durable yet.
    left: usize,
}

/// The result of verifying a report.
#[derive(Debug)]
pub(super) struct Judged {
    /// The report's number in the stream.
    pub(super) number: u64,
    pub(super) report: Report,
    pub(super) verified: Result<VerifiedReport, String>,
}

/// Incoming reports.
#[derive(Debug)]
pub(super) struct Intake {
    connection: Connection,
    names: Names,
    rules: Arc<Rules>,
    reports: mpsc::Receiver<Message>,
    /// Reports that are being verified.
    judging: JoinSet<Judged>,
    at_once: usize,
    /// The blocks that are being verified.
    busy: BTreeSet<u64>,
    pending: BTreeMap<u64, PendingReport>,
    /// The games that have a result but are not durable yet, with the number of their report.
    not_durable: BTreeMap<u64, u64>,
    /// The sandboxes seen so far.
    sandboxes: Vec<SandboxRecord>,
    /// Whether the server has more reports.
    behind: bool,
}

/// What [`Intake::next`] returns.
#[derive(Debug)]
pub(super) enum Event {
    /// A report was verified.
    Judged(Box<Judged>),
    /// A report has arrived.
    Arrived(Box<Message>),
}

impl Intake {
    pub(super) fn new(
        connection: Connection,
        names: Names,
        rules: Rules,
        reports: mpsc::Receiver<Message>,
    ) -> Self {
        Self {
            connection,
            names,
            rules: Arc::new(rules),
            reports,
            judging: JoinSet::new(),
            at_once: AT_ONCE_A_CORE * cores::count(),
            busy: BTreeSet::new(),
            pending: BTreeMap::new(),
            not_durable: BTreeMap::new(),
            sandboxes: Vec::new(),
            behind: false,
        }
    }

    /// Waits for the next event. Cancel safe.
    pub(super) async fn next(&mut self) -> Event {
        let has_room =
            self.judging.len() < self.at_once && self.not_durable.len() < NOT_DURABLE_MAX;
        tokio::select! {
            Some(Ok(judged)) = self.judging.join_next() => Event::Judged(Box::new(judged)),
            Some(message) = self.reports.recv(), if has_room => Event::Arrived(Box::new(message)),
            else => std::future::pending().await,
        }
    }

    /// Returns whether a report on this block is being verified.
    pub(super) fn is_busy_with(&self, block: u64) -> bool {
        self.busy.contains(&block)
    }

    /// Records a sandbox; returns whether it is new.
    pub(super) fn is_new(&mut self, sandbox: &SandboxRecord) -> bool {
        let new = self.sandboxes.len() < SANDBOXES_MAX && !self.sandboxes.contains(sandbox);
        if new {
            self.sandboxes.push(sandbox.clone());
        }
        new
    }

    /// Returns whether no report is being verified.
    pub(super) fn is_idle(&self) -> bool {
        self.judging.is_empty()
    }

    /// Returns whether reports are waiting.
    pub(super) fn is_behind(&self) -> bool {
        self.behind || !self.reports.is_empty()
    }

    /// Call this if the server may have lost its reports.
    pub(super) fn forget_rest(&mut self) {
        self.behind = false;
    }

    /// Takes a report that has arrived. An invalid message is only logged: no worker sends it.
    /// Returns the block if verifying it starts now.
    pub(super) async fn take(&mut self, mut message: Message, schedule: &Schedule) -> Option<u64> {
        let info = message.info();
        let (number, pending) = info.map_or((0, 0), |info| (info.stream_sequence, info.pending));
        self.behind = pending > 0;
        if self.pending.contains_key(&number) {
            // Verifying it took so long that the server delivered it again.
            return None;
        }
        let payload = std::mem::take(&mut message.message.payload);
        let read: Result<(Report, &[u8]), String> = split_bytes(&payload);
        let (mut report, bytes) = match read {
            Ok((report, bytes)) => (report, bytes.to_vec()),
            Err(error) => {
                tracing::warn!("ignoring an invalid report: {}", sanitize(&error));
                send_unacknowledged(message.ack()).await;
                return None;
            }
        };
        let block = report.block;
        if !self.busy.insert(block) {
            send_unacknowledged(message.ack_with(AckKind::Nak(Some(DEFERRED_TIME)))).await;
            return None;
        }
        let fixtures = self.fixtures(block, schedule);
        report.tries.truncate(TRIES_MAX * fixtures.len().max(1));
        self.pending.insert(number, PendingReport { message, left: 0 });
        let (connection, bucket) = (self.connection.clone(), self.names.bucket());
        let rules = self.rules.clone();
        self.judging.spawn(async move {
            let judging = verified(report.clone(), bytes, fixtures, rules, connection, bucket);
            Judged { number, verified: judging.await, report }
        });
        Some(block)
    }

    /// Returns the games of a block that count, and whether each has a result.
    fn fixtures(&self, block: u64, schedule: &Schedule) -> Fixtures {
        schedule
            .counting(block)
            .filter_map(|number| {
                let known = schedule.has(number) || self.not_durable.contains_key(&number);
                Some((number, (schedule.fixture(number)?, known)))
            })
            .collect()
    }

    /// Takes a verified report, whose games are being stored from now on.
    pub(super) fn judged(&mut self, judged: &Judged) {
        self.busy.remove(&judged.report.block);
        if let Some(pending) = self.pending.get_mut(&judged.number) {
            for came in judged.verified.iter().flat_map(|verified| &verified.came) {
                // A game that can't be stored now is left to be delivered again.
                pending.left += came.void_games.len() + 1;
                if came.result.is_ok() {
                    self.not_durable.insert(came.number, judged.number);
                }
            }
        }
    }

    /// These games are durable.
    pub(super) fn durable(&mut self, numbers: &[u64]) {
        for number in numbers {
            let Some(&report) = self.not_durable.get(number) else { continue };
            let Some(pending) = self.pending.get_mut(&report) else { continue };
            pending.left = pending.left.saturating_sub(1);
            if pending.left == 0 {
                self.answer(report);
            }
        }
    }

    /// Acknowledges a report if none of its games is left.
    pub(super) fn answer_if_done(&mut self, report: u64) {
        if self.pending.get(&report).is_some_and(|pending| pending.left == 0) {
            self.answer(report);
        }
    }

    fn answer(&mut self, report: u64) {
        self.not_durable.retain(|_, of| *of != report);
        let Some(pending) = self.pending.remove(&report) else { return };
        // If this message is lost, the report arrives again and its games are known.
        tokio::spawn(async move { send_unacknowledged(pending.message.ack()).await });
    }
}

/// Verifies a report. Its bytes are in an object of the bucket if they did not fit its message.
async fn verified(
    report: Report,
    mut bytes: Vec<u8>,
    fixtures: Fixtures,
    rules: Arc<Rules>,
    Connection { jetstream, up, .. }: Connection,
    bucket: String,
) -> Result<VerifiedReport, String> {
    let mut long = None;
    if let Some(name) = report.object() {
        long = Some(rules.long.clone().lock_owned().await);
        let most = rules.transcript_bytes_max as u64;
        let read = read_object(&jetstream, &up, &bucket, &name, most).await;
        let read = read.map_err(|error| format!("its transcripts can't be read: {error}"))?;
        bytes = read.ok_or("its transcripts are missing on the server")?;
    }
    let judging =
        tokio::task::spawn_blocking(move || judge(&report, &bytes, &fixtures, &rules, long));
    // A panic is an error of the report, so that nothing waits forever.
    judging.await.unwrap_or_else(|error| Err(format!("verifying its report failed: {error}")))
}
