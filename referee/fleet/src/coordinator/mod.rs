//! A contest's coordinator: the field on which many machines play. It hands out blocks as orders and
//! takes in reports; what it does about silence is `fleet::dispatch`'s business, and what counts the
//! runner's. The server may go away at any time, and come back: everything is tried again.

mod layout;
mod post;
mod fetch;
mod judge;
mod looking;
mod intake;
mod roll;
mod field;

#[cfg(test)]
pub(crate) mod tests;

use crate::bundles::Packed;
use crate::connect::Connection;
use crate::dispatch::{Dispatch, Effect};
use crate::link::{CALL, hand, ticks, within};
use crate::{Brief, Names, Order, live};
use async_nats::Subscriber;
use fetch::Queue;
use intake::Intake;
use judge::Rules;
use layout::Layout;
pub use layout::Removed;
use post::{Errand, Posted};
use referee_contest::{Contest, Fixture, Schedule};
use referee_play::playing::Playing;
use referee_play::table::Orders;
use referee_process::Failure;
use referee_protocol::plain::tame;
use referee_runner::field::{Sign, kinds};
use referee_runner::folder::Folder;
use roll::Roll;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Interval;

/// The lease of an order.
pub const LEASE: Duration = Duration::from_secs(30);
/// How often it is looked for who is silent.
const TICK: Duration = Duration::from_secs(1);
/// Attempts are counted from the seconds since then, so that no run comes to those of another: the
/// first of January 2025.
const EPOCH_S: u64 = 1_735_689_600;

/// What a coordinator coordinates.
#[derive(Debug)]
pub struct Commission {
    /// What workers are told of the contest.
    pub brief: Brief,
    /// Its agents.
    pub packed: Packed,
    /// The server, as people may see it.
    pub shown: String,
    /// What the command that resumes the contest has to say of it.
    pub words: Vec<String>,
}

/// A contest as it goes on now.
#[derive(Clone, Debug)]
pub struct ContestRun {
    /// When the contest was begun, RFC 3339: it stays the same when it is resumed.
    pub begun: String,
    /// Where everything goes.
    pub folder: Folder,
    /// Where the games that are under way are noted.
    pub playing: Playing,
}

/// Games on many machines.
#[derive(Debug)]
pub struct Coordinator {
    connection: Connection,
    layout: Arc<Layout>,
    /// The server, as people may see it.
    shown: String,
    began: Instant,
    dispatch: Dispatch,
    /// The games of the blocks that are out.
    fixtures: BTreeMap<u64, Vec<Fixture>>,
    /// The blocks of the games that are out.
    blocks: BTreeMap<u64, u64>,
    /// Blocks that an earlier run has left orders for.
    found: BTreeSet<u64>,
    intake: Intake,
    roll: Roll,
    errands: mpsc::UnboundedSender<Errand>,
    posted: mpsc::UnboundedReceiver<Posted>,
    queue: mpsc::Receiver<Result<Queue, String>>,
    beats: Subscriber,
    live: mpsc::Receiver<Vec<u8>>,
    viewer: live::Receiver,
    orders: watch::Receiver<Orders>,
    ticks: Interval,
    /// What is gone from the server is made again.
    mending: Option<JoinHandle<()>>,
    ready: VecDeque<Sign>,
    closed: bool,
    /// What nobody has begun was taken back.
    withdrawn: bool,
    stopped: bool,
}

