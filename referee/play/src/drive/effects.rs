//! Carrying out effects: messages, requests, records.

use super::{Drive, FLUSH_PERIOD};
use crate::connection::AgentConnection;
use crate::core_context::StartGuard;
use crate::participant::Participant;
use crate::sink::Sink;
use nix::errno::Errno;
use referee_match::diagnosis::Usage;
use referee_match::{Effect, Input, Reading};
use referee_process::hints::JAVA_NOTICE;
use referee_process::stderr::Stderr;
use referee_protocol::{Event, Nanos, REFEREE_LINE_BYTES_MAX, Seat, ToAgent, Turn, Verdict};
use std::io;
use std::time::{Duration, Instant};

impl Drive<'_> {
    /// Carries out the effects, and those that follow from them.
    pub(super) fn apply(&mut self) {
        while !self.is_enough()
            && let Some(effect) = self.effects.pop_front()
        {
            match effect {
                Effect::Send(seat, message) => self.send(seat, &message),
                Effect::Broadcast(message) => self.broadcast(&message),
                Effect::Ask(seat, turn) => self.want_slot(seat, turn),
                Effect::Record(mut event) => {
                    if let Event::Over(over) = &mut event {
                        self.add_peaks(&mut over.verdict);
                    }
                    self.record(&event);
                }
                Effect::Kill(seat) => self.kill(seat),
                Effect::Finish(mut ending) => {
                    self.add_peaks(&mut ending.verdict);
                    self.ending = Some(*ending);
                }
            }
        }
        if self.state.thinking().is_none() && !self.awaits_thaw() {
            self.held = None;
        }
    }

    /// Adds to a verdict the most memory that each seat has had.
    fn add_peaks(&self, verdict: &mut Verdict) {
        for (seat, participant) in verdict.seats.iter_mut().zip(&self.participants) {
            let agent = participant.connection();
            seat.peak_memory_kb = agent.and_then(AgentConnection::peak_memory_kb);
        }
    }

    fn kill(&mut self, seat: Seat) {
        if self.is_tried(seat) {
            return;
        }
        if let Some(agent) = self.participants[seat.index()].connection_mut() {
            agent.peak_memory_kb();
            let seen = &mut self.seen[seat.index()];
            seen.unended = agent.process.unended_line().to_vec();
            let time = |nanos: Option<Nanos>| Duration::from_nanos(nanos.unwrap_or_default().0);
            let (cpu, waited) = (time(self.reading_asked.cpu), time(self.reading_asked.wait));
            let is_asked = self.asked != self.began;
            let asked = Usage { cpu, waited, ..Usage::default() };
            let before = if is_asked { asked } else { agent.used_before };
            seen.used = Some(agent.used(self.asked).since(before));
        }
        self.participants[seat.index()].kill();
        self.freezer.forget(seat);
        if self.request.as_ref().is_some_and(|(asked, _)| *asked == seat) {
            (self.request, self.slot) = (None, None);
        }
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
            self.held = self.starting.take().and_then(StartGuard::end);
        }
        self.write(|sink| sink.record(event));
        // The watcher may be slow, and others read the file meanwhile.
        if matches!(event, Event::Played(_)) && self.flush_at <= self.step_began {
            self.write_out();
        }
        self.tally.add_event(event);
        (self.watcher)(event, &self.state);
    }

    /// Writes recorded events, for viewers of the file.
    pub(super) fn write_out(&mut self) {
        self.flush_at = Instant::now() + FLUSH_PERIOD;
        self.write(Sink::flush);
    }

    /// Writes, unless a write has failed before; stops the match if it fails.
    fn write(&mut self, write: impl FnOnce(&mut Sink) -> io::Result<()>) {
        if self.broken.is_none()
            && let Err(error) = write(&mut self.sink)
        {
            let full = error.raw_os_error() == Some(Errno::ENOSPC as i32);
            let cause = if full { "disk_full" } else { "machine" };
            let text = format!("the transcript could not be written: {error}");
            self.broken = Some(error);
            self.input(Input::Stop { cause, text, seat: None });
        }
    }

    /// Records stderr that came before the next event.
    fn stderr_pieces(&mut self) {
        for seat in Seat::all(self.participants.len()) {
            self.stderr_piece(seat, false);
        }
    }

    /// Records a seat's stderr; with `only_full`, only a full buffer. Leaves that of an agent under trial
    /// in its buffer.
    pub(super) fn stderr_piece(&mut self, seat: Seat, only_full: bool) {
        let is_tried = self.is_tried(seat);
        let agent = self.participants[seat.index()].connection_mut().filter(|_| !is_tried);
        let stderr = agent.map(|agent| &mut agent.process.stderr);
        let stderr = stderr.filter(|stderr| stderr.is_full() || !only_full);
        if let Some(piece) = stderr.and_then(Stderr::take) {
            self.stderr(seat, piece.text, piece.dropped_bytes);
        }
    }

    pub(super) fn stderr(&mut self, seat: Seat, text: String, dropped_bytes: u64) {
        let has_text = |line: &&str| !line.trim().is_empty() && !line.starts_with(JAVA_NOTICE);
        if let Some(line) = text.lines().rfind(has_text) {
            self.seen[seat.index()].words = Some(line.to_owned());
        }
        let now = self.now();
        let mut effects = Vec::new();
        self.state.step(now, Input::Stderr { seat, text, dropped_bytes }, &mut effects);
        for effect in effects {
            if let Effect::Record(event) = effect {
                self.store(&event);
            }
        }
    }

    /// Sends a request as soon as the seat may think: to a person at once, to a program when a core is
    /// free.
    pub(super) fn want_slot(&mut self, seat: Seat, turn: Turn) {
        self.request = Some((seat, turn));
        if self.judged == Some(seat) {
            return;
        }
        if !self.participants[seat.index()].is_process() {
            self.held = None;
            return self.ask();
        }
        if self.ends_before(seat) {
            return;
        }
        let now = self.step_began;
        let held = self.held.take().filter(|held| held.may_be_kept(now));
        self.held = held.or_else(|| self.table.free_slot());
        if self.held.is_some() {
            self.ask();
        } else {
            self.freezer.begin(Instant::now());
            self.slot = Some(Box::pin(self.table.slot()));
        }
    }

    pub(super) fn ask(&mut self) {
        let Some((seat, mut turn)) = self.request.take() else { return };
        if !self.resume_if_frozen(seat) {
            self.request = Some((seat, turn));
            return;
        }
        let whole = self.counts_whole_tree();
        let now = self.step_began;
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
        }
        // Last, so that none of the referee's own time is charged.
        (self.asked, self.reading_asked) = (Instant::now(), reading);
        self.judged_for = Duration::ZERO;
        self.freezer.begin(self.asked);
        self.input_at(self.asked, Input::Asked(seat, reading));
        self.flush(seat);
    }

    pub(super) fn flush(&mut self, seat: Seat) {
        if let Some(agent) = self.participants[seat.index()].connection_mut() {
            agent.process.flush();
        }
    }
}
