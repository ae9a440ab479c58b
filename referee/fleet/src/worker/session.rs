//! A worker's session in a contest: its match threads, orders and heartbeats.

use super::active::ActiveContest;
use super::announced::{AnnouncedContest, has_orders, list};
use super::filter::ContestFilter;
use super::job_router::JobRouter;
use super::leases::OrderLeases;
use super::order_loop::run_orders;
use super::phase::{LeaveReason, Phase};
use super::setbacks::Setbacks;
use super::shares::Shares;
use super::stall::StallDetector;
use super::{Settings, Status, StatusSink, send_heartbeat};
use crate::connect::Connection;
use crate::link::{call, ticks};
use crate::messages::HEARTBEAT_MS;
use crate::{Heartbeat, WorkerInfo, live};
use async_nats::Subscriber;
use futures_util::StreamExt;
use referee_contest::wording::count;
use referee_play::interrupts::Interrupts;
use referee_play::pool::{Played, Pool, PoolSize, Threads, unwatched};
use referee_play::running_matches::RunningMatches;
use referee_process::lock::lock;
use referee_process::work_folder::create_named;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};

/// The interval of its checks.
const TICK: Duration = Duration::from_millis(200);
/// The interval at which it looks for other contests, and reports to them that it plays this one: shorter
/// than any coordinator's patience.
const LOOK_INTERVAL: Duration = Duration::from_millis(2 * HEARTBEAT_MS);
/// A turn is at least as long as this many of its orders on average, since slots are idle while the
/// last orders of a turn are played.
const ORDERS_A_TURN: u32 = 4;

/// What all sessions of a worker share.
pub(super) struct SharedState {
    pub(super) info: WorkerInfo,
    /// Which contests the worker would play.
    pub(super) filter: ContestFilter,
    /// Its time, by contest.
    pub(super) shares: Arc<Mutex<Shares>>,
    /// Games that were reported, in all contests.
    pub(super) played: Arc<AtomicU64>,
}

/// The state that all orders of a contest share.
pub(super) struct Session {
    pub(super) connection: Connection,
    pub(super) contest: Arc<ActiveContest>,
    pub(super) info: WorkerInfo,
    /// Which other contests the worker would play.
    filter: ContestFilter,
    /// The worker's time, by contest, and up to when it was added there.
    shares: Arc<Mutex<Shares>>,
    added_until: Mutex<Instant>,
    /// How many orders were played, and their time in milliseconds.
    orders: (AtomicU64, AtomicU64),
    /// The name of the contest for which it leaves this one.
    next: OnceLock<String>,
    /// The orders that it holds.
    pub(super) leases: OrderLeases,
    /// Where orders have their games played.
    pub(super) jobs: JobRouter,
    /// The current phase.
    pub(super) phase: watch::Sender<Phase>,
    /// Games that were reported, in all contests.
    pub(super) played: Arc<AtomicU64>,
    /// What has gone wrong lately.
    pub(super) setbacks: Setbacks,
    /// The running matches.
    playing: RunningMatches,
    stall: Mutex<StallDetector>,
    /// The folder for transcripts.
    transcripts: TempDir,
    /// The number of transcripts so far.
    count: AtomicU64,
}

impl Session {
    /// Creates a session in this contest.
    pub(super) fn new(
        connection: Connection,
        contest: Arc<ActiveContest>,
        SharedState { info, filter, shares, played }: SharedState,
    ) -> std::io::Result<Self> {
        let transcripts = create_named("referee-", contest.folder.path())?;
        let info = WorkerInfo { sandbox: Some(contest.sandbox.recorded.clone()), ..info };
        lock(&shares).begin(&contest.announced);
        Ok(Self {
            connection,
            contest,
            info,
            filter,
            shares,
            added_until: Mutex::new(Instant::now()),
            orders: Default::default(),
            next: OnceLock::new(),
            leases: OrderLeases::default(),
            jobs: JobRouter::default(),
            phase: watch::Sender::new(Phase::Taking),
            played,
            setbacks: Setbacks::default(),
            playing: RunningMatches::default(),
            stall: Mutex::new(StallDetector::new()),
            transcripts,
            count: AtomicU64::new(0),
        })
    }

    /// Returns a new path for the transcript of a game.
    pub(super) fn transcript(&self, number: u64) -> PathBuf {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        self.transcripts.path().join(format!("{number}-{count}.jsonl"))
    }

    /// Changes to this phase, if that is allowed.
    pub(super) fn advance(&self, next: Phase) {
        self.phase.send_if_modified(|phase| {
            let changed = phase.may_become(next);
            if changed {
                *phase = next;
            }
            changed
        });
    }

    /// Returns why all orders are dropped, if they are. Detects whether this process was paused.
    pub(super) fn dropped(&self) -> Option<LeaveReason> {
        let gap = lock(&self.stall).elapsed();
        if gap > self.contest.checked.lease / 3 {
            self.advance(Phase::Dropped(LeaveReason::Stalled(gap)));
        }
        match *self.phase.borrow() {
            Phase::Dropped(why) => Some(why),
            _ => None,
        }
    }

