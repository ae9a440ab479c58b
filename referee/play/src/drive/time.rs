//! The time of a match: the machine's, without pauses, and without the referee's search for the cause of
//! an agent's end.

use super::readings::span;
use crate::core_context::PausedTime;
use referee_protocol::Nanos;
use std::time::{Duration, Instant};

/// The time of one match.
#[derive(Debug)]
pub(super) struct MatchTime {
    pub(super) began: Instant,
    paused: PausedTime,
    /// The paused time when the match began.
    paused_before: u64,
    /// For how long it has been held before.
    held: Duration,
    /// Since when it is held, and the paused time then.
    held_since: Option<(Instant, u64)>,
}

impl MatchTime {
    pub(super) fn begin(paused: PausedTime) -> Self {
        let paused_before = paused.past_ns();
        let (held, held_since) = (Duration::ZERO, None);
        Self { began: Instant::now(), paused, paused_before, held, held_since }
    }

    /// Returns the time of the match. While the length of a pause isn't known, returns zero: the match's
    /// time never runs backwards, so it stops.
    pub(super) fn of(&self, moment: Instant) -> Nanos {
        let Some(left_out) = self.left_out() else { return Nanos(0) };
        let moment = self.held_since.map_or(moment, |(since, _)| moment.min(since));
        Nanos(span(self.began, moment).0.saturating_sub(left_out))
    }

    /// Returns when it is this time; `None` if that isn't known, since it doesn't run.
    pub(super) fn when(&self, at: Nanos) -> Option<Instant> {
        if self.held_since.is_some() {
            return None;
        }
        let left_out = self.left_out()?;
        self.began.checked_add(Duration::from_nanos(at.0.saturating_add(left_out)))
    }

    /// Returns the moment that is at this time, even if the match's time is held.
    pub(super) fn moment(&self, at: Nanos) -> Instant {
        let left_out = self.left_out().unwrap_or_default();
        self.began + Duration::from_nanos(at.0.saturating_add(left_out))
    }

    fn left_out(&self) -> Option<u64> {
        let paused = self.paused.settled_ns()? - self.paused_before;
        Some(paused + Nanos::from(self.held).0)
    }

    /// Holds it from this moment on.
    pub(super) fn hold(&mut self, now: Instant) {
        self.held_since.get_or_insert((now, self.paused.past_ns()));
    }

    /// Lets it run again.
    pub(super) fn release(&mut self, now: Instant) {
        let Some((since, paused)) = self.held_since.take() else { return };
        let paused = Duration::from_nanos(self.paused.past_ns() - paused);
        self.held += now.saturating_duration_since(since).saturating_sub(paused);
    }
}

#[cfg(test)]
mod tests {
    use super::{MatchTime, PausedTime};
    use referee_protocol::Nanos;
    use std::time::Duration;

    #[test]
    fn what_is_left_out_is_left_out_once() {
        let paused = PausedTime::default();
        let mut time = MatchTime::begin(paused.clone());
        let at = |seconds| time.began + Duration::from_secs(seconds);
        let (at1, at3, at6, at8, at20) = (at(1), at(3), at(6), at(8), at(20));
        let seconds = |seconds: u64| Nanos(seconds * 1_000_000_000);
        assert_eq!(time.of(at1), seconds(1));
        assert_eq!(time.when(seconds(3)), Some(at3));
        time.hold(at3);
        assert_eq!((time.of(at1), time.of(at6)), (seconds(1), seconds(3)));
        assert_eq!(time.when(seconds(5)), None);
        // A pause of two seconds in it.
        paused.begin();
        assert_eq!(time.of(at6), Nanos(0));
        paused.end(2_000_000_000);
        time.release(at8);
        assert_eq!(time.of(at8), seconds(3));
        assert_eq!(time.of(at20), seconds(15));
        // What was seen before a pause keeps its time.
        assert_eq!(time.of(time.moment(seconds(1))), seconds(1));
        assert_eq!(time.when(seconds(15)), Some(at20));
    }
}
