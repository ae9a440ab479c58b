//! What the matches of one core share: launcher, slots for thinking, lag probe, read buffer, orders.

use super::lag_probe::{LagProbe, PERIOD};
use referee_process::cores::pin_thread;
use referee_process::launcher::Launcher;
use referee_process::sandbox::Sandbox;
use referee_process::timers::Ticker;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

/// How long a start keeps others from thinking, at most.
const START_ALONE: Duration = Duration::from_millis(25);
/// How long after that it keeps others from starting, at most.
const START_HOLD: Duration = Duration::from_millis(250);
/// How long a match may keep the core for its next turns while others wait for it. Each wait of a match
/// costs stopping and resuming its agents, so a match plays several quick turns in a row.
const SLOT_HOLD: Duration = Duration::from_millis(10);
/// How much is read at once.
const SCRATCH_BYTES: usize = 64 * 1024;

/// Orders from outside to every match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// Stop, for this reason.
    pub stop: Option<String>,
    /// Begin no more matches; running ones continue.
    pub last: bool,
    /// Pause everything: the referee itself is about to be stopped.
    pub paused: bool,
}

/// The total time that the referee was paused, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct PausedTime(Arc<Pauses>);

#[derive(Debug, Default)]
struct Pauses {
    ns: AtomicU64,
    /// In a pause, or just after one whose length isn't known yet.
    under_way: AtomicBool,
    /// How many matches there are, and how many of them have stopped their agents for the present pause.
    playing: AtomicU64,
    stopped: AtomicU64,
}

/// A match that stops its agents in a pause, until this is dropped.
#[derive(Debug)]
pub(super) struct PausedMatch {
    paused: PausedTime,
    is_stopped: bool,
}

impl PausedMatch {
    /// Notes whether the agents have been stopped.
    pub(super) fn set(&mut self, is_stopped: bool) {
        let stopped = &self.paused.0.stopped;
        match (std::mem::replace(&mut self.is_stopped, is_stopped), is_stopped) {
            (false, true) => stopped.fetch_add(1, Ordering::SeqCst),
            (true, false) => stopped.fetch_sub(1, Ordering::SeqCst),
            _ => 0,
        };
    }
}

impl Drop for PausedMatch {
    fn drop(&mut self) {
        self.set(false);
        self.paused.0.playing.fetch_sub(1, Ordering::SeqCst);
    }
}

impl PausedTime {
    /// Begins a pause.
    pub fn begin(&self) {
        self.0.under_way.store(true, Ordering::SeqCst);
    }

    /// Adds a match, whose agents are stopped or not.
    pub(super) fn join(&self, is_stopped: bool) -> PausedMatch {
        self.0.playing.fetch_add(1, Ordering::SeqCst);
        let mut joined = PausedMatch { paused: self.clone(), is_stopped: false };
        joined.set(is_stopped);
        joined
    }

    /// Whether all matches have stopped their agents.
    pub(super) fn is_everything_stopped(&self) -> bool {
        let Pauses { playing, stopped, .. } = &*self.0;
        stopped.load(Ordering::SeqCst) >= playing.load(Ordering::SeqCst)
    }

    /// Ends a pause of this length.
    pub fn end(&self, ns: u64) {
        self.0.ns.fetch_add(ns, Ordering::SeqCst);
        self.0.under_way.store(false, Ordering::SeqCst);
    }

    /// Returns the sum; `None` in a pause. When the referee resumes, some threads run before the one that
    /// measures the pause, so `None` also until then.
    pub fn settled_ns(&self) -> Option<u64> {
        let under_way = self.0.under_way.load(Ordering::SeqCst);
        (!under_way).then(|| self.past_ns())
    }

    /// Returns the sum of past pauses.
    pub fn past_ns(&self) -> u64 {
        self.0.ns.load(Ordering::SeqCst)
    }
}

/// What the matches of one core share.
#[derive(Clone, Debug)]
pub struct CoreContext {
    /// Starts agents.
    pub launcher: Arc<Launcher>,
    /// The sandbox for agents.
    pub sandbox: Arc<Sandbox>,
    /// A permit per match of this core whose agents may think at once.
    slots: Arc<Semaphore>,
    /// How many agents may think beside the one with the permit, on cores that no match needs.
    pub(super) beside: usize,
    /// A permit per match of this core that may start agents at once.
    starts: Arc<Semaphore>,
    /// Measures the referee's own delay.
    pub lag_probe: LagProbe,
    /// The read buffer.
    pub scratch: Rc<RefCell<Vec<u8>>>,
    /// Orders from outside.
    pub orders: watch::Receiver<Orders>,
    /// Pauses, which are not part of any time.
    pub paused: PausedTime,
    /// The core to which this thread and its agents are pinned.
    pub pinned_to: Option<usize>,
}

