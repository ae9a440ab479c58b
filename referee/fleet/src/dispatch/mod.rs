//! Which blocks are ordered when, and what is made of silence: workers that fail, die, freeze or are
//! cut off, orders that get lost, reports that come twice. Times go in as milliseconds of one clock,
//! effects come out.
//!
//! Nothing here decides what counts: a block is done when somebody says so, and everything else only
//! sees to it that somebody will.

mod failures;
mod workers;

#[cfg(test)]
mod tests;

use super::messages::{BEAT_MS, Beat};
use failures::Failures;
use std::collections::{BTreeMap, BTreeSet};
use workers::Crowd;

/// A block that so many different workers have failed at is given up.
pub const FAILURES_MAX: usize = 3;
/// So many leases after everybody who is there has failed at a block it is given up.
const HOPELESS_LEASES: u64 = 2;
/// The least orders that are out at once, so that no worker waits for the coordinator.
const WINDOW_MIN: u64 = 16;
/// So many leases without a sign of life, and a block is ordered again.
const SILENT_LEASES: u64 = 2;
/// The most workers that an order names to be left to others.
const AVOIDED_MAX: usize = 64;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// An order is to be put into the queue, in the place of any other for the block.
    Order {
        /// The block.
        block: u64,
        /// Told apart from other orders for it by this.
        attempt: u32,
        /// Ids of workers that are to leave it to others.
        avoid: Vec<String>,
    },
    /// Whatever order there is for the block is to be taken out of the queue.
    Withdraw {
        /// The block.
        block: u64,
    },
    /// It won't be played: nothing new is ordered any more, and nobody has it.
    Drop {
        /// The block.
        block: u64,
    },
    /// Too many have failed at it.
    GiveUp {
        /// The block.
        block: u64,
        /// Who and why; hostile text.
        why: String,
    },
    /// A worker has gone, and had nothing any more.
    Left {
        /// Its id.
        worker: String,
        /// What people call it; hostile text.
        name: String,
    },
    /// Nothing is heard of a worker any more.
    Lost {
        /// Its id.
        worker: String,
        /// What people call it; hostile text.
        name: String,
        /// How many orders it had.
        orders: usize,
    },
}

/// Where an order is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// On its way to the server.
    #[default]
    Sent,
    /// In the stream, or taken from there, with this number.
    Stream(u64),
    /// It was there already.
    Found,
}

#[derive(Debug, Default)]
struct Block {
    attempt: u32,
    place: Place,
    /// Ordered more than once: another order may be about.
    again: bool,
    /// The last sign of life.
    alive_ms: u64,
    /// Workers that say that they have it, by id.
    with: BTreeSet<String>,
    /// Who has failed at it, and why.
    failures: Failures,
    /// Since when everybody who is there has failed at it.
    hopeless_ms: Option<u64>,
    /// When somebody last said to have it.
    held_ms: u64,
}

impl Block {
    /// Nobody has it, and so much time has passed since then.
    fn is_left_since(&self, since: Option<u64>, wait: u64, now: u64) -> bool {
        self.with.is_empty() && since.is_some_and(|since| now.saturating_sub(since) >= wait)
    }
}

/// The blocks that are ordered, and the workers.
#[derive(Debug, Default)]
pub struct Dispatch {
    lease_ms: u64,
    first_attempt: u32,
    blocks: BTreeMap<u64, Block>,
    crowd: Crowd,
    up: bool,
    /// Since when nothing new is ordered.
    closing: Option<u64>,
    ticked_ms: u64,
    effects: Vec<Effect>,
}

impl Dispatch {
    /// Nothing ordered, nobody there. Attempts are counted from `first_attempt`, which is to be one
    /// that no earlier run has come to.
    pub fn new(lease_ms: u64, first_attempt: u32) -> Self {
        Self { lease_ms, first_attempt, up: true, ..Self::default() }
    }

    /// What is to be done since this was asked last, in order.
    pub fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Whether one more block may be ordered: few enough are out that what is decided later is not
    /// played in vain, and enough that nobody waits.
    pub fn has_room(&self) -> bool {
        (self.blocks.len() as u64) < WINDOW_MIN.max(2 * self.crowd.slots())
    }

    /// How many workers there are, and how many matches they play at once.
    pub fn crew(&self) -> (usize, u64) {
        (self.crowd.able(), self.crowd.slots())
    }

    /// How many blocks are out.
    pub fn out(&self) -> usize {
        self.blocks.len()
    }

