//! Decides when blocks are ordered, and what to do about silence: workers that fail, die, freeze
//! or lose the connection, lost orders, duplicate reports. Times are milliseconds of one clock;
//! the results are [`Effect`]s.
//!
//! It does not decide what counts. It only makes sure that every block is played by a worker.

mod failures;
mod workers;

#[cfg(test)]
mod tests;

use super::messages::{HEARTBEAT_MS, Heartbeat, WorkerInfo};
use failures::{Failures, LOST};
use referee_contest::Player;
use referee_runner::backend::WorkerCount;
use std::collections::{BTreeMap, BTreeSet};
use workers::{Worker, WorkerPool};

/// The number of different workers that may fail at a block before it is given up.
pub const FAILURES_MAX: usize = 3;
/// A block at which all connected workers have failed is given up after this many leases.
const ALL_FAILED_LEASES: u64 = 2;
/// The minimum number of outstanding orders, so that workers don't wait for the coordinator.
const WINDOW_MIN: u64 = 16;
/// A block is ordered again after this many leases without news of it.
const SILENT_LEASES: u64 = 2;

/// Why a worker failed, and the player whose agent it can't build or start, if that is it.
pub type Why<'a> = (&'a str, Option<Player>);

/// Something for the coordinator to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Put an order into the queue, replacing any other for the block.
    Order {
        /// The block.
        block: u64,
        /// The attempt, unique among the block's orders.
        attempt: u32,
    },
    /// Remove the block's order from the queue.
    Withdraw {
        /// The block.
        block: u64,
    },
    /// The block is not played in this run: nothing new is ordered, and no worker has it.
    Drop {
        /// The block.
        block: u64,
    },
    /// Too many workers have failed at it.
    GiveUp {
        /// The block.
        block: u64,
        /// The workers and their reasons; hostile text.
        why: String,
        /// The player whose agent none of them could build or start, if that is why.
        player: Option<Player>,
    },
    /// A worker without orders has left.
    Left {
        /// Its id.
        worker: String,
        /// Its name; hostile text.
        name: String,
    },
    /// A worker is silent.
    Lost {
        /// Its id.
        worker: String,
        /// Its name; hostile text.
        name: String,
        /// How many orders it held.
        orders: usize,
    },
}

/// Where an order is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum OrderState {
    /// On its way to the server.
    #[default]
    Sent,
    /// In the stream, or taken from it, with this number.
    Stream(u64),
    /// It was in the stream when this run began.
    Found,
}

#[derive(Debug, Default)]
struct Block {
    attempt: u32,
    state: OrderState,
    /// Whether it was ordered more than once, so that another order may exist.
    again: bool,
    /// The time of the last news of it.
    alive_ms: u64,
    /// Ids of the workers that report holding it.
    holders: BTreeSet<String>,
    /// Who has failed at it, and why.
    failures: Failures,
    /// Since when all connected workers have failed at it.
    all_failed_since_ms: Option<u64>,
    /// When a worker last reported holding it.
    held_ms: u64,
}

impl Block {
    /// Returns whether no worker holds it and this much time has passed.
    fn is_left_since(&self, since: Option<u64>, wait: u64, now: u64) -> bool {
        self.holders.is_empty() && since.is_some_and(|since| now.saturating_sub(since) >= wait)
    }
}

/// The outstanding blocks and the workers.
#[derive(Debug, Default)]
pub struct Dispatch {
    lease_ms: u64,
    first_attempt: u32,
    blocks: BTreeMap<u64, Block>,
    pool: WorkerPool,
    up: bool,
    /// Since when nothing new is ordered.
    closing: Option<u64>,
    ticked_ms: u64,
    effects: Vec<Effect>,
}

impl Dispatch {
    /// Starts without orders and workers. `first_attempt` must be greater than all attempts of
    /// earlier runs.
    pub fn new(lease_ms: u64, first_attempt: u32) -> Self {
        Self { lease_ms, first_attempt, up: true, ..Self::default() }
    }

    /// Returns what to do since the last call, in order.
    pub fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Returns whether another block may be ordered: enough blocks are outstanding that no worker
    /// waits, but few enough that later decisions are not too late. Those at which all workers have failed only wait for
    /// another worker.
    pub fn has_room(&self) -> bool {
        let outstanding = self.blocks.values().filter(|it| it.all_failed_since_ms.is_none());
        (outstanding.count() as u64) < WINDOW_MIN.max(2 * self.pool.slots())
    }

    /// Returns the number of workers, and of their slots.
    pub fn worker_count(&self) -> WorkerCount {
        let (workers, slots, away) = (self.pool.able(), self.pool.slots(), self.pool.away());
        WorkerCount { workers, slots, away }
    }

