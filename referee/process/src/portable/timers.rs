//! Timers: those of the runtime.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, Sleep, interval_at, sleep};

/// A timer that expires at each period.
#[derive(Debug)]
pub struct Ticker(Interval);

impl Ticker {
    /// Creates a timer on the current runtime.
    pub fn new(period: Duration) -> io::Result<Self> {
        let mut interval = interval_at(Instant::now() + period, period);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self(interval))
    }

    /// Waits until it expires; at once if it has since the last call.
    pub async fn tick(&mut self) -> io::Result<()> {
        self.0.tick().await;
        Ok(())
    }
}

/// A timer that expires once after it is set.
#[derive(Debug)]
pub struct Alarm(Pin<Box<Sleep>>);

impl Alarm {
    /// Creates a timer on the current runtime.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Box::pin(sleep(Duration::ZERO))))
    }

    /// Lets it expire at this time, and not at the time that was set before.
    pub fn set(&mut self, at: std::time::Instant) {
        self.0.as_mut().reset(at.into());
    }

    /// Whether it has expired. Afterwards it must be set before this is called again.
    pub fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}
