//! Detects that this process was paused: by a signal, or because the machine slept. A process is
//! not notified of that, but the clock shows it.

use nix::time::clock_gettime;
use referee_process::usage::UPTIME;
use std::time::Duration;

/// Measures the time between calls.
#[derive(Debug)]
pub(super) struct StallDetector {
    last_call: Duration,
}

impl StallDetector {
    /// Starts now.
    pub(super) fn new() -> Self {
        Self { last_call: now() }
    }

    /// Returns the time since the last call.
    pub(super) fn elapsed(&mut self) -> Duration {
        let (before, now) = (self.last_call, now());
        self.last_call = now;
        now.saturating_sub(before)
    }
}

fn now() -> Duration {
    clock_gettime(UPTIME).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests {
    use super::{StallDetector, now};
    use std::time::Duration;

    #[test]
    fn a_gap_is_reported_once() {
        // As if started with the machine.
        let mut stall = StallDetector { last_call: Duration::ZERO };
        let gap = stall.elapsed();
        assert!(gap > Duration::ZERO && gap <= now());
        assert!(stall.elapsed() < gap);
    }
}
