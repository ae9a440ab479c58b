//! Limits of a search: by the clock, with a reserve, or by a number of nodes, which makes its result
//! depend only on the position and the seed.

use referee_protocol::ClockSettings;
use std::time::{Duration, Instant};

/// The time for a turn, if the clock allows it.
const TURN: Duration = Duration::from_millis(100);
/// The longest time to plan a puzzle.
const PLAN: Duration = Duration::from_secs(15);
/// A turn takes no larger part of the bank than this, so that the bank never runs dry.
const BANK_PART: u32 = 40;
/// The time of a turn beyond its search: waking up, reading, writing.
const BESIDES: Duration = Duration::from_millis(5);
/// Of what a turn may take at most, the part that is kept for what can't be foreseen: a busy
/// machine, a pipe that is slow.
const RESERVE: f64 = 0.5;
/// The number of nodes between two checks of the clock.
const NODES_BETWEEN: u64 = 64;

/// The limits of all searches of a match.
#[derive(Debug)]
pub(crate) struct TimePolicy {
    /// The nodes of one turn, instead of time.
    pub(crate) nodes: Option<u64>,
    pub(crate) clock: ClockSettings,
}

impl TimePolicy {
    /// For a turn of a game with opponents, which began at `begun` with `left_ms` in the bank.
    pub(crate) fn turn(&self, begun: Instant, left_ms: Option<u64>) -> Budget {
        let bank = left_ms.map(Duration::from_millis);
        let increment = Duration::from_millis(self.clock.increment_ms).mul_f64(RESERVE);
        let part = bank.map_or(TURN, |left| (left / BANK_PART + increment).saturating_sub(BESIDES));
        self.budget(begun, TURN.min(part).min(self.most(left_ms)))
    }

    /// For the plan of a whole puzzle.
    pub(crate) fn plan(&self, begun: Instant, left_ms: Option<u64>) -> Budget {
        self.budget(begun, PLAN.min(self.most(left_ms)))
    }

    /// The most that may be used at all without touching the reserve. CPU time is never more than
    /// the time on the wall, so the same holds for clocks that count it.
    fn most(&self, left_ms: Option<u64>) -> Duration {
        let allowed = left_ms.into_iter().chain(self.clock.move_ms).chain(self.clock.backstop_ms);
        let allowed = allowed.min().map_or(PLAN, Duration::from_millis);
        allowed.saturating_sub(BESIDES).mul_f64(RESERVE)
    }

    fn budget(&self, begun: Instant, time: Duration) -> Budget {
        match self.nodes {
            Some(nodes) => Budget { spent: 0, nodes, deadline: None, begun },
            None => Budget { spent: 0, nodes: u64::MAX, deadline: Some(begun + time), begun },
        }
    }
}

/// What is left for one search.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    /// The nodes that were looked at.
    pub(crate) spent: u64,
    nodes: u64,
    deadline: Option<Instant>,
    begun: Instant,
}

impl Budget {
    /// Takes one more node. Returns false once the budget is spent.
    #[inline]
    pub(crate) fn spend(&mut self) -> bool {
        if self.spent >= self.nodes {
            return false;
        }
        self.spent += 1;
        if self.spent.is_multiple_of(NODES_BETWEEN)
            && self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
        {
            self.nodes = self.spent;
        }
        true
    }

    /// Whether there is nothing left.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent >= self.nodes || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether half of it has gone: what takes longer than all before it isn't worth beginning.
    pub(crate) fn is_half_spent(&self) -> bool {
        match self.deadline {
            Some(deadline) => Instant::now() + (deadline - self.begun) / 2 >= deadline,
            None => self.spent >= self.nodes / 2,
        }
    }

    /// Returns a budget of a percentage of what is left. Pass it to [`Budget::merge`] afterwards.
    pub(crate) fn part(&self, hundredths: u32) -> Self {
        let mut smaller = self.clone();
        smaller.begun = Instant::now();
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(smaller.begun);
            smaller.deadline = Some(smaller.begun + left * hundredths / 100);
        } else {
            let left = self.nodes.saturating_sub(self.spent);
            smaller.nodes = self.spent + left / 100 * u64::from(hundredths);
        }
        smaller
    }

    /// Adds what a part has spent.
    pub(crate) fn merge(&mut self, part: &Self) {
        self.spent = part.spent;
    }
}
