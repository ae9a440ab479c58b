//! A worker in a contest: its pool, its orders, its signs of life, until it leaves.

use super::desk::Desk;
use super::hands::Hands;
use super::joined::Joined;
use super::phase::{Phase, Why};
use super::pulse::Pulse;
use super::supply::supply;
use super::wanted::Wanted;
use super::{Audience, Settings, Status};
use crate::connect::Connection;
use crate::link::{CALL, hand, next, ticks, within};
use crate::messages::BEAT_MS;
use crate::{Beat, WorkerInfo, live};
use async_nats::Subscriber;
use referee_play::interrupts::Interrupts;
use referee_play::playing::Playing;
use referee_play::pool::{Played, Pool, Room, Threads};
use referee_process::lock::lock;
use referee_process::work_folder::create_in;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};

/// How often it looks after everything.
const TICK: Duration = Duration::from_millis(200);

/// What all orders of a contest share.
pub(super) struct Session {
    pub(super) connection: Connection,
    pub(super) joined: Arc<Joined>,
    pub(super) info: WorkerInfo,
    /// Which other contests it would play in.
    pub(super) wanted: Wanted,
    /// The orders that it has.
    pub(super) hands: Hands,
    /// Where games are asked for.
    pub(super) desk: Desk,
    /// What it is about.
    pub(super) phase: watch::Sender<Phase>,
    /// Games that it has reported.
    pub(super) played: AtomicU64,
    /// Orders in a row that the machine spoiled.
    pub(super) spoiled: AtomicU64,
    /// Times in a row that nothing came that it can play.
    pub(super) vain: AtomicU64,
    /// The matches that are under way.
    playing: Playing,
    pulse: Mutex<Pulse>,
    /// Where transcripts are.
    transcripts: TempDir,
    /// How many there were.
    count: AtomicU64,
}

impl Session {
    /// In this contest.
    pub(super) fn new(
        connection: Connection,
        joined: Arc<Joined>,
        info: &WorkerInfo,
        wanted: Wanted,
    ) -> std::io::Result<Self> {
        let transcripts = create_in(joined.folder())?;
        let info = WorkerInfo { sandbox: Some(joined.enclosure.told.clone()), ..info.clone() };
        Ok(Self {
            connection,
            joined,
            info,
            wanted,
            hands: Hands::default(),
            desk: Desk::default(),
            phase: watch::Sender::new(Phase::Taking),
            played: AtomicU64::new(0),
            spoiled: AtomicU64::new(0),
            vain: AtomicU64::new(0),
            playing: Playing::default(),
            pulse: Mutex::new(Pulse::new()),
            transcripts,
            count: AtomicU64::new(0),
        })
    }

    /// A file for the transcript of a game.
    pub(super) fn transcript(&self, number: u64) -> PathBuf {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        self.transcripts.path().join(format!("{number}-{count}.jsonl"))
    }

    /// Is about something else from now on, if that can follow.
    pub(super) fn turn(&self, next: Phase) {
        self.phase.send_if_modified(|phase| {
            let turned = phase.may_become(next);
            if turned {
                *phase = next;
            }
            turned
        });
    }

    /// Why everything is dropped, if it is. Finds out whether this process stood still.
    pub(super) fn dropped(&self) -> Option<Why> {
        let gap = lock(&self.pulse).feel();
        if gap > self.joined.checked.lease / 3 {
            self.turn(Phase::Dropped(Why::Stalled(gap)));
        }
        match *self.phase.borrow() {
            Phase::Dropped(why) => Some(why),
            _ => None,
        }
    }

    /// Waits until everything is dropped for such a reason.
    pub(super) async fn drop_for(&self, is_such: impl Fn(Why) -> bool) -> Why {
        let mut phases = self.phase.subscribe();
        let is_it = |phase: &Phase| matches!(phase, Phase::Dropped(why) if is_such(*why));
        match phases.wait_for(is_it).await.map(|phase| phase.why()) {
            Ok(Some(why)) => why,
            _ => std::future::pending().await,
        }
    }

    /// Plays in the contest until there is a reason to leave it: that, and how many games were reported.
    /// `busy` is when there was something to do last.
    pub(super) async fn run(
        self,
        settings: &Settings,
        busy: &mut Instant,
        interrupts: &mut Interrupts,
        audience: &mut impl Audience,
    ) -> std::io::Result<(Why, u64)> {
        let pin = self.joined.checked.brief.pin;
        let room = Room { matches: settings.slots, pin };
        let (enclosure, watching) = (self.joined.enclosure.clone(), self.desk.watching());
        let (orders, paused) = (interrupts.orders(), interrupts.paused_time());
        let pool = Pool::start(room, enclosure, orders, paused, watching, self.playing.clone())?;
        let Pool { jobs, results, threads } = pool;
        self.desk.open(jobs);
        let stops = self.connection.client.subscribe(self.joined.names.stop());
        let stops = within(CALL, stops).await.ok();
        let session = Arc::new(self);
        let mut run = Run {
            beat_at: Instant::now(),
            told: (false, false),
            renewed: Instant::now(),
            was_up: true,
            busy,
            drained_by: None,
            results: Some(results),
            stops,
            session: session.clone(),
            settings,
        };
        run.go(interrupts, audience).await;
        session.desk.close();
        let is_dropped = matches!(*session.phase.borrow(), Phase::Dropped(_));
        if is_dropped && !interrupts.is_stopped() {
            interrupts.stop("the worker leaves the contest".to_owned());
        }
        end(run.results, threads).await;
        if interrupts.received().is_none() {
            // The next contest's matches are others.
            interrupts.go_on();
        }
        let why = session.phase.borrow().why().unwrap_or(Why::Broken);
        Ok((why, session.played.load(Ordering::Relaxed)))
    }
}

