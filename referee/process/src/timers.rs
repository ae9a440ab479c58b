//! Timers of the system. With one of the runtime's own timers each wait for an event sets and cancels a timer
//! of the system, which takes microseconds if it is due soon.

use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::future::poll_fn;
use std::io;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe;

/// A timer that expires at each period.
#[derive(Debug)]
pub struct Ticker(SystemTimer);

impl Ticker {
    /// Creates a timer on the current runtime.
    pub fn new(period: Duration) -> io::Result<Self> {
        let timer = SystemTimer::new()?;
        timer.set(Expiration::Interval(TimeSpec::from_duration(period)))?;
        Ok(Self(timer))
    }

    /// Waits until it expires; at once if it has since the last call.
    pub async fn tick(&mut self) -> io::Result<()> {
        poll_fn(|context| self.0.poll_expired(context)).await
    }
}

/// A timer that expires once after it is set.
#[derive(Debug)]
pub struct Alarm(SystemTimer);

impl Alarm {
    /// Creates a timer on the current runtime.
    pub fn new() -> io::Result<Self> {
        SystemTimer::new().map(Self)
    }

    /// Lets it expire at this time, and not at the time that was set before.
    pub fn set(&mut self, at: Instant) {
        // Zero would stop it.
        let rest = at.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1));
        // It fails only for times that aren't one.
        self.0.set(Expiration::OneShot(TimeSpec::from_duration(rest))).ok();
    }

    /// Whether it has expired. Afterwards it must be set before this is called again.
    pub fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.0.poll_expired(context).map(drop)
    }
}

#[derive(Debug)]
struct SystemTimer {
    timer: TimerFd,
    /// The same, to wait for it.
    expired: pipe::Receiver,
}

impl SystemTimer {
    fn new() -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        let same = timer.as_fd().try_clone_to_owned()?;
        Ok(Self { timer, expired: pipe::Receiver::from_file_unchecked(same.into())? })
    }

    fn set(&self, expiration: Expiration) -> io::Result<()> {
        Ok(self.timer.set(expiration, TimerSetTimeFlags::empty())?)
    }

    fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Eight bytes, how often it has expired. After a read that fills the buffer another would follow.
        let mut count = [0; 16];
        Pin::new(&mut self.expired).poll_read(context, &mut ReadBuf::new(&mut count))
    }
}
