//! A timer that expires again and again.

use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::future::poll_fn;
use std::io;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe;

/// A timer of the system that expires at each period. With one of the runtime's own timers, each wait
/// for an event would set and cancel a timer of the system, which takes microseconds if it is due soon.
#[derive(Debug)]
pub struct Ticker {
    timer: TimerFd,
    /// The same, to wait for it.
    expired: pipe::Receiver,
    period: Duration,
}

impl Ticker {
    /// Creates a timer on the current runtime and starts it.
    pub fn new(period: Duration) -> io::Result<Self> {
        let mut ticker = Self::stopped(period)?;
        ticker.start()?;
        Ok(ticker)
    }

    /// Creates a timer on the current runtime that does not expire before it is started.
    pub fn stopped(period: Duration) -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        let same = timer.as_fd().try_clone_to_owned()?;
        let expired = pipe::Receiver::from_file_unchecked(same.into())?;
        Ok(Self { timer, expired, period })
    }

    /// Starts it: it expires first after one period.
    pub fn start(&mut self) -> io::Result<()> {
        let period = Expiration::Interval(TimeSpec::from_duration(self.period));
        Ok(self.timer.set(period, TimerSetTimeFlags::empty())?)
    }

    /// Stops it: it does not expire any more.
    pub fn stop(&mut self) -> io::Result<()> {
        Ok(self.timer.unset()?)
    }

    /// Waits until it expires; at once if it has since the last call.
    pub async fn tick(&mut self) -> io::Result<()> {
        poll_fn(|context| self.poll_tick(context)).await
    }

    /// Returns whether it has expired since the last call; if not, wakes the task when it does.
    pub fn poll_tick(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // How often it has expired.
        let mut count = [0; 8];
        Pin::new(&mut self.expired).poll_read(context, &mut ReadBuf::new(&mut count))
    }
}
