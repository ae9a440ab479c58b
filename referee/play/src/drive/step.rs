//! Fairness: how long a match works before the others of its core go on, and the lag probe with them. What
//! an agent writes never makes the referee late.

use referee_process::framer::Line;
use referee_protocol::Seat;
use std::time::{Duration, Instant};

/// How long a match works at once. Shorter than the lag that counts.
pub(super) const STEP: Duration = Duration::from_micros(500);

/// What a match does without letting others go on.
#[derive(Debug)]
pub(super) struct Step {
    /// When the match last let others go on.
    pub(super) began: Instant,
    /// Whether it did so before the last event.
    has_waited: bool,
    /// The seat whose lines are being judged. They were all written before any request that the first
    /// of them causes.
    pub(super) judged: Option<Seat>,
    /// The next of these lines, and when it was read, if the others of the core go first.
    pub(super) rest: Option<(Seat, Instant, Line)>,
}

impl Step {
    pub(super) fn new(began: Instant) -> Self {
        Self { began, has_waited: false, judged: None, rest: None }
    }

    /// Whether it is time to let others go on.
    pub(super) fn is_long(&self) -> bool {
        self.began.elapsed() >= STEP
    }

    /// Lets others go on, if it is time, before the next event is waited for.
    pub(super) async fn before_wait(&mut self) {
        // After a wait there is at most one event, and the lines that came with it.
        if (!self.has_waited || self.rest.is_some()) && self.is_long() {
            tokio::task::yield_now().await;
            self.began = Instant::now();
        }
        self.has_waited = false;
    }

    /// Notes that there is no event yet, so that others go on.
    pub(super) fn note_wait(&mut self) {
        self.has_waited = true;
    }

    /// Notes an event, which was seen at `at`, if that is known.
    pub(super) fn after_wait(&mut self, at: Option<Instant>) {
        if self.has_waited {
            self.began = at.unwrap_or_else(Instant::now);
        }
    }
}
