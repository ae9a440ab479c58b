//! Which games of a contest are played next: each that has no result yet, in the order of the schedule, those
//! that were void once more.

use referee_contest::Schedule;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// The games of a run that are not stored.
#[derive(Debug)]
pub(super) struct Queue {
    /// All games below this number were submitted or have a result.
    next: u64,
    /// No game from this number on is played.
    end: u64,
    /// Whether the games of a block are played one after the other.
    is_apart: bool,
    /// Games to play again, and those that another of their block kept waiting.
    retries: VecDeque<u64>,
    submitted: BTreeSet<u64>,
    /// Games whose results were sent to the writer and are not stored yet.
    written: BTreeSet<u64>,
    /// Void attempts of each game in this run that no player caused.
    tries: BTreeMap<u64, u32>,
    /// The entries in the contest's list of games that are not played any more.
    stopped: BTreeSet<usize>,
}

impl Queue {
    /// Returns a queue of the games with these numbers. With `is_apart` no two of a block are played at once.
    pub(super) fn new(games: Range<u64>, is_apart: bool) -> Self {
        Self {
            next: games.start,
            end: games.end,
            is_apart,
            retries: VecDeque::new(),
            submitted: BTreeSet::new(),
            written: BTreeSet::new(),
            tries: BTreeMap::new(),
            stopped: BTreeSet::new(),
        }
    }

    /// Whether games are being played.
    pub(super) fn is_playing(&self) -> bool {
        !self.submitted.is_empty()
    }

    /// Returns the next game to submit.
    pub(super) fn wanted(&mut self, schedule: &Schedule) -> Option<u64> {
        let is_free = |number: &&u64| !self.is_held(**number, schedule);
        if let Some(&number) = self.retries.iter().find(is_free) {
            return Some(number);
        }
        while self.next < schedule.known().min(self.end) {
            if self.is_missing(self.next, schedule) {
                if !self.is_held(self.next, schedule) {
                    return Some(self.next);
                }
                self.retries.push_back(self.next);
            }
            self.next += 1;
        }
        None
    }

    /// Whether a game waits for another one of its block.
    fn is_held(&self, number: u64, schedule: &Schedule) -> bool {
        self.is_apart && self.submitted.range(schedule.block_of(number)).next().is_some()
    }

    fn is_missing(&self, number: u64, schedule: &Schedule) -> bool {
        let has_result = schedule.has(number) || self.written.contains(&number);
        !has_result && schedule.counts(number) && !self.is_stopped(number, schedule)
    }

    /// Whether this game is of an entry that is not played any more.
    fn is_stopped(&self, number: u64, schedule: &Schedule) -> bool {
        !self.stopped.is_empty()
            && schedule.fixture(number).is_some_and(|fixture| self.stopped.contains(&fixture.game))
    }

    /// Plays no more games of this entry in the contest's list of games.
    pub(super) fn stop(&mut self, game: usize, schedule: &Schedule) {
        self.stopped.insert(game);
        let retries = std::mem::take(&mut self.retries);
        self.retries =
            retries.into_iter().filter(|&number| !self.is_stopped(number, schedule)).collect();
    }

    /// Returns the games so far that are not played because they were stopped.
    pub(super) fn unplayed(&self, schedule: &Schedule) -> Vec<u64> {
        let all = if self.stopped.is_empty() { 0 } else { schedule.known().min(self.end) };
        let left = |&number: &u64| {
            !schedule.has(number) && schedule.counts(number) && self.is_stopped(number, schedule)
        };
        (0..all).filter(left).collect()
    }

    /// Takes a wanted game, with the others of its block that are to be submitted with it.
    pub(super) fn take(&mut self, number: u64, block: Range<u64>, schedule: &Schedule) -> Vec<u64> {
        if self.retries.contains(&number) {
            let (now, later): (Vec<u64>, Vec<u64>) =
                self.retries.iter().partition(|number| block.contains(number));
            self.retries = later.into();
            return now;
        }
        self.next = block.end;
        (number..block.end).filter(|&number| self.is_missing(number, schedule)).collect()
    }

    /// These games are being played.
    pub(super) fn submitted(&mut self, numbers: Vec<u64>) {
        self.submitted.extend(numbers);
    }

    /// This game is no longer being played.
    pub(super) fn ended(&mut self, number: u64) {
        self.submitted.remove(&number);
    }

    /// This game has a result that is not stored yet.
    pub(super) fn written(&mut self, number: u64) {
        self.written.insert(number);
    }

    /// The result of this game is stored.
    pub(super) fn stored(&mut self, number: u64) {
        self.written.remove(&number);
    }

    /// Counts a void attempt.
    pub(super) fn count_try(&mut self, number: u64) {
        *self.tries.entry(number).or_default() += 1;
    }

    /// Queues a void game again, unless it was void more often than this without a player's doing, or was stopped.
    pub(super) fn retry(&mut self, number: u64, retries: u32, schedule: &Schedule) -> bool {
        let is_left = self.tries.get(&number).is_none_or(|tries| *tries <= retries)
            && !self.is_stopped(number, schedule);
        if is_left {
            self.retries.push_back(number);
        }
        is_left
    }
}
