//! What the matches of one core share: the launcher, the slots for thinking, the canary, a buffer to
//! read into, and the orders that come from outside.

use super::lag_probe::LagProbe;
use referee_process::cores::hold;
use referee_process::launcher::Launcher;
use referee_process::sandbox::Enclosure;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot, watch};

/// How long a start keeps others from thinking at most.
const START_ALONE: Duration = Duration::from_millis(25);
/// How long after that it keeps others from starting at most.
const START_HOLD: Duration = Duration::from_millis(250);
/// How much is read at once.
const SCRATCH_BYTES: usize = 64 * 1024;

/// What somebody outside wants of every match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// Stop, and why, in words.
    pub stop: Option<String>,
    /// No match is begun any more; those that are under way go on.
    pub last: bool,
    /// Everything stands still: the referee itself is about to be stopped.
    pub paused: bool,
}

/// The time that the referee has been stopped, in nanoseconds, over all pauses.
#[derive(Clone, Debug, Default)]
pub struct PausedTime(Arc<Pauses>);

#[derive(Debug, Default)]
struct Pauses {
    ns: AtomicU64,
    /// In a pause, or just out of one whose length isn't known yet.
    under_way: AtomicBool,
}

impl PausedTime {
    /// A pause begins.
    pub fn begin(&self) {
        self.0.under_way.store(true, Ordering::SeqCst);
    }

    /// The pause is over; it was this long.
    pub fn end(&self, ns: u64) {
        self.0.ns.fetch_add(ns, Ordering::SeqCst);
        self.0.under_way.store(false, Ordering::SeqCst);
    }

    /// The sum so far; `None` as long as no clock may be read. When the referee goes on, all its
    /// threads do at once, and some of them before the one that tells how long the pause was.
    pub fn settled_ns(&self) -> Option<u64> {
        let under_way = self.0.under_way.load(Ordering::SeqCst);
        (!under_way).then(|| self.past_ns())
    }

    /// The sum of the pauses that are over.
    pub fn past_ns(&self) -> u64 {
        self.0.ns.load(Ordering::SeqCst)
    }
}

/// What the matches of one core share.
#[derive(Clone, Debug)]
pub struct CoreContext {
    /// Starts agents.
    pub launcher: Arc<Launcher>,
    /// What it starts them in.
    pub enclosure: Arc<Enclosure>,
    /// As many agents of this core think at once as there are permits.
    pub slots: Arc<Semaphore>,
    /// As many matches of this core start their agents at a time as there are permits.
    starts: Arc<Semaphore>,
    /// Tells the referee's own lag.
    pub lag_probe: LagProbe,
    /// What has just been read lies here.
    pub scratch: Rc<RefCell<Vec<u8>>>,
    /// From outside.
    pub orders: watch::Receiver<Orders>,
    /// To be left out of all times.
    pub paused: PausedTime,
    /// The core that this thread and the agents of its matches stay on, where they are to.
    pub core: Option<usize>,
}

impl CoreContext {
    /// A table on the current runtime, at which one agent thinks at a time. With `core`, one of
    /// [`super::cores::allowed`], this thread and all agents of the table stay on that one; where the
    /// system refuses that, it is told in the log, and they go where they are put.
    pub(super) fn new(
        launcher: Arc<Launcher>,
        enclosure: Arc<Enclosure>,
        orders: watch::Receiver<Orders>,
        paused: PausedTime,
        core: Option<usize>,
    ) -> Self {
        let core = core.filter(|&core| {
            let held = hold(core);
            if let Err(errno) = held {
                tracing::warn!("matches can't be held on core {core}: {}", errno.desc());
            }
            held.is_ok()
        });
        Self {
            launcher,
            enclosure,
            slots: Arc::new(Semaphore::new(1)),
            starts: Arc::new(Semaphore::new(1)),
            lag_probe: LagProbe::start(),
            scratch: Rc::new(RefCell::new(vec![0; SCRATCH_BYTES])),
            orders,
            paused,
            core,
        }
    }

    /// A table for one match after the other, which nothing interrupts. To be made where local tasks
    /// can be.
    pub fn alone(enclosure: Enclosure) -> std::io::Result<Self> {
        let launcher = Arc::new(Launcher::start(&enclosure.jail)?);
        let (_, orders) = watch::channel(Orders::default());
        Ok(Self::new(launcher, Arc::new(enclosure), orders, PausedTime::default(), None))
    }

    /// Waits until a match may start its agents. What starts takes the core from whoever thinks, so
    /// one match of a core starts at a time, and at first nobody thinks meanwhile. That ends when
    /// the guard is dropped, or by itself: agents that wait while they start, or take long, are not
    /// waited for.
    pub async fn acquire_start(&self) -> Option<oneshot::Sender<()>> {
        let start = self.starts.clone().acquire_owned().await.ok()?;
        let slot = self.slots.clone().acquire_owned().await.ok()?;
        let (guard, mut dropped) = oneshot::channel();
        tokio::task::spawn_local(async move {
            // Dropped or not in time, it is the same.
            tokio::time::timeout(START_ALONE, &mut dropped).await.ok();
            drop(slot);
            if !dropped.is_terminated() {
                tokio::time::timeout(START_HOLD, dropped).await.ok();
            }
            drop(start);
        });
        Some(guard)
    }
}
