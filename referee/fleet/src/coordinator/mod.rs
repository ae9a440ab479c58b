//! A contest's coordinator, the runner's backend for many machines. It sends blocks to workers as
//! orders and collects their reports. [`crate::dispatch`] decides what to do about silent workers,
//! and the runner what counts. The server may go away and come back at any time: every call is
//! retried.

mod layout;
mod publisher;
mod fetch;
mod judge;
mod intake;
mod registry;
mod backend;

#[cfg(test)]
pub(crate) mod tests;

use crate::bundles::Packed;
use crate::connect::Connection;
use crate::dispatch::{Dispatch, Effect};
use crate::link::{call, send_unacknowledged, ticks};
use crate::{Brief, Names, Order, live};
use async_nats::Subscriber;
use fetch::Queue;
use intake::Intake;
use judge::Rules;
use layout::Layout;
pub use layout::Withdrawn;
use publisher::{Published, QueueChange};
use referee_contest::{Contest, Fixture, Player, Schedule};
use referee_games::Games;
use referee_play::core_context::Orders;
use referee_play::running_matches::RunningMatches;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use referee_runner::backend::{BackendEvent, Unplayed};
use referee_runner::folder::Folder;
use referee_runner::workers;
use registry::WorkerRegistry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Interval;

/// The lease of an order.
pub const LEASE: Duration = Duration::from_secs(30);
/// The interval at which silent workers are looked for.
const TICK: Duration = Duration::from_secs(1);
/// How long to try to create the contest: the connection may be cut, or the server restart.
const SETUP_TIME: Duration = Duration::from_secs(10);
/// Attempts start at the number of seconds since 2025-01-01, so that no two runs use the same.
const EPOCH_S: u64 = 1_735_689_600;

/// The settings of a coordinator.
#[derive(Debug)]
pub struct CoordinatorSettings {
    /// What workers need to know.
    pub brief: Brief,
    /// Its agents.
    pub packed: Packed,
    /// The contest's share of the workers' time, relative to the other contests on the server.
    pub priority: u32,
    /// The server's address without secrets.
    pub shown: String,
    /// The arguments with which the contest is resumed on this server.
    pub resume_args: Vec<String>,
}

/// A run of a contest.
#[derive(Clone, Debug)]
pub struct ContestRun {
    /// When the contest began, RFC 3339; unchanged when it is resumed.
    pub begun: String,
    /// The contest's folder.
    pub folder: Folder,
    /// The games that it can have.
    pub games: Games,
    /// The running matches, for display.
    pub playing: RunningMatches,
}

/// Plays a contest on many machines.
#[derive(Debug)]
pub struct Coordinator {
    connection: Connection,
    layout: Arc<Layout>,
    /// The server's address without secrets.
    shown: String,
    began: Instant,
    dispatch: Dispatch,
    /// The games of outstanding blocks.
    fixtures: BTreeMap<u64, Vec<Fixture>>,
    /// The blocks of outstanding games.
    blocks: BTreeMap<u64, u64>,
    /// Blocks for which an earlier run has left orders.
    found: BTreeSet<u64>,
    intake: Intake,
    registry: WorkerRegistry,
    changes: mpsc::UnboundedSender<QueueChange>,
    published: mpsc::UnboundedReceiver<Published>,
    queue: mpsc::Receiver<Result<Queue, String>>,
    beats: Subscriber,
    live: mpsc::Receiver<Vec<u8>>,
    viewer: live::Receiver,
    orders: watch::Receiver<Orders>,
    ticks: Interval,
    /// Creates again what the server has lost.
    restoring: Option<JoinHandle<()>>,
    ready: VecDeque<BackendEvent>,
    closed: bool,
    /// Whether orders that no worker has started were withdrawn.
    withdrawn: bool,
    stopped: bool,
}

