//! Measuring or freezing agents while it is not their turn.
//!
//! The other agents are stopped when a turn, or a wait for a core, has lasted a moment, so that quick
//! turns cost nothing. Before its next request an agent is resumed; the request is sent, and the clock
//! starts, when its supervisor has confirmed that it runs. What ran although it was to be stopped is charged
//! then.

use crate::participant::Participant;
use referee_process::launcher::Command;
use referee_protocol::{Pondering, Seat};
use std::time::{Duration, Instant};

/// How long the other agents keep running in a turn, and all between two matches.
pub(crate) const FREEZE_AFTER: Duration = Duration::from_millis(2);
/// How long a supervisor may take to resume its agent before the match is void.
const THAW_WAIT: Duration = Duration::from_secs(10);

/// Whether a seat's processes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunState {
    /// They run.
    Runs,
    /// They are stopped.
    Stopped,
    /// They have been resumed at this moment, not yet confirmed.
    Thawing(Instant),
}

/// Which agents are frozen, and when the others will be. In a pause of the whole program all are stopped,
/// but remain what they were.
#[derive(Debug)]
pub(super) struct Freezer {
    /// Whether agents are frozen when it is not their turn.
    freezes: bool,
    is_paused: bool,
    seats: Vec<RunState>,
    /// When to stop all agents whose turn it is not.
    due: Option<Instant>,
}

impl Freezer {
    pub(super) fn new(pondering: Option<Pondering>, seats: usize, is_paused: bool) -> Self {
        let freezes = pondering == Some(Pondering::Freeze);
        Self { freezes, is_paused, seats: vec![RunState::Runs; seats], due: None }
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

    /// Whether a seat isn't frozen.
    pub(super) fn runs(&self, seat: Seat) -> bool {
        self.seats[seat.index()] == RunState::Runs
    }

    /// Whether a seat has been resumed but not confirmed.
    pub(super) fn is_thawing(&self, seat: Seat) -> bool {
        matches!(self.seats[seat.index()], RunState::Thawing(_))
    }

    /// Returns when to check again.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        let late = self.seats.iter().filter_map(|state| match state {
            RunState::Thawing(since) => Some(*since + THAW_WAIT),
            RunState::Runs | RunState::Stopped => None,
        });
        self.due.into_iter().chain(late).min()
    }

    /// Returns when to freeze idle agents.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Freezes idle agents that are due.
    pub(super) fn freeze_due(
        &mut self,
        now: Instant,
        participants: &[Participant],
        thinks: impl Fn(Seat) -> bool,
    ) {
        if self.is_paused || self.due.take_if(|due| *due <= now).is_none() {
            return;
        }
        for (seat, participant) in Seat::all(participants.len()).zip(participants) {
            let state = &mut self.seats[seat.index()];
            let waits = *state == RunState::Runs && !thinks(seat);
            if waits && participant.is_process() && !participant.is_killed() {
                *state = RunState::Stopped;
                participant.command(Command::Stop);
            }
        }
    }

    /// Returns a seat that can't be resumed.
    pub(super) fn find_lost(&mut self, now: Instant) -> Option<Seat> {
        let is_lost = |state: &RunState| matches!(state, RunState::Thawing(since) if *since + THAW_WAIT <= now);
        let is_looked_for = |seat: &Seat| !self.is_paused && is_lost(&self.seats[seat.index()]);
        let lost = Seat::all(self.seats.len()).find(is_looked_for);
        lost.inspect(|&seat| self.forget(seat))
    }

    /// Whether a seat runs. If it is frozen, resumes it.
    pub(super) fn resume(&mut self, seat: Seat, participant: &Participant) -> bool {
        if self.seats[seat.index()] == RunState::Stopped {
            self.seats[seat.index()] = RunState::Thawing(Instant::now());
            // In a pause it is resumed with all others at the end.
            if !self.is_paused {
                participant.command(Command::Continue);
            }
        }
        self.runs(seat)
    }

    /// Resumes all agents, because the match is over.
    pub(super) fn resume_all(&mut self, participants: &[Participant]) {
        self.due = None;
        for (seat, participant) in Seat::all(participants.len()).zip(participants) {
            self.resume(seat, participant);
        }
    }

    /// Notes that a seat's processes run again; false if they were not being resumed.
    pub(super) fn confirm(&mut self, seat: Seat) -> bool {
        let was_thawing = self.is_thawing(seat);
        if was_thawing {
            self.seats[seat.index()] = RunState::Runs;
        }
        was_thawing
    }

    /// Stops all agents, or resumes all but those frozen before.
    pub(super) fn pause(&mut self, paused: bool, participants: &[Participant]) {
        self.is_paused = paused;
        for (participant, state) in participants.iter().zip(&mut self.seats) {
            match state {
                _ if paused => participant.command(Command::Stop),
                RunState::Stopped => {}
                RunState::Runs => participant.command(Command::Continue),
                RunState::Thawing(since) => {
                    *since = Instant::now();
                    participant.command(Command::Continue);
                }
            }
        }
    }
}
