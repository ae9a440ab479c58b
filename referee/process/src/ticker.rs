//! A timer that expires again and again.

use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

/// A timer of the system that expires at each period. With one of the runtime's own timers, each wait
/// for an event would set and cancel a timer of the system, which takes microseconds if it is due soon.
#[derive(Debug)]
pub struct Ticker(pipe::Receiver);

impl Ticker {
    /// Creates a timer on the current runtime.
    pub fn new(period: Duration) -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        let period = Expiration::Interval(TimeSpec::from_duration(period));
        timer.set(period, TimerSetTimeFlags::empty())?;
        pipe::Receiver::from_file_unchecked(OwnedFd::from(timer).into()).map(Self)
    }

    /// Waits until it expires; at once if it has since the last call.
    pub async fn tick(&mut self) -> io::Result<()> {
        // Eight bytes, how often it has expired.
        self.0.read(&mut [0; 16]).await.map(drop)
    }
}