/// Waits until nobody plays any more and all is cleaned up.
async fn end(results: Option<mpsc::Receiver<Played>>, threads: Threads) {
    if let Some(mut results) = results {
        while results.recv().await.is_some() {}
    }
    tokio::task::spawn_blocking(|| threads.join()).await.ok();
}

/// A session while it runs.
struct Run<'a> {
    session: Arc<Session>,
    settings: &'a Settings,
    beat_at: Instant,
    /// Whether it had orders, and whether it was leaving, when it was last said.
    told: (bool, bool),
    renewed: Instant,
    was_up: bool,
    /// When there was something to do last.
    busy: &'a mut Instant,
    /// When it must have left.
    drained_by: Option<Instant>,
    /// `None` when the pool has ended.
    results: Option<mpsc::Receiver<Played>>,
    stops: Option<Subscriber>,
}

impl Run<'_> {
    async fn go(&mut self, interrupts: &mut Interrupts, audience: &mut impl Audience) {
        let session = self.session.clone();
        let mut supply = pin!(supply(session.clone(), self.settings.slots));
        let sender = async {
            let (client, names) = (&session.connection.client, &session.joined.names);
            live::send(client, names, &session.info.id, &session.playing).await;
            std::future::pending::<()>().await;
        };
        let mut sender = pin!(sender);
        let mut ticks = ticks(TICK);
        loop {
            tokio::select! {
                () = &mut supply => break,
                () = &mut sender => {}
                _ = ticks.tick() => self.tick(audience).await,
                played = async { self.results.as_mut()?.recv().await }, if self.results.is_some() => {
                    self.take(played);
                }
                Some(_) = async { next(self.stops.as_mut()?).await } => {
                    audience.tell("the coordinator stops the contest");
                    session.turn(Phase::Dropped(Why::Stopped));
                }
                () = interrupts.next() => self.interrupted(interrupts, audience),
            }
            if session.dropped().is_some() && !interrupts.is_stopped() {
                // At once, not when all orders have been answered for.
                interrupts.stop("the worker drops its matches".to_owned());
            }
        }
        self.beat().await;
    }

    async fn tick(&mut self, audience: &mut impl Audience) {
        let session = self.session.clone();
        let (up, now) = (session.connection.is_up(), Instant::now());
        let back = up && !self.was_up;
        self.was_up = up;
        let orders = session.hands.list().len();
        if orders > 0 {
            *self.busy = now;
        }
        if self.settings.idle.is_some_and(|idle| self.busy.elapsed() > idle) {
            session.turn(Phase::Leaving(Why::Idle));
        }
        if self.drained_by.is_some_and(|by| now > by) {
            session.turn(Phase::Dropped(Why::Interrupted));
        }
        if up && (back || self.renewed.elapsed() >= session.joined.checked.lease / 3) {
            self.renewed = now;
            session.hands.renew().await;
        }
        let told = (orders > 0, session.phase.borrow().why().is_some());
        // At once where somebody waits for it.
        let news = told != self.told;
        if up && (back || news || now >= self.beat_at) {
            self.told = told;
            self.beat_at = now + Duration::from_millis(BEAT_MS);
            self.beat().await;
        }
        audience.see(&Status {
            contest: Some(session.joined.found.name()),
            orders,
            games: session.desk.games().len(),
            played: session.played.load(Ordering::Relaxed),
            up,
            leaving: session.phase.borrow().why().is_some(),
        });
    }

    async fn beat(&self) {
        let session = &self.session;
        let beat = Beat {
            worker: session.info.clone(),
            orders: session.hands.list(),
            games: session.desk.games(),
            played: session.played.load(Ordering::Relaxed),
            refused: None,
            leaving: session.phase.borrow().why().is_some(),
        };
        let bytes = serde_json::to_vec(&beat).unwrap_or_default();
        let subject = session.joined.names.beats();
        if session.connection.is_up() {
            hand(session.connection.client.publish(subject, bytes.into())).await;
        }
    }

    fn take(&mut self, played: Option<Played>) {
        match played {
            // What was played while nobody looked after it doesn't count.
            Some(_) if self.session.dropped().is_some() => {}
            Some(played) => self.session.desk.take(played),
            None => {
                self.results = None;
                self.session.turn(Phase::Leaving(Why::Broken));
                self.session.desk.close();
            }
        }
    }

    fn interrupted(&mut self, interrupts: &Interrupts, audience: &mut impl Audience) {
        if interrupts.received().is_none() {
            return;
        }
        if interrupts.is_stopped() {
            return self.session.turn(Phase::Dropped(Why::Interrupted));
        }
        let count = self.session.hands.list().len();
        if count > 0 {
            let orders = if count == 1 { "order is" } else { "orders are" };
            audience.tell(&format!(
                "nothing new is taken; {count} {orders} played to the end (again: they are dropped)"
            ));
        }
        self.session.turn(Phase::Leaving(Why::Interrupted));
        self.drained_by = self.settings.drain.map(|drain| Instant::now() + drain);
    }
}
