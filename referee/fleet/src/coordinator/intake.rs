//! Reports from their arrival until all of their games are durable. Only then are they
//! acknowledged: until then the server delivers them again after a crash.

use super::judge::{Bucket, Fixtures, Judged, Outcome, Rules, VerifiedReport, judge, outcome};
use crate::link::send_unacknowledged;
use crate::messages::split_bytes;
use crate::{Payload, Report};
use async_nats::jetstream::Message;
use referee_contest::{Record, Schedule};
use referee_process::cores;
use referee_protocol::SandboxRecord;
use referee_runner::backend::NoResult;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The number of reports verified at once per core; some of them wait for objects.
const AT_ONCE_A_CORE: usize = 2;
/// The maximum number of games that wait to be durable; above it no more reports are taken.
const NOT_DURABLE_MAX: usize = 512;
/// The maximum number of reports that wait for another report on the same block.
const DEFERRED_MAX: usize = 64;
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
    /// The objects with its transcripts.
    objects: Vec<String>,
    /// The outcomes of games that were not durable when verifying it began.
    before: BTreeMap<u64, Outcome>,
}

/// Incoming reports.
#[derive(Debug)]
pub(super) struct Intake {
    bucket: Bucket,
    rules: Arc<Rules>,
    reports: mpsc::Receiver<Message>,
    /// Reports that are being verified.
    judging: JoinSet<Judged>,
    at_once: usize,
    /// The blocks that are being verified, with the number of the report.
    busy: BTreeMap<u64, u64>,
    /// Reports that wait for another report on the same block.
    deferred: VecDeque<Fetched>,
    pending: BTreeMap<u64, PendingReport>,
    /// The games that are not durable yet, with the number of their report and their outcome.
    not_durable: BTreeMap<u64, (u64, Option<Outcome>)>,
    /// The sandboxes seen so far.
    sandboxes: Vec<SandboxRecord>,
    /// Whether the server has more reports.
    behind: bool,
}

/// A fetched report.
#[derive(Debug)]
struct Fetched {
    number: u64,
    message: Message,
    report: Report,
    bytes: Vec<u8>,
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
    pub(super) fn new(bucket: Bucket, rules: Rules, reports: mpsc::Receiver<Message>) -> Self {
        Self {
            bucket,
            rules: Arc::new(rules),
            reports,
            judging: JoinSet::new(),
            at_once: AT_ONCE_A_CORE * cores::count(),
            busy: BTreeMap::new(),
            deferred: VecDeque::new(),
            pending: BTreeMap::new(),
            not_durable: BTreeMap::new(),
            sandboxes: Vec::new(),
            behind: false,
        }
    }

    /// Waits for the next event. Cancel safe.
    pub(super) async fn next(&mut self) -> Event {
        let has_room = self.judging.len() < self.at_once
            && self.not_durable.len() < NOT_DURABLE_MAX
            && self.deferred.len() < DEFERRED_MAX;
        tokio::select! {
            Some(Ok(judged)) = self.judging.join_next() => Event::Judged(Box::new(judged)),
            Some(message) = self.reports.recv(), if has_room => Event::Arrived(Box::new(message)),
            else => std::future::pending().await,
        }
    }

    /// Returns whether a report on this block is being verified.
    pub(super) fn is_busy_with(&self, block: u64) -> bool {
        self.busy.contains_key(&block)
    }

    /// Records a sandbox; returns whether it is new.
    pub(super) fn is_new(&mut self, sandbox: &SandboxRecord) -> bool {
        let new = self.sandboxes.len() < SANDBOXES_MAX && !self.sandboxes.contains(sandbox);
        if new {
            self.sandboxes.push(sandbox.clone());
        }
        new
    }

    /// Returns whether no report is being verified or waits for it.
    pub(super) fn is_idle(&self) -> bool {
        self.judging.is_empty() && self.deferred.is_empty()
    }

    /// Returns whether reports are waiting.
    pub(super) fn is_behind(&self) -> bool {
        self.behind || !self.deferred.is_empty() || !self.reports.is_empty()
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
        let waits = self.deferred.iter().any(|it| it.number == number);
        if waits || self.pending.contains_key(&number) {
            // Verifying it took so long that the server delivered it again.
            return None;
        }
        let payload = std::mem::take(&mut message.message.payload);
        let read: Result<(Report, &[u8]), String> = split_bytes(&payload);
        match read {
            Ok((report, bytes)) => {
                let bytes = bytes.to_vec();
                self.verify(Fetched { number, message, report, bytes }, schedule)
            }
            Err(error) => {
                tracing::warn!("ignoring an invalid report: {error}");
                send_unacknowledged(message.ack()).await;
                None
            }
        }
    }

