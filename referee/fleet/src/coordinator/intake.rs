//! Reports from when they are fetched until all of their games are durable, and only then are
//! answered for: whatever happens before, the server hands them out again.

use super::judge::{Bucket, Finding, Fixtures, Judged, Rules, Said, judge, said};
use crate::connect::Connection;
use crate::link::hand;
use crate::messages::split_bytes;
use crate::{Parcel, Report};
use async_nats::jetstream::Message;
use referee_contest::{Record, Schedule};
use referee_process::cores;
use referee_protocol::Sandbox;
use referee_runner::field::Missed;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// So many reports are looked at at once, for each core: some wait for files while others think.
const AT_ONCE_A_CORE: usize = 2;
/// So many games wait to be durable before no more reports are taken.
const UNKEPT_MAX: usize = 512;
/// So many reports wait for others on the same block before no more are taken.
const DEFERRED_MAX: usize = 64;
/// A report has no more tries than that for each game of a block.
const TRIES_MAX: usize = 64;

/// So many different ways of keeping agents apart are noted.
const APART_MAX: usize = 8;

/// A report that is not answered for.
#[derive(Debug)]
struct Receipt {
    /// What answers for it, without its bytes.
    message: Message,
    /// So many of its games and attempts aren't durable.
    left: usize,
    /// The names of the objects that its transcripts are in.
    objects: Vec<String>,
    /// What was said of games that weren't durable when it was begun with.
    before: BTreeMap<u64, Said>,
}

/// Reports.
#[derive(Debug)]
pub(super) struct Intake {
    connection: Connection,
    bucket: String,
    rules: Arc<Rules>,
    reports: mpsc::Receiver<Message>,
    /// Reports that are being looked at.
    judging: JoinSet<Judged>,
    at_once: usize,
    /// Blocks that are being looked at, and the report.
    busy: BTreeMap<u64, u64>,
    /// Reports on blocks of which another one is being looked at.
    deferred: VecDeque<Fetched>,
    receipts: BTreeMap<u64, Receipt>,
    /// The report that a game came with which isn't durable yet, and what is compared with others.
    unkept: BTreeMap<u64, (u64, Option<Said>)>,
    /// What has kept agents apart so far.
    apart: Vec<Sandbox>,
    /// The server has more.
    behind: bool,
}

/// A report that was fetched.
#[derive(Debug)]
struct Fetched {
    number: u64,
    message: Message,
    report: Report,
    bytes: Vec<u8>,
}

/// What came of waiting.
#[derive(Debug)]
pub(super) enum Event {
    /// A report was looked at.
    Judged(Box<Judged>),
    /// One has come.
    Come(Box<Message>),
}

impl Intake {
    pub(super) fn new(
        connection: Connection,
        bucket: String,
        rules: Rules,
        reports: mpsc::Receiver<Message>,
    ) -> Self {
        Self {
            connection,
            bucket,
            rules: Arc::new(rules),
            reports,
            judging: JoinSet::new(),
            at_once: AT_ONCE_A_CORE * cores::count(),
            busy: BTreeMap::new(),
            deferred: VecDeque::new(),
            receipts: BTreeMap::new(),
            unkept: BTreeMap::new(),
            apart: Vec::new(),
            behind: false,
        }
    }

    /// Waits until a report has come or was looked at. Can be dropped and called again.
    pub(super) async fn next(&mut self) -> Event {
        let has_room = self.judging.len() < self.at_once
            && self.unkept.len() < UNKEPT_MAX
            && self.deferred.len() < DEFERRED_MAX;
        tokio::select! {
            Some(Ok(judged)) = self.judging.join_next() => Event::Judged(Box::new(judged)),
            Some(message) = self.reports.recv(), if has_room => Event::Come(Box::new(message)),
            else => std::future::pending().await,
        }
    }

    /// Whether a report on a block is being looked at.
    pub(super) fn is_busy_with(&self, block: u64) -> bool {
        self.busy.contains_key(&block)
    }

    /// Whether agents are kept apart by something that none was before.
    pub(super) fn is_new(&mut self, apart: &Sandbox) -> bool {
        let new = self.apart.len() < APART_MAX && !self.apart.contains(apart);
        if new {
            self.apart.push(apart.clone());
        }
        new
    }

    /// Whether nothing is being looked at.
    pub(super) fn is_idle(&self) -> bool {
        self.judging.is_empty() && self.deferred.is_empty()
    }

    /// Whether reports wait that nobody has looked at.
    pub(super) fn is_behind(&self) -> bool {
        self.behind || !self.deferred.is_empty() || !self.reports.is_empty()
    }

    /// The server may have lost what it had.
    pub(super) fn forget_rest(&mut self) {
        self.behind = false;
    }

    /// Takes in a report. What is wrong with it is only logged: who sends such things is no worker.
    /// The block, if it is looked at.
    pub(super) async fn take(&mut self, mut message: Message, schedule: &Schedule) -> Option<u64> {
        let info = message.info();
        let (number, pending) = info.map_or((0, 0), |info| (info.stream_sequence, info.pending));
        self.behind = pending > 0;
        let waits = self.deferred.iter().any(|it| it.number == number);
        if waits || self.receipts.contains_key(&number) {
            // It took so long that it was handed out again.
            return None;
        }
        let payload = std::mem::take(&mut message.message.payload);
        let read: Result<(Report, &[u8]), String> = split_bytes(&payload);
        match read {
            Ok((report, bytes)) => {
                let bytes = bytes.to_vec();
                self.look(Fetched { number, message, report, bytes }, schedule)
            }
            Err(error) => {
                tracing::warn!("something that is no report: {error}");
                hand(message.ack()).await;
                None
            }
        }
    }

