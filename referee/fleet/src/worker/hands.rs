//! The orders that this worker has.

use crate::Order;
use crate::link::hand;
use async_nats::jetstream::message::{AckKind, Acker};
use referee_process::lock::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// An order that is played, or whose report is on its way.
struct Hand {
    attempt: u32,
    games: BTreeSet<u64>,
    acker: Arc<Acker>,
}

/// The orders that this worker has, by block.
#[derive(Clone, Default)]
pub(super) struct Hands(Arc<Mutex<BTreeMap<u64, Hand>>>);

/// An order is in hand as long as this is held, or until it is done.
pub(super) struct Held {
    hands: Hands,
    block: u64,
    is_done: AtomicBool,
}

/// What becomes of an order that has come.
pub(super) enum Taken {
    /// It is new.
    New(Held),
    /// It is one that this worker has already: that one goes on, under the newer lease.
    Again,
    /// This worker plays another one for the same block.
    Busy,
}

impl Hands {
    /// Takes an order.
    pub(super) fn take(&self, order: &Order, acker: Arc<Acker>) -> Taken {
        let games: BTreeSet<u64> = order.fixtures.iter().map(|fixture| fixture.number).collect();
        let mut all = self.all();
        if let Some(known) = all.get_mut(&order.block) {
            if !games.is_subset(&known.games) {
                return Taken::Busy;
            }
            (known.attempt, known.acker) = (order.attempt, acker);
            return Taken::Again;
        }
        let (block, attempt) = (order.block, order.attempt);
        all.insert(block, Hand { attempt, games, acker });
        Taken::New(Held { hands: self.clone(), block, is_done: AtomicBool::new(false) })
    }

    /// Block and attempt of each.
    pub(super) fn list(&self) -> Vec<(u64, u32)> {
        self.all().iter().map(|(&block, hand)| (block, hand.attempt)).collect()
    }

    /// Renews all leases.
    pub(super) async fn renew(&self) {
        let ackers: Vec<_> = self.all().values().map(|hand| hand.acker.clone()).collect();
        for acker in ackers {
            hand(acker.ack_with(AckKind::Progress)).await;
        }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, Hand>> {
        lock(&self.0)
    }
}

impl Held {
    /// Its block.
    pub(super) fn block(&self) -> u64 {
        self.block
    }

    /// The attempt as which it came last.
    pub(super) fn attempt(&self) -> u32 {
        self.hands.all().get(&self.block).map_or(0, |hand| hand.attempt)
    }

    /// It is dealt with as this attempt: what answers for it. From now on the same block is a new
    /// order. `None` where it has come again meanwhile.
    pub(super) fn done(&self, attempt: u32) -> Option<Arc<Acker>> {
        let mut all = self.hands.all();
        if self.is_done.load(Ordering::Relaxed) || all.get(&self.block)?.attempt != attempt {
            return None;
        }
        self.is_done.store(true, Ordering::Relaxed);
        all.remove(&self.block).map(|hand| hand.acker)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Another one may have the block once this is done.
        if !*self.is_done.get_mut() {
            self.hands.all().remove(&self.block);
        }
    }
}
