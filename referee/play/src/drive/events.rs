//! Passing events to the match: of the participants, of the timer, of orders.

use super::cause::FailedStart;
use super::step::STEP;
use super::{Drive, DriveEvent, KILLED, WaitingLine};
use crate::adapted::{MEMORY_STATUS, is_adapted, process_limits};
use crate::connection::AgentConnection;
use crate::core_context::Orders;
use referee_match::{Input, Reading};
use referee_process::agent::AgentEvent;
use referee_process::framer::Line;
use referee_process::launcher::Limit;
use referee_process::memory_kills::TreeMemory;
use referee_protocol::{FaultKind, Header, Nanos, Seat};
use std::time::Instant;

impl Drive<'_> {
    pub(super) fn take(&mut self, event: DriveEvent) {
        match event {
            DriveEvent::Event(seat, at, event) => self.event(seat, at, event),
            DriveEvent::Kept(kept) => self.opened(kept),
            DriveEvent::Slot => self.ask(),
            DriveEvent::Prepared => self.prepared(),
            DriveEvent::Orders(orders) => self.orders(orders),
            DriveEvent::StartChecked(good_starts) => self.start_checked(good_starts),
            DriveEvent::Timer if self.waiting_line.is_some() => self.freeze_idle(Instant::now()),
            DriveEvent::Timer => {
                let now = Instant::now();
                if self.recording.flush_at() <= now
                    && let Some(failed) = self.recording.flush()
                {
                    self.input_at(now, failed);
                }
                if self.cause_check.is_some() {
                    self.check_closed(now);
                } else {
                    self.freeze_idle(now);
                    self.check_thaw(now);
                }
                if self.wake_at().is_some_and(|wake| wake <= now) {
                    let reading = self.reading(now);
                    self.input_at(now, Input::Tick(reading));
                }
            }
        }
        self.apply();
        self.end_check_if_known();
    }

    fn orders(&mut self, orders: Orders) {
        self.freezer.pause(orders.paused, &self.participants);
        if let Some(pausing) = &mut self.pausing {
            pausing.set(orders.paused);
        }
        if !orders.paused {
            self.core.lag_probe.forget();
        }
        if let Some(text) = orders.stop {
            self.input(Input::Stop { cause: "interrupted", text, seat: None });
        }
    }

    pub(super) fn event(&mut self, seat: Seat, at: Instant, event: AgentEvent) {
        if self.is_start_checked() {
            // The end of a process that never ran.
            return;
        }
        let is_seen_at_once =
            matches!(event, AgentEvent::Started | AgentEvent::Stderr | AgentEvent::Continued(_));
        // What is left of lines that are being judged belongs to the turn before.
        let is_rest = self.step.judged == Some(seat);
        if self.early.has(seat) && !is_seen_at_once && !is_rest {
            return self.keep_event(seat, at, event);
        }
        let waits = self.step.rest.as_ref().is_some_and(|(judged, ..)| *judged != seat);
        if waits && !is_seen_at_once {
            return self.keep_for_now(seat, at, event);
        }
        match event {
            AgentEvent::Started => {}
            AgentEvent::Failed(errno) => self.check_start(seat, at, FailedStart::Program(errno)),
            AgentEvent::Broken(failure) if failure.is_of_layer() => {
                self.check_start(seat, at, FailedStart::Layer(failure));
            }
            AgentEvent::Broken(failure) => {
                let text = format!("seat {seat}: {failure}");
                self.input_at(at, Input::Stop { cause: failure.cause(), text, seat: None });
            }
            AgentEvent::Limit(limit) => {
                let kind = match limit {
                    Limit::Memory(_) => FaultKind::Memory,
                    Limit::Processes(_) => FaultKind::Processes,
                };
                let header = self.state.header();
                let limits =
                    process_limits(&header.limits, is_adapted(&header.seats[seat.index()]));
                let text = limit.describe(&limits);
                self.input_at(at, Input::Fault(seat, kind, text, self.brief_reading(at)));
            }
            AgentEvent::OutOfMemory(peak_kb) => {
                let input = self.out_of_memory(seat, peak_kb);
                self.input_at(at, input);
            }
            AgentEvent::Continued(ran) => self.thawed(seat, ran),
            AgentEvent::Exited(status) => {
                let killed = self.participants[seat.index()].is_killed();
                let status = if killed { KILLED.to_owned() } else { status };
                self.exited(seat, at, status, false);
            }
            AgentEvent::Gone => {
                if !self.participants[seat.index()].is_killed() {
                    self.exited(seat, at, "the end of its supervisor".to_owned(), false);
                }
            }
            AgentEvent::Line(line) => self.lines(seat, at, line),
            AgentEvent::StdoutClosed => self.closed(seat, at, Input::StdoutClosed),
            AgentEvent::Stderr => self.stderr_piece(seat, true),
            AgentEvent::StdinClosed => self.closed(seat, at, Input::StdinClosed),
        }
    }

    /// Says that the system has killed a seat for lack of memory, and who has how much: that may be another.
    fn out_of_memory(&self, killed: Seat, peak_kb: u64) -> Input<'static> {
        let seats = Seat::all(self.participants.len()).zip(&self.participants);
        let others: Vec<(Seat, TreeMemory)> = seats
            .filter(|(seat, _)| *seat != killed)
            .filter_map(|(seat, other)| Some((seat, other.connection()?.process.memory()?)))
            .collect();
        let mut used: Vec<(u64, Seat)> = others.iter().map(|(seat, its)| (its.kb, *seat)).collect();
        used.push((peak_kb, killed));
        used.sort_unstable_by(|one, other| other.cmp(one));
        let Header { seats, limits, .. } = self.state.header();
        let name = |seat: Seat| format!("{} (seat {seat})", seats[seat.index()].name);
        let each =
            used.iter().map(|&(kb, seat)| format!("{} {} MiB", name(seat), kb.div_ceil(1024)));
        let text = format!(
            "the machine had no memory left, and the system killed {}; memory of the agents: {}; \
             each may have {} MiB, so play fewer matches at once, or lower `memory_mb`",
            name(killed),
            each.collect::<Vec<_>>().join(", "),
            limits.memory_mb
        );
        let seat = Some(seat_without_memory(killed, peak_kb, &others));
        Input::Stop { cause: "machine", text, seat }
    }

    /// Freezes idle agents that are due. One whose action waits for the rules is idle.
    fn freeze_idle(&mut self, now: Instant) {
        let thinking = self.state.thinking().filter(|_| self.waiting_line.is_none());
        let thinks = |seat| thinking == Some(seat) || self.early.asked(seat).is_some();
        self.freezer.freeze_due(now, &self.participants, thinks);
    }

    /// Ends the match if an agent can't be resumed.
    fn check_thaw(&mut self, now: Instant) {
        if let Some(seat) = self.freezer.find_lost(now) {
            let text = format!("seat {seat} was frozen and could not be resumed");
            self.input_at(now, Input::Stop { cause: "machine", text, seat: Some(seat) });
        }
    }

    /// A seat's processes run again, and used `ran` of CPU time meanwhile: sends a request that waits for it.
    fn thawed(&mut self, seat: Seat, ran: Nanos) {
        if !self.freezer.confirm(seat) {
            return;
        }
        // Whenever that was, it is charged with the request.
        self.input_at(self.time.began, Input::RanFrozen(seat, ran));
        if self.ask_now(seat) {
            return;
        }
        if self.turn.wants(seat) && !self.turn.slot.is_awaited() {
            self.ask();
        } else {
            // The request was withdrawn meanwhile.
            self.freezer.begin(Instant::now());
        }
    }

    /// Records the exit of a seat's process, once.
    pub(super) fn exited(&mut self, seat: Seat, at: Instant, status: String, late: bool) {
        if !std::mem::replace(&mut self.ends[seat.index()].is_recorded, true) {
            if status != KILLED {
                self.ends[seat.index()].seen.status = Some(status.clone());
            }
            let reading = self.brief_reading(at);
            let header = self.state.header();
            if status == MEMORY_STATUS && is_adapted(&header.seats[seat.index()]) {
                let text = format!(
                    "its address space grew by more than {} MB, as the course counted memory",
                    header.limits.memory_mb
                );
                self.input_at(at, Input::Fault(seat, FaultKind::Memory, text, reading));
            }
            let reading = self.brief_reading(at);
            self.input_at(at, Input::Exited { seat, status, late, reading });
            // What it has started works for no one until that is judged.
            if self.state.has_ended(seat) {
                self.kill(seat);
            }
        }
    }

    /// Judges a line and all that were read with it, which can take longer than a step.
    fn lines(&mut self, seat: Seat, at: Instant, line: Line) {
        self.lines_from(seat, at, Some((line, None, false)));
    }

    /// The rules have answered what the line that waits leads to.
    fn prepared(&mut self) {
        let waiting = self.waiting_line.take().map(|waiting| *waiting);
        let Some(WaitingLine { seat, at, line, reading, .. }) = waiting else {
            return;
        };
        self.lines_from(seat, at, Some((line, Some(reading), true)));
    }

    /// Judges a line that was seen at `at`, with its measurements if it has waited, and whether the rules have answered;
    /// then the others that were read with it.
    pub(super) fn lines_from(
        &mut self,
        seat: Seat,
        at: Instant,
        first: Option<(Line, Option<Reading>, bool)>,
    ) {
        self.step.judged = Some(seat);
        let mut next = first;
        while let Some((line, measured, is_prepared)) = next.filter(|_| self.is_judged(seat)) {
            // Preparing sends a request, so a line for which the rules have answered is not prepared again.
            if !is_prepared
                && !line.cut
                && let Some(rules) = self.state.prepare(seat, &line.bytes)
            {
                let reading =
                    measured.unwrap_or_else(|| self.reading_of_line(seat, at, &line, None));
                self.waiting_line = Some(Box::new(WaitingLine { seat, at, line, reading, rules }));
                // Its turn is over unless the rules say that it isn't.
                self.freezer.begin(at);
                return;
            }
            self.line(seat, at, &line, measured);
            // What was kept was written before what is still buffered.
            let is_last_kept = !self.early.opens(seat);
            let agent = self.participants[seat.index()].connection_mut().filter(|_| is_last_kept);
            next = agent.and_then(|agent| Some((agent.process.buffered_line()?, None, false)));
            let thinks = self.state.thinking() == Some(seat);
            if (next.is_some() || thinks) && self.step.is_long() && self.is_judged(seat) {
                if thinks {
                    // What exceeds a step by much is the machine's.
                    self.turn.asked.judged_for += self.step.began.elapsed().min(STEP * 2);
                }
                self.step.rest = next.take().map(|(line, ..)| (seat, at, line));
                if self.step.rest.is_some() {
                    return;
                }
            }
        }
        let request = self.turn.request.as_ref();
        let is_deferred = request.is_some_and(|(asked, _)| self.is_deferred(*asked));
        self.step.judged = None;
        if is_deferred {
            self.ask_deferred();
        }
    }

    fn line(&mut self, seat: Seat, at: Instant, line: &Line, measured: Option<Reading>) {
        let participant = &self.participants[seat.index()];
        let has_dialect = participant.connection().is_some_and(AgentConnection::has_dialect);
        let connection = self.participants[seat.index()].connection_mut();
        let meaning = connection.and_then(|connection| connection.interpret(line));
        let reading =
            measured.unwrap_or_else(|| self.reading_of_line(seat, at, line, meaning.as_ref()));
        let (line, cut) = (&line.bytes[..], line.cut);
        self.input_at(at, Input::Line { seat, line, cut, reading, meaning });
        self.apply();
        let is_asked = self.state.thinking() == Some(seat);
        if let Some(agent) = self.participants[seat.index()].connection_mut() {
            agent.is_asked &= is_asked;
        }
        if has_dialect && self.is_judged(seat) {
            self.flush(seat);
        }
    }

    /// Whether the seat's messages are still judged.
    pub(super) fn is_judged(&self, seat: Seat) -> bool {
        let is_killed = self.participants[seat.index()].is_killed();
        self.ending.is_none() && !self.is_enough() && !is_killed && !self.state.has_ended(seat)
    }
}

