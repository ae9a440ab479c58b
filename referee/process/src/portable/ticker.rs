//! A timer that expires again and again: one of the runtime.

use std::io;
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

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
