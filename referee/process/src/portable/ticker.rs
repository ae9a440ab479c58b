//! A timer that expires again and again: one of the runtime.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// How long a stopped timer waits.
const STOPPED: Duration = Duration::from_hours(24 * 365);

/// A timer that expires at each period.
#[derive(Debug)]
pub struct Ticker(Interval);

impl Ticker {
    /// Creates a timer on the current runtime and starts it.
    pub fn new(period: Duration) -> io::Result<Self> {
        let mut ticker = Self::stopped(period)?;
        ticker.start()?;
        Ok(ticker)
    }

    /// Creates a timer on the current runtime that does not expire before it is started.
    pub fn stopped(period: Duration) -> io::Result<Self> {
        let mut interval = interval_at(Instant::now() + STOPPED, period);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self(interval))
    }

    /// Starts it: it expires first after one period.
    pub fn start(&mut self) -> io::Result<()> {
        self.0.reset();
        Ok(())
    }

    /// Stops it: it does not expire any more.
    pub fn stop(&mut self) -> io::Result<()> {
        self.0.reset_after(STOPPED);
        Ok(())
    }

    /// Waits until it expires; at once if it has since the last call.
    pub async fn tick(&mut self) -> io::Result<()> {
        poll_fn(|context| self.poll_tick(context)).await
    }

    /// Returns whether it has expired since the last call; if not, wakes the task when it does.
    pub fn poll_tick(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_tick(context).map(|_| Ok(()))
    }
}
