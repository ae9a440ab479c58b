//! Keeps an agent's tree stopped without a freezer, and measures what runs nevertheless.
//!
//! A signal alone doesn't keep it stopped: a process that was already ending announces its end to
//! its parent by a signal of its own choice, which may be the one that continues it. So the tree is
//! checked, and stopped again, until no process in it is left that could still end.

use super::tree::signal_all;
use crate::usage::{states_of, time_below, tree_below};
use nix::sys::signal::Signal;
use nix::unistd::getpid;
use referee_protocol::Nanos;
use std::time::{Duration, Instant};

/// The first pause before a check, and the longest.
const PAUSE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));
/// So many checks in a row must find everything stopped: a process that has just ended is shown as
/// such a moment before its parent gets the signal.
const CHECKS: u32 = 2;
/// What runs for less in all was only about to stop.
const NOTHING: Nanos = Nanos(1_000_000);

/// A tree that is to be stopped: all descendants of this process.
#[derive(Debug)]
pub(super) struct Stopped {
    /// As for [`signal_all`]. Only then nothing from outside can continue it.
    bounded: bool,
    /// How many checks in a row have found everything stopped.
    still: u32,
    pause: Duration,
    /// When the next check is due; `None` if nothing in the tree can run any more.
    due: Option<Instant>,
    /// The tree's CPU time when a check first found it running.
    before: Option<Nanos>,
}

impl Stopped {
    /// Stops the tree.
    pub(super) fn stop(bounded: bool) -> Self {
        signal_all(bounded, Signal::SIGSTOP);
        let (pause, due) = (PAUSE.0, Some(Instant::now() + PAUSE.0));
        Self { bounded, still: 0, pause, due, before: None }
    }

    /// Returns how long to wait for other events before [`Stopped::check`].
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Checks if a check is due, and stops the tree again if something runs. Returns whether it is
    /// known to be stopped.
    pub(super) fn check(&mut self) -> bool {
        let now = Instant::now();
        if self.due.is_some_and(|due| due <= now) {
            let ended = |state| matches!(state, 'T' | 'Z' | 'X');
            if tree_below(getpid()).into_iter().flat_map(states_of).all(ended) {
                self.still += 1;
            } else {
                self.before = self.before.or_else(time);
                signal_all(self.bounded, Signal::SIGSTOP);
                self.still = 0;
            }
            self.pause = (self.pause * 2).min(PAUSE.1);
            let stays = self.bounded && self.still >= CHECKS;
            self.due = (!stays).then(|| now + self.pause);
        }
        self.still >= CHECKS
    }

    /// Lets the tree run again. Returns the CPU time that it used after the first check.
    pub(super) fn resume(self) -> Nanos {
        let ran = self.before.and_then(|before| Some(time()?.since(before)));
        signal_all(self.bounded, Signal::SIGCONT);
        ran.filter(|&ran| ran >= NOTHING).unwrap_or_default()
    }
}

/// Returns the CPU time of the tree, with that of processes which have ended and were reaped.
fn time() -> Option<Nanos> {
    let (reaped, below) = time_below(getpid(), 0)?;
    Some(reaped.plus(below))
}
