//! The end of a match: the agents' grace period, the end of their processes, the seal.

use super::patience::{LOOK, Patience};
use super::{Drive, DriveEvent, Finished, GRACE, KILLED, Staying};
use crate::participant::Participant;
use referee_process::agent::KILL_WAIT;
use referee_protocol::{Header, Seat};
use std::io;
use std::time::{Duration, Instant};

/// How long processes that outlive an agent's program may live, at most.
const GONE_WAIT: Duration = Duration::from_millis(2);

/// Processes of an agent could not be killed, so the match has no result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("processes of {name} (seat {seat}) could not be killed")]
pub struct ProcessesLeft {
    /// The agent's seat.
    pub seat: Seat,
    /// Its name.
    pub name: String,
}

impl ProcessesLeft {
    /// Returns the seat if this is why a match has no result.
    pub fn seat_in(error: &io::Error) -> Option<Seat> {
        Some(error.get_ref()?.downcast_ref::<Self>()?.seat)
    }
}

impl Drive<'_> {
    /// Ends all processes but those that stay for another match: waits for them to exit in a grace period,
    /// kills the rest, and waits until they are gone. Returns those that stay.
    pub(super) async fn close(&mut self) -> io::Result<Staying> {
        self.check_limits()?;
        let void = self.ending.as_ref().is_some_and(|ending| ending.verdict.void.is_some());
        self.freezer.resume_all(&self.participants);
        self.pausing = None;
        let may_stay = self.seats_that_may_stay();
        for (seat, participant) in Seat::all(self.participants.len()).zip(&mut self.participants) {
            if void {
                participant.kill();
            } else if let Some(agent) = participant.connection_mut()
                && !may_stay.contains(&seat)
            {
                agent.process.close();
            }
        }
        let staying = self.keep_silent(may_stay).await;
        let running = |drive: &Self| drive.participants.iter().any(Participant::is_running);
        self.wait_for_exits().await;
        let there = |drive: &Self| drive.participants.iter().any(|it| !it.is_gone());
        if !running(self) {
            // Those that have left nothing behind need no kill.
            self.events_until(Instant::now() + GONE_WAIT, there).await;
        }
        for seat in Seat::all(self.participants.len()) {
            self.kill_late(seat);
        }
        self.events_until(Instant::now() + KILL_WAIT, there).await;
        self.check_gone()?;
        for seat in Seat::all(self.participants.len()) {
            self.stderr_rest(seat);
        }
        self.apply();
        Ok(staying)
    }

    /// Fails if an agent has played without its limits: whoever administers the machine can switch them off.
    fn check_limits(&self) -> io::Result<()> {
        let mut agents = self.participants.iter().filter_map(Participant::connection);
        if agents.all(|agent| agent.process.has_limits()) {
            return Ok(());
        }
        Err(io::Error::other(
            "the controllers of the agents' control groups were switched off during the match",
        ))
    }

    /// Fails if processes of a seat are left, unless its agent may cause no more void matches.
    fn check_gone(&self) -> io::Result<()> {
        let Header { seats, .. } = self.state.header();
        let left = Seat::all(self.participants.len()).find(|seat| {
            !self.participants[seat.index()].is_gone() && !seats[seat.index()].no_void
        });
        left.map_or(Ok(()), |seat| {
            let name = seats[seat.index()].name.clone();
            Err(io::Error::other(ProcessesLeft { seat, name }))
        })
    }

    /// Records all that is left of a seat's stderr.
    pub(super) fn stderr_rest(&mut self, seat: Seat) {
        let agent = self.participants[seat.index()].connection_mut();
        for piece in agent.map_or_else(Vec::new, |agent| agent.process.stderr.finish()) {
            self.stderr(seat, piece.text, piece.dropped_bytes);
        }
    }

    /// Waits for all to exit, and kills each that has had its time.
    async fn wait_for_exits(&mut self) {
        let began = Instant::now();
        let mut look_at = began + GRACE;
        let seats = Seat::all(self.participants.len());
        let mut waits: Vec<(Seat, Patience)> =
            seats.map(|seat| (seat, Patience::begin(GRACE, began))).collect();
        while self.core.orders.borrow().stop.is_none() {
            let now = Instant::now();
            waits.retain_mut(|(seat, patience)| {
                let seat = *seat;
                let agent = self.participants[seat.index()].connection();
                let Some(agent) = agent.filter(|agent| agent.process.is_running()) else {
                    return false;
                };
                let is_over = patience.is_over(agent, now);
                if is_over {
                    self.kill_late(seat);
                }
                !is_over
            });
            if waits.is_empty() {
                return;
            }
            let waited = |drive: &Self| {
                waits.iter().any(|(seat, _)| drive.participants[seat.index()].is_running())
            };
            self.events_until(look_at, waited).await;
            look_at = Instant::now() + LOOK;
        }
    }

    /// Kills what is left of an agent. If its program runs, that is its exit.
    fn kill_late(&mut self, seat: Seat) {
        if self.participants[seat.index()].is_running() {
            self.exited(seat, Instant::now(), KILLED.to_owned(), true);
        }
        self.participants[seat.index()].kill();
    }

    async fn events_until(&mut self, end: Instant, wanted: impl Fn(&Self) -> bool) {
        if wanted(self) {
            self.timer.source.set(end);
        }
        // It may always have another event, before that of the timer.
        while wanted(self) && Instant::now() < end {
            match self.polled().await {
                DriveEvent::Timer => return,
                DriveEvent::Orders(orders) if orders.stop.is_some() => return,
                DriveEvent::Event(seat, at, event) => {
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
    }

    pub(super) fn finish(self, is_single: bool) -> io::Result<Finished> {
        let has_left_processes = self.participants.iter().any(|it| !it.is_gone());
        let (seal, tally) = self.recording.finish(is_single)?;
        let ending = self.ending.expect("the loop runs until there is an ending");
        let turns = self.state.game().turn_number();
        let header = self.state.header().clone();
        let view = is_single.then(|| self.state.game().view());
        let seen = self.ends.into_iter().map(|end| end.seen).collect();
        Ok(Finished { ending, header, turns, view, seen, tally, seal, has_left_processes })
    }
}