/// Returns the seat at which a match is void after the system has killed a process of the seat `killed`, which had
/// at most `peak_kb`: it may be void only so often. An agent can kill itself when the system has killed any process
/// for lack of memory, so it is void at its own seat, unless another has more, in processes of which none is as large.
/// Only then has the system reason to kill this one for the other's memory: it kills the largest of all agents.
fn seat_without_memory(killed: Seat, peak_kb: u64, others: &[(Seat, TreeMemory)]) -> Seat {
    let most = others.iter().max_by_key(|(_, its)| its.kb);
    let cause = most.filter(|(_, its)| its.kb > peak_kb && its.largest_kb <= peak_kb);
    cause.map_or(killed, |(seat, _)| *seat)
}

#[cfg(test)]
mod tests {
    use super::{TreeMemory, seat_without_memory};
    use referee_protocol::Seat;

    #[test]
    fn lack_of_memory_counts_at_the_seat_that_was_killed_or_at_one_that_spread_more() {
        let at = |peak_kb, others: &[(u64, u64)]| {
            let seats = Seat::all(others.len() + 1).skip(1);
            let memory = |&(kb, largest_kb)| TreeMemory { kb, largest_kb };
            let others: Vec<_> = seats.zip(others.iter().map(memory)).collect();
            seat_without_memory(Seat(0), peak_kb, &others).index()
        };
        assert_eq!(at(100, &[]), 0);
        assert_eq!(at(100, &[(90, 90)]), 0);
        // The system would have killed the other one.
        assert_eq!(at(100, &[(300, 300)]), 0);
        assert_eq!(at(1, &[(4, 4)]), 0);
        assert_eq!(at(100, &[(300, 30)]), 1);
        assert_eq!(at(100, &[(120, 60), (300, 30)]), 2);
        // Whatever ran the program was killed, and nothing is known of it.
        assert_eq!(at(0, &[(300, 30)]), 0);
    }
}