    /// Whether a block is out.
    pub fn is_out(&self, block: u64) -> bool {
        self.blocks.contains_key(&block)
    }

    /// The blocks that somebody has.
    pub fn begun(&self) -> impl Iterator<Item = u64> {
        self.blocks.iter().filter(|(_, it)| !it.with.is_empty()).map(|(&block, _)| block)
    }

    /// Whether a worker has a block, as far as is known.
    pub fn has(&self, worker: &str, block: u64) -> bool {
        self.blocks.get(&block).is_some_and(|it| it.with.contains(worker))
    }

    /// Orders a block.
    pub fn ask(&mut self, block: u64, now: u64) {
        self.insert(block, Place::Sent, now);
        self.order(block, now);
    }

    /// A block for which an earlier run has left an order, which is as good.
    pub fn found(&mut self, block: u64, now: u64) {
        self.insert(block, Place::Found, now);
    }

    fn insert(&mut self, block: u64, place: Place, now: u64) {
        let (attempt, again) = (self.first_attempt, place == Place::Found);
        let (alive_ms, held_ms) = (now, now);
        let new = Block { attempt, place, again, alive_ms, held_ms, ..Block::default() };
        self.blocks.insert(block, new);
    }

    fn order(&mut self, block: u64, now: u64) {
        let Some(it) = self.blocks.get_mut(&block) else { return };
        let mut avoid = self.crowd.to_avoid(&it.failures.workers());
        avoid.truncate(AVOIDED_MAX);
        (it.place, it.alive_ms) = (Place::Sent, now);
        self.effects.push(Effect::Order { block, attempt: it.attempt, avoid });
    }

