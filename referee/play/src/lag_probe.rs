//! Measuring the referee's own delay: a timer that should fire every few milliseconds, and a log of when
//! it fired late.

use referee_process::timers::Ticker;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The period of the timer.
pub(super) const PERIOD: Duration = Duration::from_millis(10);
/// Timers are this coarse: up to here it isn't late.
const TOLERANCE: Duration = Duration::from_millis(2);
/// How many late ticks are kept.
const KEPT: usize = 256;

/// The probe of one runtime.
#[derive(Clone, Debug)]
pub struct LagProbe(Rc<RefCell<Log>>);

#[derive(Debug)]
struct Log {
    due: Instant,
    late: VecDeque<(Instant, Duration)>,
}

impl LagProbe {
    /// Starts on the current runtime, for as long as that lives.
    pub(super) fn start(mut timer: Ticker) -> Self {
        let log = Log { due: Instant::now() + PERIOD, late: VecDeque::new() };
        let lag_probe = Self(Rc::new(RefCell::new(log)));
        let ticking = lag_probe.clone();
        tokio::task::spawn_local(async move {
            while timer.tick().await.is_ok() {
                ticking.0.borrow_mut().tick(Instant::now());
            }
        });
        lag_probe
    }

    /// Restarts, because the referee was stopped on purpose.
    pub fn forget(&self) {
        let mut log = self.0.borrow_mut();
        log.late.clear();
        log.due = Instant::now() + PERIOD;
    }

    /// Returns the referee's longest delay since `start`, up to now. Only time after `start` counts, also
    /// of a delay that began before.
    pub fn lag_since(&self, start: Instant, now: Instant) -> Duration {
        let log = self.0.borrow();
        let remembered = log.late.iter().rev().take_while(|(at, _)| *at >= start).copied();
        let overdue = (now, lateness(log.due, now));
        let lags = remembered.chain([overdue]);
        lags.map(|(at, late)| late.min(at.saturating_duration_since(start)))
            .max()
            .unwrap_or_default()
    }
}

impl Log {
    fn tick(&mut self, now: Instant) {
        let late = lateness(self.due, now);
        if !late.is_zero() {
            if self.late.len() == KEPT {
                self.late.pop_front();
            }
            self.late.push_back((now, late));
        }
        self.due = now + PERIOD;
    }
}

fn lateness(due: Instant, now: Instant) -> Duration {
    now.saturating_duration_since(due + TOLERANCE)
}

#[cfg(test)]
mod tests {
    use super::{LagProbe, Log, PERIOD, TOLERANCE};
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::rc::Rc;
    use std::time::{Duration, Instant};

    #[test]
    fn only_lag_since_the_start_counts() {
        let zero = Instant::now();
        let at = |ms| zero + Duration::from_millis(ms);
        let mut log = Log { due: at(10), late: VecDeque::new() };
        log.tick(at(11)); // on time, as timers go
        log.tick(at(40)); // due at 21: 17 ms late
        log.tick(at(51));
        let lag_probe = LagProbe(Rc::new(RefCell::new(log)));
        let lag = |start, now| lag_probe.lag_since(at(start), at(now));
        assert_eq!(lag(0, 52), Duration::from_millis(17));
        assert_eq!(lag(35, 52), Duration::from_millis(5));
        assert_eq!(lag(45, 52), Duration::ZERO);
        let due = at(51) + PERIOD + TOLERANCE;
        assert_eq!(lag_probe.lag_since(at(45), due + Duration::from_millis(5)).as_millis(), 5);
    }
}
