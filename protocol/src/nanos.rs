//! Times as a match counts them.

use std::time::Duration;

/// A time in nanoseconds: since the match began, or between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// From milliseconds.
    pub fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// In milliseconds, rounded up.
    pub fn ms_up(self) -> u64 {
        self.0.div_ceil(1_000_000)
    }

    /// In milliseconds, rounded down.
    pub fn ms_down(self) -> u64 {
        self.0 / 1_000_000
    }

    /// The later moment, or the sum of two spans.
    #[must_use]
    pub fn plus(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The span since an earlier moment, or zero.
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
