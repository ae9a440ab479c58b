//! Whether this process stood still: it was stopped, or the machine slept. Nobody tells it, but the
//! clock went on meanwhile.

use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Felt regularly, it tells how long it was not felt.
#[derive(Debug)]
pub(super) struct Pulse {
    felt: Duration,
}

impl Pulse {
    /// Felt now.
    pub(super) fn new() -> Self {
        Self { felt: now() }
    }

    /// Feels it: how long it was not felt.
    pub(super) fn feel(&mut self) -> Duration {
        let (before, now) = (self.felt, now());
        self.felt = now;
        now.saturating_sub(before)
    }
}

/// Of a clock that goes on while the machine sleeps, and that nobody sets.
fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests {
    use super::{Pulse, now};
    use std::time::Duration;

    #[test]
    fn a_gap_is_felt_once() {
        // As if since the machine's start.
        let mut pulse = Pulse { felt: Duration::ZERO };
        let gap = pulse.feel();
        assert!(gap > Duration::ZERO && gap <= now());
        assert!(pulse.feel() < gap);
    }
}