    /// Orders a block anew: a worker has reported only a part of it, or nobody is heard of it.
    pub fn again(&mut self, block: u64, now: u64) {
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
            (it.place, it.alive_ms) = (Place::Stream(number), now);
        }
    }

    /// Orders with numbers up to `delivered` have been given to workers at least once; those above,
    /// up to `last`, still wait their turn: nobody is silent about them.
    pub fn queue(&mut self, delivered: u64, last: u64, now: u64) {
        if self.closing.is_some() {
            // What has been taken back waits for nobody.
            return;
        }
        let waits = |place: Place| matches!(place, Place::Stream(number) if delivered < number && number <= last);
        for it in self.blocks.values_mut().filter(|it| waits(it.place)) {
            it.alive_ms = now;
        }
    }

    /// A worker has said that it is there. Whether it is new.
    pub fn beat(&mut self, beat: &Beat, now: u64) -> bool {
        let Some(change) = self.crowd.beat(beat, now) else { return false };
        if change.left {
            let (worker, name) = (beat.worker.id.clone(), beat.worker.name.clone());
            self.effects.push(Effect::Left { worker, name });
        }
        for block in &change.dropped {
            if let Some(it) = self.blocks.get_mut(block) {
                it.with.remove(&beat.worker.id);
            }
        }
        for (block, _) in &beat.orders {
            if let Some(it) = self.blocks.get_mut(block) {
                (it.alive_ms, it.held_ms) = (now, now);
                if !it.with.contains(&beat.worker.id) {
                    it.with.insert(beat.worker.id.clone());
                }
            }
        }
        change.new
    }

    /// A report on a block has come, and is looked at.
    pub fn reported(&mut self, block: u64, now: u64) {
        if let Some(it) = self.blocks.get_mut(&block) {
            it.alive_ms = now;
        }
    }

    /// A worker has reported a block, and all of it is as it should be. Whether it was out.
    pub fn taken(&mut self, block: u64, worker: &str) -> bool {
        self.crowd.played(worker);
        let Some(it) = self.blocks.remove(&block) else { return false };
        if it.again {
            // Nobody need play the other.
            self.effects.push(Effect::Withdraw { block });
        }
        true
    }

    /// A worker could not play a block, or what it reported is not what was ordered.
    pub fn failed(&mut self, block: u64, attempt: u32, worker: &str, why: &str, now: u64) {
        self.crowd.failed(worker);
        let name = self.crowd.name(worker).to_owned();
        if self.fail(block, worker, &name, why)
            && let Some(it) = self.blocks.get_mut(&block)
        {
            it.with.remove(worker);
            let long = it.is_left_since(it.hopeless_ms, HOPELESS_LEASES * self.lease_ms, now);
            if long && self.crowd.has_all_in(&it.failures.workers()) {
                // Each try may take so long that nobody but its end can tell.
                return self.give_up(block);
            }
            // Another is out already where this was an earlier one.
            if it.place == Place::Found || it.attempt == attempt {
                self.again(block, now);
            }
        }
    }

    /// Counts a failure. Whether the block is still out.
    fn fail(&mut self, block: u64, worker: &str, name: &str, why: &str) -> bool {
        let Some(it) = self.blocks.get_mut(&block) else { return false };
        it.failures.note(worker, name, why);
        let enough = it.failures.workers().len() >= FAILURES_MAX;
        if enough {
            self.give_up(block);
        }
        !enough
    }

    fn give_up(&mut self, block: u64) {
        let Some(it) = self.blocks.remove(&block) else { return };
        self.effects.push(Effect::Withdraw { block });
        self.effects.push(Effect::GiveUp { block, why: it.failures.told() });
    }

    /// Gives up what everybody who is there has failed at, when nobody else has come for a while and
    /// nobody tries again.
    fn give_up_hopeless(&mut self, now: u64) {
        let mut hopeless = Vec::new();
        for (&block, it) in self.blocks.iter_mut().filter(|(_, it)| !it.failures.is_empty()) {
            if !self.crowd.has_all_in(&it.failures.workers()) {
                it.hopeless_ms = None;
                continue;
            }
            let since = (*it.hopeless_ms.get_or_insert(now)).max(it.held_ms);
            if it.is_left_since(Some(since), HOPELESS_LEASES * self.lease_ms, now) {
                hopeless.push(block);
            }
        }
        for block in hopeless {
            self.give_up(block);
        }
    }

    /// The connection to the server is lost, or there again. Whether that is news.
    pub fn connected(&mut self, up: bool, now: u64) -> bool {
        if up && !self.up {
            self.begin_anew(now);
        }
        std::mem::replace(&mut self.up, up) != up
    }

    /// Silence counts from now on: nobody could be heard.
    fn begin_anew(&mut self, now: u64) {
        self.crowd.begin_anew(now);
        for it in self.blocks.values_mut() {
            (it.alive_ms, it.hopeless_ms) = (now, None);
        }
    }

    /// To be called about once a second. `behind`: there are reports that have not been looked at.
    pub fn tick(&mut self, now: u64, behind: bool) {
        if now.saturating_sub(self.ticked_ms) > 2 * BEAT_MS {
            // It was this process that did not listen.
            self.begin_anew(now);
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
        self.give_up_hopeless(now);
        let silence = SILENT_LEASES * self.lease_ms;
        let silent = |it: &Block| now.saturating_sub(it.alive_ms) > silence;
        let silent: Vec<u64> =
            self.blocks.iter().filter(|(_, it)| silent(it)).map(|(&block, _)| block).collect();
        for block in silent {
            self.again(block, now);
        }
    }

    /// Whoever is silent has failed at what it had.
    fn lose_silent(&mut self, now: u64) {
        let patience = self.lease_ms.max(3 * BEAT_MS);
        for lost in self.crowd.lost(now, patience) {
            let had: Vec<u64> =
                lost.orders.iter().copied().filter(|block| self.has(&lost.id, *block)).collect();
            let (worker, name, orders) = (lost.id, lost.name, had.len());
            for block in had {
                if let Some(it) = self.blocks.get_mut(&block) {
                    it.with.remove(&worker);
                    // The server hands it out again by itself.
                    it.alive_ms = now;
                }
                self.fail(block, &worker, &name, "not heard of any more");
            }
            self.effects.push(Effect::Lost { worker, name, orders });
        }
    }

    /// Orders nothing any more, and takes back what nobody has begun. Who has just begun says so with
    /// the next beat; until then it isn't dropped.
    pub fn close(&mut self, now: u64) {
        self.closing = Some(now);
        let waiting = self.blocks.iter().filter(|(_, it)| it.with.is_empty());
        self.effects.extend(waiting.map(|(&block, _)| Effect::Withdraw { block }));
    }

    /// Drops what nobody has, when everybody has had the time to say so.
    fn drop_waiting(&mut self, now: u64) {
        let Some(since) = self.closing else { return };
        let silent =
            |it: &Block| now.saturating_sub(since.max(it.alive_ms)) > BEAT_MS + BEAT_MS / 2;
        let waiting = self.blocks.iter().filter(|(_, it)| it.with.is_empty() && silent(it));
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