    /// Waits until all orders are dropped for such a reason.
    pub(super) async fn drop_for(&self, is_such: impl Fn(LeaveReason) -> bool) -> LeaveReason {
        let mut phases = self.phase.subscribe();
        let is_it = |phase: &Phase| matches!(phase, Phase::Dropped(why) if is_such(*why));
        match phases.wait_for(is_it).await.map(|phase| phase.why()) {
            Ok(Some(why)) => why,
            _ => std::future::pending().await,
        }
    }

    /// Records how long an order took.
    pub(super) fn record_order(&self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.orders.0.fetch_add(1, Ordering::Relaxed);
        self.orders.1.fetch_add(ms, Ordering::Relaxed);
    }

    /// Returns how long a turn is.
    fn turn(&self) -> Duration {
        let [count, ms] = [&self.orders.0, &self.orders.1].map(|it| it.load(Ordering::Relaxed));
        let order = Duration::from_millis(ms / count.max(1));
        self.contest.checked.lease.max(order * ORDERS_A_TURN)
    }

    /// Adds the time since the last call to the contest's share.
    fn add_time(&self) {
        let mut until = lock(&self.added_until);
        lock(&self.shares).add(&self.contest.announced, until.elapsed());
        *until = Instant::now();
    }

    /// Returns the other contests that this worker would play.
    async fn others(&self) -> Vec<AnnouncedContest> {
        let mut others = list(&self.connection).await.unwrap_or_default();
        let names = &self.contest.announced.names;
        others.retain(|other| other.names != *names && self.filter.may_want(other));
        others
    }

    /// Leaves for another contest that has waiting orders and is chosen, if there is one.
    pub(super) async fn leave_for_other(&self, is_chosen: impl Fn(&AnnouncedContest) -> bool) {
        for other in self.others().await.iter().filter(|other| is_chosen(other)) {
            if has_orders(&self.connection, &other.names).await {
                self.next.get_or_init(|| other.name());
                return self.advance(Phase::Leaving(LeaveReason::Elsewhere));
            }
        }
    }

    /// Gives other contests their turns, and reports to them that it plays this one meanwhile.
    async fn share(&self) {
        let mut ticks = ticks(LOOK_INTERVAL);
        let mut began = Instant::now();
        let elsewhere = Some(self.contest.announced.name());
        let beat = Heartbeat { worker: self.info.clone(), elsewhere, ..Heartbeat::default() };
        loop {
            ticks.tick().await;
            if !self.connection.is_up() {
                continue;
            }
            for other in self.others().await {
                send_heartbeat(&self.connection, &other.names, &beat).await;
            }
            if began.elapsed() < self.turn() {
                continue;
            }
            began = Instant::now();
            self.add_time();
            let (shares, own) = (&self.shares, &self.contest.announced);
            self.leave_for_other(|other| {
                let shares = lock(shares);
                shares.next_turn(other) < shares.next_turn(own)
            })
            .await;
            if self.phase.borrow().why().is_none() {
                lock(shares).begin(own);
            }
        }
    }

    /// Plays the contest until there is a reason to leave it. `busy` is when the worker last had
    /// work.
    pub(super) async fn run(
        self,
        settings: &Settings,
        busy: &mut Instant,
        interrupts: &mut Interrupts,
        status: &mut impl StatusSink,
    ) -> std::io::Result<LeaveReason> {
        let pin = self.contest.checked.brief.pin;
        let room = PoolSize { matches: settings.slots, pin, uses_free_cores: true };
        let (sandbox, watching) = (self.contest.sandbox.clone(), unwatched());
        let (orders, paused) = (interrupts.orders(), interrupts.paused_time());
        let pool = Pool::start(room, sandbox, orders, paused, watching, self.playing.clone())?;
        let Pool { jobs, results, threads } = pool;
        self.jobs.open(jobs);
        let stops = self.connection.client.subscribe(self.contest.announced.names.stop());
        let stops = call(stops).await.ok();
        let session = Arc::new(self);
        let mut run = Run {
            beat_at: Instant::now(),
            last_beat: (false, false),
            renewed: Instant::now(),
            was_up: true,
            busy,
            drained_by: None,
            results: Some(results),
            stops,
            session: session.clone(),
            settings,
        };
        Box::pin(run.go(interrupts, status)).await;
        session.jobs.close();
        let is_dropped = matches!(*session.phase.borrow(), Phase::Dropped(_));
        if is_dropped && !interrupts.is_stopped() {
            interrupts.stop("the worker leaves the contest".to_owned());
        }
        end(run.results, threads).await;
        session.add_time();
        if interrupts.received().is_none() {
            // The next contest's matches may run.
            interrupts.clear_stop();
        }
        let why = session.phase.borrow().why();
        Ok(why.unwrap_or(LeaveReason::Broken))
    }
}

