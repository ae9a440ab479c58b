//! What programs do while they aren't asked: measured, or stopped.
//!
//! Whoever isn't asked is stopped when a turn, or a wait for a core, has lasted a moment, so that
//! quick turns cost nothing. Before its next request a program is let go on, and the request goes
//! out, and the clock starts, only when its supervisor has said that it runs.

use super::Drive;
use referee_match::{Input, Reading};
use referee_process::launcher::Command;
use referee_protocol::{Pondering, Seat};
use std::time::{Duration, Instant};

/// How long the others of a match run on in a turn.
const FREEZE_AFTER: Duration = Duration::from_millis(1);
/// How long a supervisor may take to let its agent go on before the machine is blamed.
const THAW_WAIT: Duration = Duration::from_secs(10);

/// Whether a seat's processes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunState {
    /// They do.
    Runs,
    /// They have been stopped.
    Stopped,
    /// They have been told to go on, at this moment.
    Thawing(Instant),
}

/// Who stands still, and when the next do.
#[derive(Debug)]
pub(super) struct Freezer {
    /// Programs that aren't asked are stopped.
    freezes: bool,
    seats: Vec<RunState>,
    /// When all that aren't asked then are to be stopped.
    due: Option<Instant>,
}

impl Freezer {
    pub(super) fn new(pondering: Option<Pondering>, seats: usize) -> Self {
        let freezes = pondering == Some(Pondering::Freeze);
        Self { freezes, seats: vec![RunState::Runs; seats], due: None }
    }

    /// A turn, or a wait for a core, begins.
    pub(super) fn begin(&mut self, now: Instant) {
        if self.freezes {
            self.due = Some(now + FREEZE_AFTER);
        }
    }

    /// A seat is killed, and won't say that it runs.
    pub(super) fn forget(&mut self, seat: Seat) {
        self.seats[seat.index()] = RunState::Runs;
    }

    /// A seat has been told to go on, and hasn't yet.
    pub(super) fn is_thawing(&self, seat: Seat) -> bool {
        matches!(self.seats[seat.index()], RunState::Thawing(_))
    }

    /// When to look again.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        let late = self.seats.iter().filter_map(|motion| match motion {
            RunState::Thawing(since) => Some(*since + THAW_WAIT),
            RunState::Runs | RunState::Stopped => None,
        });
        self.due.into_iter().chain(late).min()
    }
}

impl Drive<'_> {
    /// Stops those whose time has come, and finds those that don't come back.
    pub(super) fn freeze_idle(&mut self, now: Instant) {
        if self.is_paused() {
            // All of them stand still.
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
                let text = format!("seat {seat} was stopped and could not be let go on");
                self.input(Input::Stop { cause: "machine", text });
            }
        }
    }

    /// Whether a seat can be asked now; if it can't, it is let go on, and will be.
    pub(super) fn resume_if_frozen(&mut self, seat: Seat) -> bool {
        let motion = self.freezer.seats[seat.index()];
        if motion == RunState::Stopped {
            self.thaw(seat);
        }
        motion == RunState::Runs
    }

    /// The request waits for its seat to go on.
    pub(super) fn awaits_thaw(&self) -> bool {
        self.slot.is_none()
            && self.request.as_ref().is_some_and(|(seat, _)| self.freezer.is_thawing(*seat))
    }

    fn thaw(&mut self, seat: Seat) {
        self.freezer.seats[seat.index()] = RunState::Thawing(Instant::now());
        // In a pause it goes on with all others when that ends.
        if !self.is_paused() {
            self.participants[seat.index()].command(Command::Continue);
        }
    }

    /// Lets all of them go on: the match is over.
    pub(super) fn thaw_all(&mut self) {
        self.freezer.due = None;
        for seat in Seat::all(self.participants.len()) {
            if self.freezer.seats[seat.index()] == RunState::Stopped {
                self.thaw(seat);
            }
        }
    }

    /// A seat's processes run again; what they are to be asked is asked now.
    pub(super) fn thawed(&mut self, seat: Seat) {
        if !self.freezer.is_thawing(seat) {
            return;
        }
        self.freezer.seats[seat.index()] = RunState::Runs;
        let wanted = self.request.as_ref().is_some_and(|(asked, _)| *asked == seat);
        if wanted && self.slot.is_none() {
            self.ask();
        } else {
            // It was let go on for nothing.
            self.freezer.begin(Instant::now());
        }
    }

    /// Everything stops, or all go on but those that stood still before.
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

    /// What a seat has used so far, before its first request: only where all that it uses after its
    /// `ready` is charged.
    pub(super) fn reading_at_start(&self, seat: Seat, reading: Reading) -> Reading {
        if self.state.thinking().is_none() && self.state.measures_pondering() {
            let agent = self.participants[seat.index()].connection();
            return Reading { cpu: agent.and_then(|agent| agent.cpu(true)), ..reading };
        }
        reading
    }
}