    fn look(&mut self, fetched: Fetched, schedule: &Schedule) -> Option<u64> {
        let block = fetched.report.block;
        if self.busy.contains_key(&block) {
            self.deferred.push_back(fetched);
            return None;
        }
        let Fetched { number, message, mut report, bytes } = fetched;
        let fixtures = self.fixtures(block, schedule);
        report.tries.truncate(TRIES_MAX * fixtures.len().max(1));
        let objects = objects(&report).cloned().collect();
        let unkept = fixtures.keys().filter_map(|game| Some((*game, self.unkept.get(game)?)));
        let before = unkept.filter_map(|(game, (_, said))| Some((game, said.clone()?))).collect();
        self.receipts.insert(number, Receipt { message, left: 0, objects, before });
        self.busy.insert(block, number);
        let (rules, bucket) = (self.rules.clone(), self.bucket());
        let judging = judge(report.clone(), bytes, fixtures, rules, bucket);
        self.judging.spawn(Judged::of(number, report, judging));
        Some(block)
    }

    fn bucket(&self) -> Bucket {
        Bucket { connection: self.connection.clone(), name: self.bucket.clone() }
    }

    /// The games of a block that count, and whether they have a result.
    fn fixtures(&self, block: u64, schedule: &Schedule) -> Fixtures {
        schedule
            .counting(block)
            .filter_map(|number| {
                let known = schedule.has(number)
                    || self.unkept.get(&number).is_some_and(|(_, said)| said.is_some());
                Some((number, (schedule.fixture(number)?, known)))
            })
            .collect()
    }

    /// A report was looked at: from now on its games are under way to the disk. Whoever waits for
    /// the same block is next.
    pub(super) fn judged(&mut self, judged: &Judged, schedule: &Schedule) -> Option<u64> {
        let block = judged.report.block;
        self.busy.remove(&block);
        if let Some(receipt) = self.receipts.get_mut(&judged.number) {
            // What isn't as it should be may name what is somebody else's.
            let finding = judged.finding.as_ref();
            receipt.objects = finding.map_or_else(|_| Vec::new(), |it| it.objects.clone());
            for came in finding.iter().flat_map(|finding| &finding.came) {
                let said = came.result.as_ref().ok().map(|record| said(record));
                // What can't be kept now is to come again.
                receipt.left += came.spoiled.len() + 1;
                if !matches!(came.result, Err(Missed::Halt(_))) {
                    self.unkept.insert(came.number, (judged.number, said));
                }
            }
        }
        let next = self.deferred.iter().position(|it| it.report.block == block)?;
        let next = self.deferred.remove(next)?;
        self.look(next, schedule)
    }

    /// The games that have a result and were played otherwise in this report.
    pub(super) fn otherwise(&self, report: u64, finding: &Finding) -> Vec<u64> {
        let unkept = self.receipts.get(&report).map(|receipt| &receipt.before);
        let differs = |record: &&Record| {
            let before = unkept.and_then(|it| it.get(&record.number));
            let before = before.or_else(|| finding.before.get(&record.number));
            before.is_some_and(|before| *before != said(record))
        };
        finding.known.iter().filter(differs).map(|record| record.number).collect()
    }

    /// What came of these games is durable.
    pub(super) fn kept(&mut self, numbers: &[u64]) {
        for number in numbers {
            let Some(&(report, _)) = self.unkept.get(number) else { continue };
            let Some(receipt) = self.receipts.get_mut(&report) else { continue };
            receipt.left = receipt.left.saturating_sub(1);
            if receipt.left == 0 {
                self.answer(report);
            }
        }
    }

    /// Nothing of a report need be kept any more.
    pub(super) fn answer_if_done(&mut self, report: u64) {
        if self.receipts.get(&report).is_some_and(|receipt| receipt.left == 0) {
            self.answer(report);
        }
    }

    fn answer(&mut self, report: u64) {
        self.unkept.retain(|_, (of, _)| *of != report);
        let Some(receipt) = self.receipts.remove(&report) else { return };
        let Receipt { message, mut objects, .. } = receipt;
        objects.retain(|name| !self.is_named(name));
        let bucket = self.bucket();
        // Should it not arrive, the report comes again and is known.
        tokio::spawn(async move {
            hand(message.ack()).await;
            bucket.remove(&objects).await;
        });
    }

    /// Whether a report that waits has something in the object of this name.
    fn is_named(&self, name: &String) -> bool {
        let mut waiting = self.deferred.iter().flat_map(|it| objects(&it.report));
        self.receipts.values().any(|it| it.objects.contains(name)) || waiting.any(|it| it == name)
    }
}

/// The names of the objects that a report's transcripts are in.
fn objects(report: &Report) -> impl Iterator<Item = &String> {
    report.tries.iter().filter_map(|one| match &one.transcript {
        Parcel::Object { sha256, .. } => Some(sha256),
        Parcel::Message { .. } => None,
    })
}
