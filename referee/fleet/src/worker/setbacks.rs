//! What has gone wrong lately. A worker that fails pauses, so that a broken machine does not take all
//! orders, and leaves a block that it has failed at to other workers for a while.

use crate::{FaultCause, WorkerFault};
use referee_contest::Player;
use referee_process::lock::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The shortest and the longest pause after orders that this worker can't play because of an agent; it doubles.
const AGENT_PAUSE: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(4));
/// The same after an order that failed because of this machine: the next one would fail as well.
const MACHINE_PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// A worker's failures since it last played an order.
#[derive(Debug, Default)]
pub(super) struct Setbacks(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Orders that failed because of this machine.
    machine: u32,
    /// Orders that failed because of an agent, each agent once: it slows down no games of others.
    agents: u32,
    /// These agents.
    players: BTreeSet<Player>,
    /// When it last failed at a block.
    blocks: BTreeMap<u64, Instant>,
}

impl Setbacks {
    /// An order on this block was played.
    pub(super) fn played(&self, block: u64) {
        let mut counts = lock(&self.0);
        (counts.machine, counts.agents) = (0, 0);
        counts.blocks.remove(&block);
    }

    /// An order on this block could not be played.
    pub(super) fn failed(&self, block: u64, fault: &WorkerFault) {
        let mut counts = lock(&self.0);
        counts.blocks.insert(block, Instant::now());
        match (fault.cause, fault.player) {
            (FaultCause::Disk | FaultCause::Machine, _) => counts.machine += 1,
            (_, Some(player)) if !counts.players.insert(player) => {}
            _ => counts.agents += 1,
        }
    }

    /// Returns whether it failed at this block less than `time` ago.
    pub(super) fn has_failed_at(&self, block: u64, time: Duration) -> bool {
        let mut counts = lock(&self.0);
        counts.blocks.retain(|_, failed| failed.elapsed() < time);
        counts.blocks.contains_key(&block)
    }

    /// Returns how long to wait before the next order.
    pub(super) fn pause(&self) -> Duration {
        let counts = lock(&self.0);
        let pause = |count: u32, (least, most): (Duration, Duration)| match count {
            0 => Duration::ZERO,
            _ => (least * (1 << (count - 1).min(6))).min(most),
        };
        pause(counts.machine, MACHINE_PAUSE).max(pause(counts.agents, AGENT_PAUSE))
    }
}

#[cfg(test)]
mod tests {
    use super::Setbacks;
    use crate::{FaultCause, WorkerFault};
    use referee_contest::Player;
    use std::time::Duration;

    fn fault(cause: FaultCause) -> WorkerFault {
        WorkerFault::new(cause, "")
    }

    #[test]
    fn pauses_grow_until_an_order_is_played() {
        let setbacks = Setbacks::default();
        assert_eq!(setbacks.pause(), Duration::ZERO);
        let of = |player| WorkerFault { player, ..fault(FaultCause::Build) };
        let pauses = [0, 1, 2, 3, 4, 5, 6, 7].map(|player| {
            setbacks.failed(7, &of(Some(Player(player))));
            setbacks.pause().as_millis()
        });
        assert_eq!(pauses, [250, 500, 1000, 2000, 4000, 4000, 4000, 4000]);
        for _ in 0..100 {
            setbacks.failed(8, &fault(FaultCause::Disk));
        }
        assert_eq!(setbacks.pause(), Duration::from_secs(60));
        setbacks.played(8);
        setbacks.failed(8, &of(Some(Player(7))));
        assert_eq!(setbacks.pause(), Duration::ZERO, "it is known");
        setbacks.failed(8, &of(None));
        assert_eq!(setbacks.pause(), Duration::from_millis(250));
    }

    #[test]
    fn a_block_is_left_to_others_for_a_while() {
        let setbacks = Setbacks::default();
        for block in [7, 8] {
            setbacks.failed(block, &fault(FaultCause::Agent));
        }
        setbacks.played(8);
        let lease = Duration::from_secs(3600);
        assert!(setbacks.has_failed_at(7, lease) && !setbacks.has_failed_at(8, lease));
        assert!(!setbacks.has_failed_at(7, Duration::ZERO));
    }
}