impl Coordinator {
    /// Creates the contest on the server, or finds it there. `schedule` has the results of the
    /// store.
    pub async fn begin(
        connection: Connection,
        settings: CoordinatorSettings,
        run: ContestRun,
        schedule: &Schedule,
        orders: watch::Receiver<Orders>,
    ) -> Result<Self, Failure> {
        let CoordinatorSettings { brief, packed, priority, shown, resume_args } = settings;
        let ContestRun { begun, folder, games, playing } = run;
        let failed = |error: String| layout::create_failure(&connection, &shown, &error);
        let rules = Rules::of(Arc::new(brief.contest.clone()), games, folder.clone())?;
        let dispatch = Dispatch::new(brief.lease_ms, first_attempt());
        let layout = Arc::new(Layout::of(brief, packed, priority, &begun));
        let names = layout.names.clone();
        // What an interrupted run has left on the server is of no use after a change of the contest.
        let earlier = Names::new(&workers::read(&folder).id).filter(|earlier| *earlier != names);
        // Subscribe before any worker can send something.
        let beats = connection.client.subscribe(names.beats()).await;
        let beats = beats.map_err(|error| failed(error.to_string()))?;
        let live = live::listen(&connection.client, &names).await;
        let live = live.map_err(|error| failed(error.to_string()))?;
        let found = async {
            let began = Instant::now();
            loop {
                let found = async {
                    if let Some(earlier) = &earlier {
                        layout::remove(&connection, earlier).await?;
                    }
                    layout.make(&connection, true).await?;
                    layout.found(&connection).await
                };
                let found = found.await;
                let Some(error) = found.as_ref().err() else { return found };
                if began.elapsed() > SETUP_TIME {
                    return found;
                }
                tracing::debug!("the contest is not on the server yet: {error}");
                tokio::time::sleep(TICK).await;
            }
        };
        let all = connection.unless_denied(Box::pin(found)).await.map_err(failed)?;
        connection.log_denied(shown.clone());
        let (changes, published) = publisher::start(connection.clone(), names.clone());
        let mut found = BTreeSet::new();
        for block in all {
            if is_missing(schedule, block) {
                found.insert(block);
            } else {
                changes.send(QueueChange { block, order: None }).ok();
            }
        }
        let reports = fetch::start(connection.clone(), names.clone());
        let queue = fetch::observe(connection.clone(), names.clone());
        Ok(Self {
            began: Instant::now(),
            dispatch,
            fixtures: BTreeMap::new(),
            blocks: BTreeMap::new(),
            found,
            intake: Intake::new(connection.clone(), names.clone(), rules, reports),
            registry: WorkerRegistry::new(folder.clone(), resume_args, names.id.clone()),
            changes,
            published,
            queue,
            beats,
            live,
            viewer: live::Receiver::new(folder, playing),
            orders,
            ticks: ticks(TICK),
            restoring: None,
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

    /// Carries out what the dispatch has decided.
    fn apply_effects(&mut self) {
        for effect in self.dispatch.effects() {
            match effect {
                Effect::Order { block, attempt } => self.order(block, attempt),
                Effect::Withdraw { block } => {
                    self.changes.send(QueueChange { block, order: None }).ok();
                }
                Effect::Drop { block } => self.drop_block(block, None),
                Effect::GiveUp { block, why, player } => {
                    let fixtures = self.fixtures.get(&block).into_iter().flatten();
                    let plays = |it: &Player| fixtures.clone().any(|one| one.players.contains(it));
                    let player = player.filter(plays);
                    self.drop_block(block, Some(Unplayed { why: sanitize(&why), player }));
                }
                Effect::Left { worker, name } => {
                    tracing::debug!("{worker} has left");
                    self.ready.extend(self.registry.left(&name).map(BackendEvent::Message));
                }
                Effect::Lost { worker, name, orders } => {
                    let lost = self.registry.lost(&worker, &name, orders);
                    self.ready.extend(lost.map(BackendEvent::Message));
                }
            }
        }
    }

    fn order(&mut self, block: u64, attempt: u32) {
        let Some(fixtures) = self.fixtures.get(&block).cloned() else { return };
        let void_retries = self.layout.brief.contest.policy.void_retries;
        let order = Order { block, attempt, fixtures, void_retries };
        let message = serde_json::to_vec(&order).unwrap_or_default();
        self.changes.send(QueueChange { block, order: Some((attempt, message)) }).ok();
    }

    /// Drops a block that is not played in this run.
    fn drop_block(&mut self, block: u64, why: Option<Unplayed>) {
        let fixtures = self.fixtures.remove(&block).unwrap_or_default();
        let numbers: Vec<u64> = fixtures.iter().map(|fixture| fixture.number).collect();
        for &number in &numbers {
            self.blocks.remove(&number);
            self.viewer.discard(number);
        }
        if !numbers.is_empty() {
            self.ready.push_back(BackendEvent::Dropped(numbers, why));
        }
    }
}

/// Removes the announcement of a contest that could not begin.
pub async fn retract(connection: &Connection, contest: &Contest, begun: &str) {
    let names = Names::of(contest, begun);
    if let Err(error) = call(layout::retract(connection, &names)).await {
        tracing::debug!("can't remove the announcement: {error}");
    }
}

/// Removes a contest from the server, whatever state it is in; `None` if nothing is there. Workers
/// that are still playing it stop.
pub async fn withdraw(connection: &Connection, names: Names) -> Result<Option<Withdrawn>, String> {
    send_unacknowledged(connection.client.publish(names.stop(), Vec::new().into())).await;
    let removed = Box::pin(layout::remove(connection, &names));
    let removed = connection.unless_denied(removed).await?;
    call(connection.client.flush()).await?;
    Ok(removed)
}

/// Returns whether a game of a block has no result yet.
fn is_missing(schedule: &Schedule, block: u64) -> bool {
    schedule.counting(block).any(|number| !schedule.has(number))
}

fn first_attempt() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    u32::try_from(now.saturating_sub(EPOCH_S)).unwrap_or_default()
}
