//! Keeping the processes of agents for another match, after `over`.
//!
//! An agent stays if it said so in `ready`, made no fault, was not asked when the match ended, and is silent: it has read
//! `over`, waits for more, and has written no line. All others are ended as after any match.

use super::{Drive, DriveEvent, GRACE, Staying};
use crate::connection::AgentConnection;
use crate::participant::Participant;
use referee_process::agent::AgentEvent;
use referee_process::timers::Ticker;
use referee_protocol::Seat;
use std::time::{Duration, Instant};

/// How often it is checked whether an agent waits for more. Longer than most agents take to read `over`.
const LOOK: Duration = Duration::from_micros(100);

impl Drive<'_> {
    /// Returns the seats whose processes may stay.
    pub(super) fn seats_that_may_stay(&self) -> Vec<Seat> {
        let Some(ending) = self.ending.as_ref().filter(|it| it.verdict.void.is_none()) else {
            return Vec::new();
        };
        let header = self.state.header();
        let may_stay = |seat: &Seat| {
            let offers = header.seats[seat.index()].ready.as_ref().is_some_and(|it| it.again);
            let agent = self.participants[seat.index()].connection();
            let runs = |it: &AgentConnection| it.process.is_running() && !it.process.is_killed();
            offers
                && ending.verdict.seats[seat.index()].fault.is_none()
                && agent
                    .is_some_and(|it| it.may_stay && !it.is_asked && !it.has_dialect() && runs(it))
        };
        Seat::all(self.participants.len()).filter(may_stay).collect()
    }

    /// Waits until each of these agents waits for more, and returns it. One that writes a line, exits, or
    /// still computes at the end of the grace period doesn't stay: its stdin is closed.
    pub(super) async fn keep_silent(&mut self, mut undecided: Vec<Seat>) -> Staying {
        let mut staying = Vec::new();
        let end = Instant::now() + GRACE;
        self.timer.source.set(end);
        let mut looks = if undecided.is_empty() { None } else { Ticker::new(LOOK).ok() };
        // They may always have another event, before that of the timer.
        while let Some(looks) = looks.as_mut()
            && !undecided.is_empty()
            && Instant::now() < end
        {
            let event = tokio::select! {
                event = self.polled() => event,
                _ = looks.tick() => {
                    let waiting = undecided.extract_if(.., |&mut seat| self.waits(seat));
                    let waiting: Vec<Seat> = waiting.collect();
                    staying.extend(waiting.into_iter().filter_map(|seat| self.take_out(seat)));
                    continue;
                }
            };
            match event {
                DriveEvent::Timer => break,
                DriveEvent::Orders(orders) if orders.stop.is_some() => break,
                DriveEvent::Event(seat, at, event) => {
                    if !matches!(event, AgentEvent::Stderr | AgentEvent::Continued(_)) {
                        for seat in undecided.extract_if(.., |other| *other == seat) {
                            self.close_stdin(seat);
                        }
                    }
                    self.event(seat, at, event);
                    self.apply();
                }
                DriveEvent::Orders(_)
                | DriveEvent::Kept(_)
                | DriveEvent::Slot
                | DriveEvent::Prepared
                | DriveEvent::StartChecked(_) => {}
            }
        }
        for seat in undecided {
            self.close_stdin(seat);
        }
        staying
    }

    fn close_stdin(&mut self, seat: Seat) {
        if let Some(agent) = self.participants[seat.index()].connection_mut() {
            agent.process.close();
        }
    }

    /// Whether an agent runs, has handled `over`, and waits for more.
    fn waits(&self, seat: Seat) -> bool {
        let agent = self.participants[seat.index()].connection();
        !self.freezer.is_thawing(seat) && agent.is_some_and(AgentConnection::waits_for_more)
    }

    /// Takes an agent out of the match.
    pub(super) fn take_out(&mut self, seat: Seat) -> Option<(Seat, Box<AgentConnection>)> {
        self.stderr_rest(seat);
        let participant = &mut self.participants[seat.index()];
        match std::mem::replace(participant, Participant::Taken) {
            Participant::Process(agent) => Some((seat, agent)),
            _ => None,
        }
    }
}
