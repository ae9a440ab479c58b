//! Measuring the referee's own delay: a timer that should fire every few milliseconds, and a log of when
//! it fired late.

use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

/// The period of the timer.
const PERIOD: Duration = Duration::from_millis(10);
/// Timers are this coarse: up to here it isn't late.
const TOLERANCE: Duration = Duration::from_millis(2);
/// How many late ticks are kept.
const KEPT: usize = 256;

/// A timer of the system that expires at each period. With one of the runtime's own timers, each wait
/// for an event would set and cancel a timer of the system, which takes microseconds if it is due soon.
pub(super) type ProbeTimer = pipe::Receiver;

/// Creates a timer on the current runtime.
pub(super) fn probe_timer() -> io::Result<ProbeTimer> {
    let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
    let period = Expiration::Interval(TimeSpec::from_duration(PERIOD));
    timer.set(period, TimerSetTimeFlags::empty())?;
    pipe::Receiver::from_file_unchecked(OwnedFd::from(timer).into())
}

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
    pub(super) fn start(mut timer: ProbeTimer) -> Self {
        let log = Log { due: Instant::now() + PERIOD, late: VecDeque::new() };
        let lag_probe = Self(Rc::new(RefCell::new(log)));
        let ticking = lag_probe.clone();
        tokio::task::spawn_local(async move {
            // Eight bytes, how often it has expired.
            while timer.read(&mut [0; 16]).await.is_ok() {
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
