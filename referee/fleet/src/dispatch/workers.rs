//! The connected workers.

use crate::messages::Heartbeat;
use crate::workers::SLOTS_MAX;
use referee_protocol::sanitize::sanitize_name;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of workers; more are ignored.
const WORKERS_MAX: usize = 10_000;
/// The maximum length of an id.
const ID_CHARACTERS_MAX: usize = 64;

/// All workers with recent heartbeats.
#[derive(Debug, Default)]
pub(super) struct WorkerPool {
    workers: BTreeMap<String, Worker>,
    /// How many of them take orders, and their slots.
    able: usize,
    /// How many of them play another contest.
    away: usize,
    slots: u64,
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

    /// Returns whether there are workers that take orders now or later, and all of them are in `ids`.
    pub(super) fn has_all_in(&self, ids: &BTreeSet<&str>) -> bool {
        let serves = |worker: &Worker| worker.able || worker.away;
        let mut serving = self.workers.iter().filter(|(_, it)| serves(it)).peekable();
        serving.peek().is_some() && serving.all(|(id, _)| ids.contains(id.as_str()))
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
            self.count();
        }
        lost
    }
}
