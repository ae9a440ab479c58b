//! Measuring or freezing agents while it is not their turn.
//!
//! The other agents are stopped when a turn, or a wait for a core, has lasted a moment, so that quick
//! turns cost nothing. Before its next request an agent is resumed; the request is sent, and the clock
//! starts, when its supervisor has confirmed that it runs. What ran although it was to be stopped is charged
//! then.

use super::Drive;
use referee_match::Input;
use referee_process::launcher::Command;
use referee_protocol::{Nanos, Pondering, Seat};
use std::time::{Duration, Instant};

/// How long the other agents keep running in a turn, and all between two matches.
pub(crate) const FREEZE_AFTER: Duration = Duration::from_millis(2);
/// How long a supervisor may take to resume its agent before the match is void.
const THAW_WAIT: Duration = Duration::from_secs(10);

/// Whether a seat's processes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunState {
    /// They run.
    Runs,
    /// They are stopped.
    Stopped,
    /// They have been resumed at this moment, not yet confirmed.
    Thawing(Instant),
}

/// Which agents are frozen, and when the others will be.
#[derive(Debug)]
pub(super) struct Freezer {
    /// Whether agents are frozen when it is not their turn.
    freezes: bool,
    seats: Vec<RunState>,
    /// When to stop all agents whose turn it is not.
    due: Option<Instant>,
}

impl Freezer {
    pub(super) fn new(pondering: Option<Pondering>, seats: usize) -> Self {
        let freezes = pondering == Some(Pondering::Freeze);
        Self { freezes, seats: vec![RunState::Runs; seats], due: None }
    }

    /// Notes that a turn, or a wait for a core, begins.
    pub(super) fn begin(&mut self, now: Instant) {
        if self.freezes {
            self.due = Some(now + FREEZE_AFTER);
        }
    }

    /// Notes that a seat was killed and won't be confirmed.
    pub(super) fn forget(&mut self, seat: Seat) {
        self.seats[seat.index()] = RunState::Runs;
    }

    /// Whether a seat has been resumed but not confirmed.
    pub(super) fn is_thawing(&self, seat: Seat) -> bool {
        matches!(self.seats[seat.index()], RunState::Thawing(_))
    }

    /// Returns when to check again.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        let late = self.seats.iter().filter_map(|motion| match motion {
            RunState::Thawing(since) => Some(*since + THAW_WAIT),
            RunState::Runs | RunState::Stopped => None,
        });
        self.due.into_iter().chain(late).min()
    }
}

impl Drive<'_> {
    /// Freezes idle agents that are due, and ends the match if one can't be resumed.
    pub(super) fn freeze_idle(&mut self, now: Instant) {
        if self.is_paused() {
            // All are stopped.
            return;
        }
        if self.freezer.due.is_some_and(|due| due <= now) {
            self.freezer.due = None;
            let asked = self.state.thinking();
            for seat in Seat::all(self.participants.len()) {
                let participant = &self.participants[seat.index()];
                let motion = &mut self.freezer.seats[seat.index()];
                let waits = *motion == RunState::Runs && asked != Some(seat);
                if waits && participant.is_process() && !participant.is_killed() {
                    *motion = RunState::Stopped;
                    participant.command(Command::Stop);
                }
            }
        }
        for seat in Seat::all(self.participants.len()) {
            if let RunState::Thawing(since) = self.freezer.seats[seat.index()]
                && since + THAW_WAIT <= now
            {
                self.freezer.seats[seat.index()] = RunState::Runs;
                let text = format!("seat {seat} was frozen and could not be resumed");
                self.input(Input::Stop { cause: "machine", text, seat: Some(seat) });
            }
        }
    }

    /// Whether a seat can be asked now. If it is frozen, resumes it; it is asked when it runs.
    pub(super) fn resume_if_frozen(&mut self, seat: Seat) -> bool {
        let motion = self.freezer.seats[seat.index()];
        if motion == RunState::Stopped {
            self.thaw(seat);
        }
        motion == RunState::Runs
    }

    /// Whether the request waits for its seat to resume.
    pub(super) fn awaits_thaw(&self) -> bool {
        self.slot.is_none()
            && self.request.as_ref().is_some_and(|(seat, _)| self.freezer.is_thawing(*seat))
    }

    fn thaw(&mut self, seat: Seat) {
        self.freezer.seats[seat.index()] = RunState::Thawing(Instant::now());
        // In a pause it is resumed with all others at the end.
        if !self.is_paused() {
            self.participants[seat.index()].command(Command::Continue);
        }
    }

    /// Resumes all agents, because the match is over.
    pub(super) fn thaw_all(&mut self) {
        self.freezer.due = None;
        for seat in Seat::all(self.participants.len()) {
            if self.freezer.seats[seat.index()] == RunState::Stopped {
                self.thaw(seat);
            }
        }
    }

    /// A seat's processes run again, and used `ran` of CPU time meanwhile: sends a request that waits for it.
    pub(super) fn thawed(&mut self, seat: Seat, ran: Nanos) {
        if !self.freezer.is_thawing(seat) {
            return;
        }
        self.input(Input::RanFrozen(seat, ran));
        self.freezer.seats[seat.index()] = RunState::Runs;
        let wanted = self.request.as_ref().is_some_and(|(asked, _)| *asked == seat);
        if wanted && self.slot.is_none() {
            self.ask();
        } else {
            // The request was withdrawn meanwhile.
            self.freezer.begin(Instant::now());
        }
    }

    /// Stops all agents, or resumes all but those frozen before.
    pub(super) fn pause(&mut self, paused: bool) {
        let now = Instant::now();
        for (participant, motion) in self.participants.iter().zip(&mut self.freezer.seats) {
            match motion {
                _ if paused => participant.command(Command::Stop),
                RunState::Stopped => {}
                RunState::Runs => participant.command(Command::Continue),
                RunState::Thawing(since) => {
                    *since = now;
                    participant.command(Command::Continue);
                }
            }
        }
    }

    fn is_paused(&self) -> bool {
        self.table.orders.borrow().paused
    }
}