    /// Returns how many blocks are outstanding.
    pub fn outstanding(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the blocks that a worker holds.
    pub fn started(&self) -> impl Iterator<Item = u64> {
        self.blocks.iter().filter(|(_, it)| !it.holders.is_empty()).map(|(&block, _)| block)
    }

    /// Returns whether a worker holds a block, as far as is known.
    pub fn has(&self, worker: &str, block: u64) -> bool {
        self.blocks.get(&block).is_some_and(|it| it.holders.contains(worker))
    }

    /// Orders a block.
    pub fn order_block(&mut self, block: u64, now: u64) {
        self.insert(block, OrderState::Sent, now);
        self.order(block, now);
    }

    /// Takes over a block for which an earlier run has left an order.
    pub fn adopt(&mut self, block: u64, now: u64) {
        self.insert(block, OrderState::Found, now);
    }

    fn insert(&mut self, block: u64, state: OrderState, now: u64) {
        let (attempt, again) = (self.first_attempt, state == OrderState::Found);
        let (alive_ms, held_ms) = (now, now);
        let new = Block { attempt, state, again, alive_ms, held_ms, ..Block::default() };
        self.blocks.insert(block, new);
    }

    fn order(&mut self, block: u64, now: u64) {
        let Some(it) = self.blocks.get_mut(&block) else { return };
        (it.state, it.alive_ms) = (OrderState::Sent, now);
        self.effects.push(Effect::Order { block, attempt: it.attempt });
    }

    /// Orders a block again: a worker has reported only a part of it, or there is no news of it.
    pub fn reorder(&mut self, block: u64, now: u64) {
        if self.closing.is_some() {
            return self.drop_block(block);
        }
        if let Some(it) = self.blocks.get_mut(&block) {
            it.attempt = it.attempt.wrapping_add(1);
            it.again = true;
        }
        self.order(block, now);
    }

    /// An order is in the stream, with this number.
    pub fn published(&mut self, block: u64, attempt: u32, number: u64, now: u64) {
        if let Some(it) = self.blocks.get_mut(&block).filter(|it| it.attempt == attempt) {
            (it.state, it.alive_ms) = (OrderState::Stream(number), now);
        }
    }

    /// Orders up to `delivered` were delivered to workers at least once. Those above, up to
    /// `last`, are waiting, so silence about them is normal.
    pub fn queue(&mut self, delivered: u64, last: u64, now: u64) {
        if self.closing.is_some() {
            // Withdrawn orders are not waiting.
            return;
        }
        let waits = |state: OrderState| matches!(state, OrderState::Stream(number) if delivered < number && number <= last);
        for it in self.blocks.values_mut().filter(|it| waits(it.state)) {
            it.alive_ms = now;
        }
    }

    /// Takes a heartbeat.
    pub fn heartbeat(&mut self, beat: &Heartbeat, now: u64) {
        let Some(dropped) = self.pool.heartbeat(beat, now) else { return };
        let WorkerInfo { id, name, .. } = &beat.worker;
        if beat.has_left() {
            self.effects.push(Effect::Left { worker: id.clone(), name: name.clone() });
        }
        for block in &dropped {
            if let Some(it) = self.blocks.get_mut(block) {
                it.holders.remove(id);
            }
        }
        for (block, _) in &beat.orders {
            if let Some(it) = self.blocks.get_mut(block) {
                (it.alive_ms, it.held_ms) = (now, now);
                if !it.holders.contains(id) {
                    it.holders.insert(id.clone());
                }
            }
        }
    }

    /// A report on a block has arrived and is being verified.
    pub fn reported(&mut self, block: u64, now: u64) {
        if let Some(it) = self.blocks.get_mut(&block) {
            it.alive_ms = now;
        }
    }

    /// A block was reported and the report is valid. Returns whether the block was outstanding.
    pub fn completed(&mut self, block: u64) -> bool {
        let Some(it) = self.blocks.remove(&block) else { return false };
        if it.again {
            // Its other order is not needed.
            self.effects.push(Effect::Withdraw { block });
        }
        true
    }

    /// A worker could not play a block, or its report is invalid.
    pub fn failed(&mut self, block: u64, attempt: u32, worker: &str, why: Why<'_>, now: u64) {
        let name = self.pool.name(worker).to_owned();
        if self.fail(block, worker, &name, why)
            && let Some(it) = self.blocks.get_mut(&block)
        {
            it.holders.remove(worker);
            let long =
                it.is_left_since(it.all_failed_since_ms, ALL_FAILED_LEASES * self.lease_ms, now);
            if long && self.pool.has_all_in(&it.failures.workers()) {
                // A try may take so long that only its end shows that it fails.
                return self.give_up(block);
            }
            // If this was an earlier order, another is outstanding already.
            if it.state == OrderState::Found || it.attempt == attempt {
                self.reorder(block, now);
            }
        }
    }

    /// Records a failure; returns whether the block is still outstanding.
    fn fail(&mut self, block: u64, worker: &str, name: &str, (why, player): Why<'_>) -> bool {
        let Some(it) = self.blocks.get_mut(&block) else { return false };
        it.failures.note(worker, name, why, player);
        let enough = it.failures.workers().len() >= FAILURES_MAX;
        if enough {
            self.give_up(block);
        }
        !enough
    }

    fn give_up(&mut self, block: u64) {
        let Some(it) = self.blocks.remove(&block) else { return };
        self.effects.push(Effect::Withdraw { block });
        let (why, player) = (it.failures.summary(), it.failures.player());
        self.effects.push(Effect::GiveUp { block, why, player });
    }

    /// Gives up blocks at which all connected workers have failed, after a while without a new
    /// worker or another try.
    fn give_up_failed_by_all(&mut self, now: u64) {
        let mut failed = Vec::new();
        for (&block, it) in self.blocks.iter_mut().filter(|(_, it)| !it.failures.is_empty()) {
            if !self.pool.has_all_in(&it.failures.workers()) {
                it.all_failed_since_ms = None;
                continue;
            }
            let since = (*it.all_failed_since_ms.get_or_insert(now)).max(it.held_ms);
            if it.is_left_since(Some(since), ALL_FAILED_LEASES * self.lease_ms, now) {
                failed.push(block);
            }
        }
        for block in failed {
            self.give_up(block);
        }
    }

    /// The connection was lost or is up again; returns whether that is a change.
    pub fn connected(&mut self, up: bool, now: u64) -> bool {
        if up && !self.up {
            self.reset_silence(now);
        }
        std::mem::replace(&mut self.up, up) != up
    }

    /// Silence counts from now: no message could arrive before.
    fn reset_silence(&mut self, now: u64) {
        self.pool.reset_silence(now);
        for it in self.blocks.values_mut() {
            (it.alive_ms, it.all_failed_since_ms) = (now, None);
        }
    }

    /// Call this about once a second. `behind`: some reports have not been verified.
    pub fn tick(&mut self, now: u64, behind: bool) {
        if now.saturating_sub(self.ticked_ms) > 2 * HEARTBEAT_MS {
            // This process was paused.
            self.reset_silence(now);
        }
        self.ticked_ms = now;
        if !self.up {
            return;
        }
        self.lose_silent(now);
        if behind {
            return;
        }
        self.drop_waiting(now);
        self.give_up_failed_by_all(now);
        let silence = SILENT_LEASES * self.lease_ms;
        let silent = |it: &Block| now.saturating_sub(it.alive_ms) > silence;
        let silent: Vec<u64> =
            self.blocks.iter().filter(|(_, it)| silent(it)).map(|(&block, _)| block).collect();
        for block in silent {
            self.reorder(block, now);
        }
    }

    /// A silent worker has failed at the blocks that it held.
    fn lose_silent(&mut self, now: u64) {
        let patience = self.lease_ms.max(3 * HEARTBEAT_MS);
        for (worker, Worker { name, orders, .. }) in self.pool.lost(now, patience) {
            let had: Vec<u64> =
                orders.into_iter().filter(|block| self.has(&worker, *block)).collect();
            let orders = had.len();
            for block in had {
                if let Some(it) = self.blocks.get_mut(&block) {
                    it.holders.remove(&worker);
                    // The server delivers it again.
                    it.alive_ms = now;
                }
                self.fail(block, &worker, &name, (LOST, None));
            }
            self.effects.push(Effect::Lost { worker, name, orders });
        }
    }

    /// Stops ordering, and withdraws blocks that no worker has started. A worker that has just
    /// started one reports it with its next heartbeat; until then the block is not dropped.
    pub fn close(&mut self, now: u64) {
        self.closing = Some(now);
        // Nobody waits for it any more, and in the next run all would fail again.
        let of_player =
            |it: &Block| it.all_failed_since_ms.is_some() && it.failures.player().is_some();
        let failed = self.blocks.iter().filter(|(_, it)| it.holders.is_empty() && of_player(it));
        for block in failed.map(|(&block, _)| block).collect::<Vec<_>>() {
            self.give_up(block);
        }
        let waiting = self.blocks.iter().filter(|(_, it)| it.holders.is_empty());
        self.effects.extend(waiting.map(|(&block, _)| Effect::Withdraw { block }));
    }

    /// Drops blocks that no worker holds, once all had time to report them.
    fn drop_waiting(&mut self, now: u64) {
        let Some(since) = self.closing else { return };
        let silent = |it: &Block| {
            now.saturating_sub(since.max(it.alive_ms)) > HEARTBEAT_MS + HEARTBEAT_MS / 2
        };
        let waiting = self.blocks.iter().filter(|(_, it)| it.holders.is_empty() && silent(it));
        let waiting: Vec<u64> = waiting.map(|(&block, _)| block).collect();
        for block in waiting {
            self.drop_block(block);
        }
    }

    fn drop_block(&mut self, block: u64) {
        if self.blocks.remove(&block).is_some() {
            self.effects.push(Effect::Drop { block });
        }
    }
}
