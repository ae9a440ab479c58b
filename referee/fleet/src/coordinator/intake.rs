//! Reports from when they are fetched until all of their games are durable, and only then are
//! answered for: whatever happens before, the server hands them out again.

use super::judge::{Bucket, Case, Finding, Judged, Rules, Said, judge, said};
use super::judging::Judging;
use crate::connect::Connection;
use crate::link::hand;
use crate::messages::split_bytes;
use crate::{Parcel, Report};
use async_nats::jetstream::Message;
use async_nats::jetstream::message::Acker;
use referee_contest::{Fixture, Record, Schedule};
use referee_process::cores;
use referee_protocol::Sandbox;
use referee_runner::field::Missed;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc;

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

/// What the games of a report are to the schedule.
type Fixtures = BTreeMap<u64, (Fixture, bool)>;

/// What answers for a report.
struct Answer(Acker);

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").finish_non_exhaustive()
    }
}

/// A report that is not answered for.
#[derive(Debug)]
struct Receipt {
    answer: Answer,
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
    judging: Judging,
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
    answer: Answer,
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
            judging: Judging::default(),
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
        let has_room = self.judging.count() < self.at_once
            && self.unkept.len() < UNKEPT_MAX
            && self.deferred.len() < DEFERRED_MAX;
        tokio::select! {
            Some(judged) = self.judging.next() => Event::Judged(Box::new(judged)),
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
        self.judging.count() == 0 && self.deferred.is_empty()
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
    pub(super) async fn take(&mut self, message: Message, schedule: &Schedule) -> Option<u64> {
        let info = message.info();
        let (number, pending) = info.map_or((0, 0), |info| (info.stream_sequence, info.pending));
        self.behind = pending > 0;
        let waits = self.deferred.iter().any(|it| it.number == number);
        if waits || self.receipts.contains_key(&number) {
            // It took so long that it was handed out again.
            return None;
        }
        let (message, acker) = message.split();
        let read: Result<(Report, &[u8]), String> = split_bytes(&message.payload);
        match read {
            Ok((report, bytes)) => {
                let bytes = bytes.to_vec();
                self.look(Fetched { number, answer: Answer(acker), report, bytes }, schedule)
            }
            Err(error) => {
                tracing::warn!("something that is no report: {error}");
                hand(async { acker.ack().await.map_err(|error| error.to_string()) }).await;
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
        let Fetched { number, answer, mut report, bytes } = fetched;
        let fixtures = self.fixtures(block, schedule);
        report.tries.truncate(TRIES_MAX * fixtures.len().max(1));
        let objects = objects(&report).cloned().collect();
        let unkept = fixtures.keys().filter_map(|game| Some((*game, self.unkept.get(game)?)));
        let before = unkept.filter_map(|(game, (_, said))| Some((game, said.clone()?))).collect();
        self.receipts.insert(number, Receipt { answer, left: 0, objects, before });
        self.busy.insert(block, number);
        let case = Case { report: report.clone(), bytes, fixtures };
        self.judging.begin(number, report, judge(case, self.rules.clone(), self.bucket()));
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
        }
        if let (Ok(finding), Some(receipt)) =
            (&judged.finding, self.receipts.get_mut(&judged.number))
        {
            for came in &finding.came {
                let said = came.result.as_ref().ok().map(|record| said(record));
                let halted = matches!(came.result, Err(Missed::Halt(_)));
                // What can't be kept now is to come again.
                receipt.left += came.spoiled.len() + 1;
                if !halted {
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
        let Receipt { answer: Answer(acker), mut objects, .. } = receipt;
        objects.retain(|name| !self.is_named(name));
        let bucket = self.bucket();
        // Should it not arrive, the report comes again and is known.
        tokio::spawn(async move {
            hand(async { acker.ack().await.map_err(|error| error.to_string()) }).await;
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