impl Coordinator {
    /// Lays the contest out on the server, or finds it there. `schedule` is as far as the store says.
    pub async fn begin(
        connection: Connection,
        commission: Commission,
        run: ContestRun,
        schedule: &Schedule,
        orders: watch::Receiver<Orders>,
    ) -> Result<Self, Failure> {
        let Commission { brief, packed, shown, words } = commission;
        let ContestRun { begun, folder, playing } = run;
        let failed = |error: String| layout::not_made(&connection, &shown, &error);
        let kinds = kinds(&brief.contest)?;
        let rules = Rules::of(Arc::new(brief.contest.clone()), kinds, folder.clone());
        let dispatch = Dispatch::new(brief.lease_ms, first_attempt());
        let layout = Arc::new(Layout::of(brief, packed, &begun));
        let names = layout.names.clone();
        // Heard before anybody can say anything.
        let beats = connection.client.subscribe(names.beats()).await;
        let beats = beats.map_err(|error| failed(error.to_string()))?;
        let live = live::listen(&connection.client, &names).await;
        let live = live.map_err(|error| failed(error.to_string()))?;
        let found = async {
            layout.make(&connection, true).await?;
            layout.found(&connection).await
        };
        let all = connection.unless_denied(Box::pin(found)).await.map_err(failed)?;
        connection.tell_denied(shown.clone());
        let (errands, posted) = post::start(connection.clone(), names.clone());
        let mut found = BTreeSet::new();
        for block in all {
            if is_missing(schedule, block) {
                found.insert(block);
            } else {
                errands.send(Errand { block, order: None }).ok();
            }
        }
        let reports = fetch::start(connection.clone(), names.clone());
        let queue = fetch::look(connection.clone(), names.clone());
        Ok(Self {
            began: Instant::now(),
            dispatch,
            fixtures: BTreeMap::new(),
            blocks: BTreeMap::new(),
            found,
            intake: Intake::new(connection.clone(), names.bucket(), rules, reports),
            roll: Roll::new(folder.clone(), words),
            errands,
            posted,
            queue,
            beats,
            live,
            viewer: live::Receiver::new(folder, playing),
            orders,
            ticks: ticks(TICK),
            mending: None,
            ready: VecDeque::new(),
            closed: false,
            withdrawn: false,
            stopped: false,
            connection,
            layout,
            shown,
        })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Does what the dispatch wants.
    fn run_errands(&mut self) {
        for effect in self.dispatch.effects() {
            match effect {
                Effect::Order { block, attempt, avoid } => self.order(block, attempt, avoid),
                Effect::Withdraw { block } => {
                    self.errands.send(Errand { block, order: None }).ok();
                }
                Effect::Drop { block } => self.drop_block(block, None),
                Effect::GiveUp { block, why } => self.drop_block(block, Some(tame(&why))),
                Effect::Left { worker, name } => {
                    tracing::debug!("{worker} has left");
                    self.ready.push_back(Sign::Told(format!("worker {} has left", tame(&name))));
                }
                Effect::Lost { worker, name, orders } => {
                    self.roll.lost(&worker);
                    let had = match orders {
                        0 => String::new(),
                        1 => "; its order goes to another".to_owned(),
                        _ => format!("; its {orders} orders go to others"),
                    };
                    let name = tame(&name);
                    let text = format!("worker {name} was not heard of any more{had}");
                    self.ready.push_back(Sign::Told(text));
                }
            }
        }
    }

    fn order(&mut self, block: u64, attempt: u32, avoid: Vec<String>) {
        let Some(fixtures) = self.fixtures.get(&block).cloned() else { return };
        let void_retries = self.layout.brief.contest.policy.void_retries;
        let order = Order { block, attempt, fixtures, void_retries, avoid };
        let message = serde_json::to_vec(&order).unwrap_or_default();
        self.errands.send(Errand { block, order: Some((attempt, message)) }).ok();
    }

    /// A block won't be played now.
    fn drop_block(&mut self, block: u64, why: Option<String>) {
        let fixtures = self.fixtures.remove(&block).unwrap_or_default();
        let numbers: Vec<u64> = fixtures.iter().map(|fixture| fixture.number).collect();
        for &number in &numbers {
            self.blocks.remove(&number);
            self.viewer.discard(number);
        }
        if !numbers.is_empty() {
            self.ready.push_back(Sign::Dropped(numbers, why));
        }
    }
}

/// Says of a contest that could not begin that there is none.
pub async fn hush(connection: &Connection, contest: &Contest, begun: &str) {
    let names = Names::of(contest, begun);
    if let Err(error) = within(CALL, layout::hush(connection, &names)).await {
        tracing::debug!("the contest is still announced: {error}");
    }
}

/// Takes what a contest has on the server away, wherever it was left; `None` where nothing is there.
/// Workers that still play in it drop that.
pub async fn withdraw(
    connection: &Connection,
    contest: &Contest,
    begun: &str,
) -> Result<Option<Removed>, String> {
    let names = Names::of(contest, begun);
    hand(connection.client.publish(names.stop(), Vec::new().into())).await;
    let removed = Box::pin(layout::remove(connection, &names));
    let removed = connection.unless_denied(removed).await?;
    within(CALL, connection.client.flush()).await?;
    Ok(removed)
}

/// Whether a game of a block has no result yet.
fn is_missing(schedule: &Schedule, block: u64) -> bool {
    schedule.counting(block).any(|number| !schedule.has(number))
}

fn first_attempt() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    u32::try_from(now.saturating_sub(EPOCH_S)).unwrap_or_default()
}
