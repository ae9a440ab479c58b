//! Carrying out effects: messages, requests, records.

use super::Drive;
use super::turn::Asked;
use crate::connection::AgentConnection;
use crate::participant::Participant;
use referee_match::diagnosis::Usage;
use referee_match::{Effect, Input, Reading};
use referee_process::stderr::{Stderr, keep_end};
use referee_protocol::{Event, Nanos, REFEREE_LINE_BYTES_MAX, Seat, StderrEvent, ToAgent, Turn};
use std::time::{Duration, Instant};

/// How much of the end of an agent's stderr is searched for the reason of its fault.
const STDERR_END_BYTES: usize = 8192;

impl Drive<'_> {
    /// Carries out the effects, and those that follow from them.
    pub(super) fn apply(&mut self) {
        while !self.is_enough()
            && self.examined.is_none()
            && let Some(effect) = self.effects.pop_front()
        {
            match effect {
                Effect::Send(seat, message) => self.send(seat, &message),
                Effect::Broadcast(message) => self.broadcast(&message),
                Effect::Ask(seat, turn) => self.want_slot(seat, turn),
                Effect::Record(event) => self.record(&event),
                Effect::Kill(seat) => self.kill(seat),
                Effect::MeasureMemory => {
                    let agents = self.participants.iter().map(Participant::connection);
                    let peaks = agents.map(|agent| agent.and_then(AgentConnection::peak_memory_kb));
                    self.input(Input::PeakMemory(peaks.collect()));
                }
                Effect::Finish(ending) => {
                    self.ending = Some(*ending);
                    for (seat, status) in self.early.end() {
                        self.exited(seat, Instant::now(), status, false);
                    }
                }
            }
        }
        if self.state.thinking().is_none() && !self.awaits_thaw() {
            self.turn.slot.release();
        }
    }

    pub(super) fn kill(&mut self, seat: Seat) {
        if self.is_tried(seat) {
            return;
        }
        if let Some(agent) = self.participants[seat.index()].connection_mut()
            && !agent.process.is_killed()
        {
            agent.peak_memory_kb();
            let seen = &mut self.ends[seat.index()].seen;
            seen.unended = agent.process.unended_line().to_vec();
            let time = |nanos: Option<Nanos>| Duration::from_nanos(nanos.unwrap_or_default().0);
            let last = self.turn.asked;
            let (cpu, waited) = (time(last.reading.cpu), time(last.reading.wait));
            let asked = Usage { cpu, waited, ..Usage::default() };
            let before = if last.at == self.time.began { agent.used_before } else { asked };
            seen.used = Some(agent.used_at_end(last.at, before));
            if self.is_examined(seat) {
                self.examined = Some(seat);
                return;
            }
        }
        self.end_process(seat);
    }

    pub(super) fn end_process(&mut self, seat: Seat) {
        self.participants[seat.index()].kill();
        self.freezer.forget(seat);
        self.turn.withdraw(seat);
        self.early.forget(seat);
    }

    fn write_message(&mut self, message: &ToAgent) {
        self.message.clear();
        message.write_json(&mut self.message);
        debug_assert!(self.message.len() <= REFEREE_LINE_BYTES_MAX);
        self.message.push(b'\n');
    }

    fn send(&mut self, seat: Seat, message: &ToAgent) {
        self.write_message(message);
        let is_hello = matches!(message, ToAgent::Hello(_));
        if let Some(agent) = self.participants[seat.index()].connection_mut() {
            agent.put(message, &self.message);
        } else if is_hello {
            let line = br#"{"type":"ready"}"#;
            let reading = Reading::default();
            self.input(Input::Line { seat, line, cut: false, reading, meaning: None });
        }
        if is_hello {
            self.flush(seat);
        }
    }

    /// Queues a message for all seats until their next request; `retired` and `over` are sent at once.
    fn broadcast(&mut self, message: &ToAgent) {
        self.write_message(message);
        for agent in self.participants.iter_mut().filter_map(Participant::connection_mut) {
            agent.put(message, &self.message);
            if matches!(message, ToAgent::Retired(_) | ToAgent::Over(_)) {
                agent.process.flush();
            }
        }
    }

    fn record(&mut self, event: &Event) {
        if let Event::Turn(_) | Event::Played(_) | Event::Over(_) = event {
            self.stderr_pieces();
        }
        self.store(event);
    }

    fn store(&mut self, event: &Event) {
        // The header is written when all agents are ready or out.
        if matches!(event, Event::Header(_)) {
            self.turn.slot.end_start();
        }
        if let Some(failed) = self.recording.record(event, &self.state, self.step.began) {
            self.input(failed);
        }
    }

    /// Records stderr that came before the next event.
    fn stderr_pieces(&mut self) {
        for seat in Seat::all(self.participants.len()) {
            self.stderr_piece(seat, false);
        }
    }

    /// Records a seat's stderr; with `only_full`, only a full buffer. Before the header, and for an agent
    /// under trial, it stays in the buffer.
    pub(super) fn stderr_piece(&mut self, seat: Seat, only_full: bool) {
        // The header is first.
        let is_kept = self.is_tried(seat) || !self.recording.has_begun();
        let agent = self.participants[seat.index()].connection_mut().filter(|_| !is_kept);
        let stderr = agent.map(|agent| &mut agent.process.stderr);
        let stderr = stderr.filter(|stderr| stderr.is_full() || !only_full);
        if let Some(piece) = stderr.and_then(Stderr::take) {
            self.stderr(seat, piece.text, piece.dropped_bytes);
        }
    }

    pub(super) fn stderr(&mut self, seat: Seat, text: String, dropped_bytes: u64) {
        keep_end(&mut self.ends[seat.index()].seen.stderr, &text, STDERR_END_BYTES);
        let (at_ns, turn) = (self.time.of(Instant::now()).0, self.state.game().turn_number());
        self.store(&Event::Stderr(StderrEvent { at_ns, seat, turn, text, dropped_bytes }));
    }

    /// Sends a request as soon as the seat may think: to a person at once, to a program when a core is
    /// free.
    pub(super) fn want_slot(&mut self, seat: Seat, turn: Turn) {
        self.turn.request = Some((seat, turn));
        if self.is_deferred(seat) {
            return;
        }
        if !self.participants[seat.index()].is_process() {
            self.turn.slot.release();
            return self.ask();
        }
        if self.ends_before(seat) {
            return;
        }
        if self.turn.slot.take(self.core, self.step.began) {
            self.ask();
        } else {
            self.freezer.begin(Instant::now());
        }
    }

    /// Asks a seat whose request has waited for others' lines.
    pub(super) fn ask_deferred(&mut self) {
        // A request that already waits for its slot keeps its place.
        if !self.turn.slot.is_awaited()
            && self.turn.request.as_ref().is_some_and(|(seat, _)| !self.is_deferred(*seat))
            && let Some((seat, turn)) = self.turn.request.take()
        {
            self.want_slot(seat, turn);
        }
    }

    /// Whether a request waits until the lines are judged that were read with the last one: those of its own seat were
    /// written before it; and where seats choose at once, no other line comes between what was kept of this one.
    pub(super) fn is_deferred(&self, seat: Seat) -> bool {
        let judged = self.step.judged;
        !self.early.opened.is_empty()
            || judged.is_some_and(|judged| judged == seat || self.early.has(seat))
    }

    /// Whether the request waits for its seat to be resumed.
    fn awaits_thaw(&self) -> bool {
        let request = self.turn.request.as_ref().filter(|_| !self.turn.slot.is_awaited());
        request.is_some_and(|(seat, _)| self.freezer.is_thawing(*seat))
    }

    pub(super) fn ask(&mut self) {
        let Some((seat, turn)) = self.turn.request.take() else { return };
        if self.open(seat, &turn) {
            return;
        }
        if self.is_deferred(seat) || !self.freezer.resume(seat, &self.participants[seat.index()]) {
            self.turn.request = Some((seat, turn));
            return;
        }
        self.turn.asked = self.write_request(seat, turn);
        let Asked { at, reading, .. } = self.turn.asked;
        self.freezer.begin(at);
        self.input_at(at, Input::Asked(seat, reading));
        self.flush(seat);
    }

    /// Writes a request, but doesn't send it yet. Returns when, and what was measured then.
    pub(super) fn write_request(&mut self, seat: Seat, mut turn: Turn) -> Asked {
        let whole = self.counts_whole_tree();
        let now = self.step.began;
        let agent = self.participants[seat.index()].connection_mut();
        let reading = agent.map_or_else(Reading::default, |agent| {
            agent.look_for_children();
            let (cpu, wait) = (agent.cpu_before_turn(whole, now), agent.wait(true, false));
            Reading { cpu, wait, lag: Nanos(0) }
        });
        turn.left_ms = self.state.left_ms(seat, reading);
        let message = ToAgent::Turn(turn);
        self.write_message(&message);
        let participant = &mut self.participants[seat.index()];
        participant.ask(self.state.game());
        if let Some(agent) = participant.connection_mut() {
            agent.put(&message, &self.message);
            agent.is_asked = true;
        }
        // Last, so that none of the referee's own time is charged.
        let now = Instant::now();
        Asked::new(now, self.time.of(now), reading)
    }

    pub(super) fn flush(&mut self, seat: Seat) {
        if let Some(agent) = self.participants[seat.index()].connection_mut() {
            agent.process.flush();
        }
    }
}