impl CoreContext {
    /// Creates a context on the current runtime, where one agent thinks at a time, and `beside` more of its match. With
    /// `core`, pins this thread and its agents to that core; if the system refuses, logs it and doesn't pin.
    pub(super) fn new(
        launcher: Arc<Launcher>,
        sandbox: Arc<Sandbox>,
        orders: watch::Receiver<Orders>,
        paused: PausedTime,
        timer: Ticker,
        core: Option<usize>,
        beside: usize,
    ) -> Self {
        let core = core.filter(|&core| {
            let held = pin_thread(core);
            if let Err(errno) = held {
                tracing::warn!("can't pin matches to core {core}: {}", errno.desc());
            }
            held.is_ok()
        });
        Self {
            launcher,
            sandbox,
            slots: Arc::new(Semaphore::new(1)),
            beside,
            starts: Arc::new(Semaphore::new(1)),
            lag_probe: LagProbe::start(timer),
            scratch: Rc::new(RefCell::new(vec![0; SCRATCH_BYTES])),
            orders,
            paused,
            pinned_to: core,
        }
    }

    /// Creates a context for single matches without orders. Call it where local tasks can be spawned.
    pub fn alone(sandbox: Sandbox) -> std::io::Result<Self> {
        let launcher = Arc::new(Launcher::start(&sandbox.launcher)?);
        let (_, orders) = watch::channel(Orders::default());
        let timer = Ticker::new(PERIOD)?;
        Ok(Self::new(launcher, Arc::new(sandbox), orders, PausedTime::default(), timer, None, 0))
    }

    /// Waits until a match may start its agents. Starting agents takes CPU time from thinking ones, so
    /// only one match of a core starts at a time, and at first no agent thinks meanwhile. Both end when
    /// the guard is dropped, or after a time limit.
    pub(super) async fn acquire_start(&self) -> StartGuard {
        let start = self.starts.clone().acquire_owned().await;
        let slot = Rc::new(RefCell::new(Some(self.slot().await)));
        let (guard, mut dropped) = oneshot::channel();
        let kept = slot.clone();
        tokio::task::spawn_local(async move {
            // Dropped or timed out.
            tokio::time::timeout(START_ALONE, &mut dropped).await.ok();
            kept.borrow_mut().take();
            if !dropped.is_terminated() {
                tokio::time::timeout(START_HOLD, dropped).await.ok();
            }
            drop(start);
        });
        StartGuard { slot, _held: guard }
    }

    /// Waits until an agent of this core may think.
    pub(super) fn slot(&self) -> impl Future<Output = Slot> + 'static {
        let permit = self.slots.clone().acquire_owned();
        async { Slot::new(permit.await.expect("the slots are never closed")) }
    }

    /// Returns a slot if one is free.
    pub(super) fn free_slot(&self) -> Option<Slot> {
        self.slots.clone().try_acquire_owned().ok().map(Slot::new)
    }
}

/// The permission to let an agent think.
#[derive(Debug)]
pub(super) struct Slot {
    _permit: OwnedSemaphorePermit,
    since: Instant,
}

impl Slot {
    fn new(permit: OwnedSemaphorePermit) -> Self {
        Self { _permit: permit, since: Instant::now() }
    }

    /// Whether the match may use it for one more turn, although others wait.
    pub(super) fn may_be_kept(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) < SLOT_HOLD
    }
}

/// Held by a match that starts its agents.
#[derive(Debug)]
pub(super) struct StartGuard {
    slot: Rc<RefCell<Option<Slot>>>,
    _held: oneshot::Sender<()>,
}

impl StartGuard {
    /// Ends the start. Returns its slot for the first turn, if the start was quick.
    pub(super) fn end(self) -> Option<Slot> {
        self.slot.borrow_mut().take().map(|slot| Slot { since: Instant::now(), ..slot })
    }
}

#[cfg(test)]
mod tests {
    use super::PausedTime;

    #[test]
    fn the_referee_knows_when_all_matches_have_stopped_their_agents() {
        let paused = PausedTime::default();
        assert!(paused.is_everything_stopped());
        let (mut one, mut other) = (paused.join(false), paused.join(true));
        assert!(!paused.is_everything_stopped());
        one.set(true);
        one.set(true);
        assert!(paused.is_everything_stopped());
        other.set(false);
        assert!(!paused.is_everything_stopped());
        drop(other);
        assert!(paused.is_everything_stopped());
        let third = paused.join(false);
        assert!(!paused.is_everything_stopped());
        drop((one, third));
        assert!(paused.is_everything_stopped());
    }
}