/// Waits until all matches have ended and are cleaned up.
async fn end(results: Option<mpsc::Receiver<Played>>, threads: Threads) {
    if let Some(mut results) = results {
        while results.recv().await.is_some() {}
    }
    tokio::task::spawn_blocking(|| threads.join()).await.ok();
}

/// A running session.
struct Run<'a> {
    session: Arc<Session>,
    settings: &'a Settings,
    beat_at: Instant,
    /// Whether the last heartbeat had orders, and whether it was leaving.
    last_beat: (bool, bool),
    renewed: Instant,
    was_up: bool,
    /// When the worker last had work.
    busy: &'a mut Instant,
    /// The deadline for leaving.
    drained_by: Option<Instant>,
    /// `None` once the pool has ended.
    results: Option<mpsc::Receiver<Played>>,
    stops: Option<Subscriber>,
}

impl Run<'_> {
    async fn go(&mut self, interrupts: &mut Interrupts, status: &mut impl StatusSink) {
        let session = self.session.clone();
        let mut run_orders = pin!(run_orders(session.clone(), self.settings.slots));
        let sender = async {
            let (client, names) = (&session.connection.client, &session.contest.announced.names);
            live::send(client, names, &session.info.id, &session.playing).await;
            std::future::pending::<()>().await;
        };
        let mut sender = pin!(sender);
        let mut share = pin!(session.share());
        let mut ticks = ticks(TICK);
        loop {
            tokio::select! {
                () = &mut run_orders => break,
                () = &mut sender => {}
                () = &mut share => {}
                _ = ticks.tick() => self.tick(status).await,
                played = async { self.results.as_mut()?.recv().await }, if self.results.is_some() => {
                    self.take(played);
                }
                Some(_) = async { self.stops.as_mut()?.next().await } => {
                    status.message("the coordinator has stopped the contest");
                    session.advance(Phase::Dropped(LeaveReason::Stopped));
                }
                () = interrupts.next() => self.interrupted(interrupts, status),
            }
            if session.dropped().is_some() && !interrupts.is_stopped() {
                // At once, not when all orders are acknowledged.
                interrupts.stop("the worker drops its matches".to_owned());
            }
        }
        self.beat().await;
    }

    async fn tick(&mut self, status: &mut impl StatusSink) {
        let session = self.session.clone();
        let (up, now) = (session.connection.is_up(), Instant::now());
        let back = up && !self.was_up;
        self.was_up = up;
        let orders = session.leases.list().len();
        if orders > 0 {
            *self.busy = now;
        }
        if self.settings.idle.is_some_and(|idle| self.busy.elapsed() > idle) {
            session.advance(Phase::Leaving(LeaveReason::Idle));
        }
        if self.drained_by.is_some_and(|by| now > by) {
            session.advance(Phase::Dropped(LeaveReason::Interrupted));
        }
        if up && (back || self.renewed.elapsed() >= session.contest.checked.lease / 3) {
            self.renewed = now;
            session.leases.renew().await;
        }
        let state = (orders > 0, session.phase.borrow().why().is_some());
        // At once if others wait for it.
        let is_news = state != self.last_beat;
        if up && (back || is_news || now >= self.beat_at) {
            self.last_beat = state;
            self.beat_at = now + Duration::from_millis(HEARTBEAT_MS);
            self.beat().await;
        }
        status.status(&Status {
            contest: Some(session.contest.announced.name()),
            orders,
            games: session.jobs.games().len(),
            played: session.played.load(Ordering::Relaxed),
            up,
            leaving: session.phase.borrow().why().is_some(),
        });
    }

    async fn beat(&self) {
        let session = &self.session;
        let beat = Heartbeat {
            worker: session.info.clone(),
            orders: session.leases.list(),
            games: session.jobs.games(),
            building: session.contest.building(),
            played: session.contest.played.load(Ordering::Relaxed),
            refused: None,
            leaving: session.phase.borrow().why().is_some(),
            elsewhere: session.next.get().cloned(),
        };
        if session.connection.is_up() {
            send_heartbeat(&session.connection, &session.contest.announced.names, &beat).await;
        }
    }

    fn take(&mut self, played: Option<Played>) {
        match played {
            // A game that was not supervised all the time doesn't count.
            Some(_) if self.session.dropped().is_some() => {}
            Some(played) => self.session.jobs.take(played),
            None => {
                self.results = None;
                self.session.advance(Phase::Leaving(LeaveReason::Broken));
                self.session.jobs.close();
            }
        }
    }

    fn interrupted(&mut self, interrupts: &Interrupts, status: &mut impl StatusSink) {
        if interrupts.received().is_none() {
            return;
        }
        if interrupts.is_stopped() {
            return self.session.advance(Phase::Dropped(LeaveReason::Interrupted));
        }
        let orders = self.session.leases.list().len() as u64;
        if orders > 0 {
            let orders = count(orders, "order");
            status.message(&format!("finishing {orders}; press Ctrl-C again to drop them"));
        }
        self.session.advance(Phase::Leaving(LeaveReason::Interrupted));
        self.drained_by = self.settings.drain.map(|drain| Instant::now() + drain);
    }
}
