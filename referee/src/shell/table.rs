//! What the matches of one core share: the launcher, the slots for thinking, the canary, a buffer to
//! read into, and the orders that come from outside.

use super::canary::Canary;
use super::launcher::Launcher;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::{Semaphore, watch};

/// How much is read at once.
const SCRATCH_BYTES: usize = 64 * 1024;

/// What somebody outside wants of every match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// Stop, and why, in words.
    pub stop: Option<String>,
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
    pub fn known_ns(&self) -> Option<u64> {
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
pub struct Table {
    /// Starts agents.
    pub launcher: Arc<Launcher>,
    /// As many agents of this core think at once as there are permits.
    pub slots: Arc<Semaphore>,
    /// Tells the referee's own lag.
    pub canary: Canary,
    /// What has just been read lies here.
    pub scratch: Rc<RefCell<Vec<u8>>>,
    /// From outside.
    pub orders: watch::Receiver<Orders>,
    /// To be left out of all times.
    pub paused: PausedTime,
}

impl Table {
    /// A table on the current runtime, at which one agent thinks at a time.
    pub fn new(
        launcher: Arc<Launcher>,
        orders: watch::Receiver<Orders>,
        paused: PausedTime,
    ) -> Self {
        Self {
            launcher,
            slots: Arc::new(Semaphore::new(1)),
            canary: Canary::start(),
            scratch: Rc::new(RefCell::new(vec![0; SCRATCH_BYTES])),
            orders,
            paused,
        }
    }
}