    fn verify(&mut self, fetched: Fetched, schedule: &Schedule) -> Option<u64> {
        let block = fetched.report.block;
        if self.busy.contains_key(&block) {
            self.deferred.push_back(fetched);
            return None;
        }
        let Fetched { number, message, mut report, bytes } = fetched;
        let fixtures = self.fixtures(block, schedule);
        report.tries.truncate(TRIES_MAX * fixtures.len().max(1));
        let objects = objects(&report).cloned().collect();
        let not_durable =
            fixtures.keys().filter_map(|game| Some((*game, self.not_durable.get(game)?)));
        let before =
            not_durable.filter_map(|(game, (_, outcome))| Some((game, outcome.clone()?))).collect();
        self.pending.insert(number, PendingReport { message, left: 0, objects, before });
        self.busy.insert(block, number);
        let (rules, bucket) = (self.rules.clone(), self.bucket.clone());
        let judging = judge(report.clone(), bytes, fixtures, rules, bucket);
        self.judging.spawn(Judged::of(number, report, judging));
        Some(block)
    }

    /// Returns the games of a block that count, and whether each has a result.
    fn fixtures(&self, block: u64, schedule: &Schedule) -> Fixtures {
        schedule
            .counting(block)
            .filter_map(|number| {
                let known = schedule.has(number)
                    || self.not_durable.get(&number).is_some_and(|(_, outcome)| outcome.is_some());
                Some((number, (schedule.fixture(number)?, known)))
            })
            .collect()
    }

    /// Takes a verified report, whose games are being stored from now on, and starts the next one
    /// on the same block.
    pub(super) fn judged(&mut self, judged: &Judged, schedule: &Schedule) -> Option<u64> {
        let block = judged.report.block;
        self.busy.remove(&block);
        if let Some(pending) = self.pending.get_mut(&judged.number) {
            // An invalid report may name objects that belong to another one.
            let verified = judged.verified.as_ref();
            pending.objects = verified.map_or_else(|_| Vec::new(), |it| it.objects.clone());
            for came in verified.iter().flat_map(|verified| &verified.came) {
                let outcome = came.result.as_ref().ok().map(|record| outcome(record));
                // A game that can't be stored now is left to be delivered again.
                pending.left += came.void_games.len() + 1;
                if !matches!(came.result, Err(NoResult::Halt(_))) {
                    self.not_durable.insert(came.number, (judged.number, outcome));
                }
            }
        }
        let next = self.deferred.iter().position(|it| it.report.block == block)?;
        let next = self.deferred.remove(next)?;
        self.verify(next, schedule)
    }

    /// Returns the games that already have a result and a different outcome in this report.
    pub(super) fn conflicting(&self, report: u64, verified: &VerifiedReport) -> Vec<u64> {
        let not_durable = self.pending.get(&report).map(|pending| &pending.before);
        let differs = |record: &&Record| {
            let before = not_durable.and_then(|it| it.get(&record.number));
            let before = before.or_else(|| verified.before.get(&record.number));
            before.is_some_and(|before| *before != outcome(record))
        };
        verified.known.iter().filter(differs).map(|record| record.number).collect()
    }

    /// These games are durable.
    pub(super) fn durable(&mut self, numbers: &[u64]) {
        for number in numbers {
            let Some(&(report, _)) = self.not_durable.get(number) else { continue };
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
        self.not_durable.retain(|_, (of, _)| *of != report);
        let Some(pending) = self.pending.remove(&report) else { return };
        let PendingReport { message, mut objects, .. } = pending;
        objects.retain(|name| !self.is_in_use(name));
        let bucket = self.bucket.clone();
        // If this message is lost, the report arrives again and its games are known.
        tokio::spawn(async move {
            send_unacknowledged(message.ack()).await;
            bucket.remove(&objects).await;
        });
    }

    /// Returns whether a waiting report has a transcript in this object.
    fn is_in_use(&self, name: &String) -> bool {
        let mut waiting = self.deferred.iter().flat_map(|it| objects(&it.report));
        self.pending.values().any(|it| it.objects.contains(name)) || waiting.any(|it| it == name)
    }
}

/// Returns the objects with a report's transcripts.
fn objects(report: &Report) -> impl Iterator<Item = &String> {
    report.tries.iter().filter_map(|one| match &one.transcript {
        Payload::Object { sha256, .. } => Some(sha256),
        Payload::Message { .. } => None,
    })
}
