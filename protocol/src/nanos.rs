//! Match times in nanoseconds.

use std::time::Duration;

/// A time in nanoseconds: since the start of the match, or a duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Converts milliseconds.
    pub fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// Returns milliseconds, rounded up.
    pub fn ms_up(self) -> u64 {
        self.0.div_ceil(1_000_000)
    }

    /// Returns milliseconds, rounded down.
    pub fn ms_down(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Adds a duration, saturating.
    #[must_use]
    pub fn plus(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// Returns the duration since an earlier time; zero if it is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl From<Duration> for Nanos {
    fn from(span: Duration) -> Self {
        Self(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}
