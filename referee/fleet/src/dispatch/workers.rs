//! The connected workers.

use crate::messages::Heartbeat;
use crate::workers::SLOTS_MAX;
use referee_protocol::plain::sanitize_name;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of workers; more are ignored.
const WORKERS_MAX: usize = 10_000;
/// The maximum length of an id.
const ID_CHARACTERS_MAX: usize = 64;
/// A worker with this many consecutive failures is avoided while there are others.
const CONSECUTIVE_FAILURES_MAX: u32 = 3;

/// All workers with recent heartbeats.
#[derive(Debug, Default)]
pub(super) struct WorkerPool {
    workers: BTreeMap<String, Worker>,
    /// How many of them take orders, and their slots.
    able: usize,
    /// How many of them play another contest.
    away: usize,
    slots: u64,
    /// Ids of workers with too many consecutive failures.
    failing: BTreeSet<String>,
}

/// A worker with a recent heartbeat.
#[derive(Debug, Default)]
pub(super) struct Worker {
    pub(super) name: String,
    slots: u32,
    /// Whether it takes orders.
    able: bool,
    /// Whether it plays another contest, and comes back.
    away: bool,
    seen_ms: u64,
    pub(super) orders: BTreeSet<u64>,
    /// Failures since it last played a block.
    consecutive_failures: u32,
}

impl WorkerPool {
    pub(super) fn slots(&self) -> u64 {
        self.slots
    }

    pub(super) fn able(&self) -> usize {
        self.able
    }

    pub(super) fn away(&self) -> usize {
        self.away
    }

    /// Returns the ids of the workers that take orders now or later.
    fn serving(&self) -> impl Iterator<Item = &str> {
        let serves = |worker: &Worker| worker.able || worker.away;
        self.workers.iter().filter(move |(_, it)| serves(it)).map(|(id, _)| id.as_str())
    }

    /// Returns a worker's name.
    pub(super) fn name<'a>(&'a self, id: &'a str) -> &'a str {
        self.workers.get(id).map_or(id, |worker| worker.name.as_str())
    }

    /// Takes a heartbeat; returns the blocks that the worker no longer holds, or `None` if the
    /// heartbeat is ignored.
    pub(super) fn heartbeat(&mut self, beat: &Heartbeat, now: u64) -> Option<Vec<u64>> {
        let (id, left) = (&beat.worker.id, beat.has_left());
        let new = !self.workers.contains_key(id);
        let strange = id.is_empty() || id.chars().count() > ID_CHARACTERS_MAX;
        if strange || (new && (left || self.workers.len() >= WORKERS_MAX)) {
            return None;
        }
        let worker = self.workers.entry(id.clone()).or_insert_with(|| Worker {
            name: sanitize_name(&beat.worker.name),
            ..Worker::default()
        });
        let before = (worker.slots, worker.able, worker.away);
        worker.slots = beat.worker.slots.min(SLOTS_MAX);
        worker.able = beat.takes_orders();
        worker.away = beat.elsewhere.is_some();
        worker.seen_ms = now;
        let slots = worker.slots as usize;
        let orders: BTreeSet<u64> =
            beat.orders.iter().take(2 * slots + 2).map(|&(block, _)| block).collect();
        let dropped = worker.orders.difference(&orders).copied().collect();
        worker.orders = orders;
        if (worker.slots, worker.able, worker.away) != before {
            self.count();
        }
        if left {
            self.workers.remove(id);
            self.failing.remove(id);
            self.count();
        }
        Some(dropped)
    }

    fn count(&mut self) {
        let able = || self.workers.values().filter(|worker| worker.able);
        (self.able, self.slots) =
            (able().count(), able().map(|worker| u64::from(worker.slots)).sum());
        self.away = self.workers.values().filter(|worker| worker.away).count();
    }

    /// A worker has played a block.
    pub(super) fn played(&mut self, id: &str) {
        if let Some(worker) = self.workers.get_mut(id) {
            worker.consecutive_failures = 0;
            self.failing.remove(id);
        }
    }

    /// A worker has failed at a block.
    pub(super) fn failed(&mut self, id: &str) {
        if let Some(worker) = self.workers.get_mut(id) {
            worker.consecutive_failures += 1;
            if worker.consecutive_failures >= CONSECUTIVE_FAILURES_MAX {
                self.failing.insert(id.to_owned());
            }
        }
    }

    /// Returns the workers that should decline a block: those that failed at it and those that
    /// fail at everything, but never all of them.
    pub(super) fn to_avoid(&self, failed: &BTreeSet<&str>) -> Vec<String> {
        if failed.is_empty() && self.failing.is_empty() {
            return Vec::new();
        }
        let everything: BTreeSet<&str> = self.failing.iter().map(String::as_str).collect();
        let leaves_some =
            |avoid: &BTreeSet<&str>| self.serving().any(|worker| !avoid.contains(worker));
        // Those that failed at this block come first, since the list is truncated.
        let both = || failed.iter().chain(everything.difference(failed));
        let owned = |ids: &mut dyn Iterator<Item = &&str>| ids.map(|&id| id.to_owned()).collect();
        if leaves_some(&both().copied().collect()) {
            owned(&mut both())
        } else if leaves_some(failed) {
            owned(&mut failed.iter())
        } else {
            Vec::new()
        }
    }

    /// Returns whether there are workers that take orders, and all of them are in `ids`.
    pub(super) fn has_all_in(&self, ids: &BTreeSet<&str>) -> bool {
        let mut serving = self.serving().peekable();
        serving.peek().is_some() && serving.all(|worker| ids.contains(worker))
    }

    pub(super) fn reset_silence(&mut self, now: u64) {
        for worker in self.workers.values_mut() {
            worker.seen_ms = now;
        }
    }

    /// Removes and returns the workers that have been silent for longer than `patience`.
    pub(super) fn lost(&mut self, now: u64, patience: u64) -> Vec<(String, Worker)> {
        let silent = |worker: &Worker| now.saturating_sub(worker.seen_ms) > patience;
        let ids = self.workers.iter().filter(|(_, worker)| silent(worker));
        let ids: Vec<String> = ids.map(|(id, _)| id.clone()).collect();
        let lost: Vec<_> = ids.iter().filter_map(|id| self.workers.remove_entry(id)).collect();
        if !lost.is_empty() {
            self.failing.retain(|id| self.workers.contains_key(id));
            self.count();
        }
        lost
    }
}
