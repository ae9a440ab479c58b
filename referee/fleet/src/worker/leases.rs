//! The orders that this worker holds.

use crate::Order;
use crate::link::send_unacknowledged;
use async_nats::jetstream::message::{AckKind, Acker};
use referee_process::lock::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// An order that is being played or reported.
struct Lease {
    attempt: u32,
    games: BTreeSet<u64>,
    acker: Arc<Acker>,
}

/// The orders that this worker holds, by block.
#[derive(Clone, Default)]
pub(super) struct OrderLeases(Arc<Mutex<BTreeMap<u64, Lease>>>);

/// Holds an order until it is dropped or done.
pub(super) struct HeldOrder {
    leases: OrderLeases,
    pub(super) block: u64,
    is_done: AtomicBool,
}

/// How an order that has arrived is accepted.
pub(super) enum Accepted {
    /// It is new.
    New(HeldOrder),
    /// The worker already holds it, and continues under the new lease.
    Again,
    /// The worker holds a different order for the same block.
    Busy,
}

impl OrderLeases {
    /// Accepts an order.
    pub(super) fn take(&self, order: &Order, acker: Arc<Acker>) -> Accepted {
        let games: BTreeSet<u64> = order.fixtures.iter().map(|fixture| fixture.number).collect();
        let mut all = self.all();
        if let Some(known) = all.get_mut(&order.block) {
            if !games.is_subset(&known.games) {
                return Accepted::Busy;
            }
            (known.attempt, known.acker) = (order.attempt, acker);
            return Accepted::Again;
        }
        let (block, attempt) = (order.block, order.attempt);
        all.insert(block, Lease { attempt, games, acker });
        Accepted::New(HeldOrder { leases: self.clone(), block, is_done: AtomicBool::new(false) })
    }

    /// Returns block and attempt of each order.
    pub(super) fn list(&self) -> Vec<(u64, u32)> {
        self.all().iter().map(|(&block, lease)| (block, lease.attempt)).collect()
    }

    /// Renews all leases.
    pub(super) async fn renew(&self) {
        let ackers: Vec<_> = self.all().values().map(|lease| lease.acker.clone()).collect();
        for acker in ackers {
            send_unacknowledged(acker.ack_with(AckKind::Progress)).await;
        }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, Lease>> {
        lock(&self.0)
    }
}

impl HeldOrder {
    /// Returns its latest attempt.
    pub(super) fn attempt(&self) -> u32 {
        self.leases.all().get(&self.block).map_or(0, |lease| lease.attempt)
    }

    /// Marks the order as done with this attempt, and returns what acknowledges it; `None` if a
    /// newer attempt has arrived. Another order for the same block is then a new one.
    pub(super) fn done(&self, attempt: u32) -> Option<Arc<Acker>> {
        let mut all = self.leases.all();
        if self.is_done.load(Ordering::Relaxed) || all.get(&self.block)?.attempt != attempt {
            return None;
        }
        self.is_done.store(true, Ordering::Relaxed);
        all.remove(&self.block).map(|lease| lease.acker)
    }
}

impl Drop for HeldOrder {
    fn drop(&mut self) {
        // Once it is done, another order may hold the block.
        if !*self.is_done.get_mut() {
            self.leases.all().remove(&self.block);
        }
    }
}
