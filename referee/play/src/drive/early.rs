//! Seats that choose at once think side by side, as far as cores are free. The match judges them one after the other, in
//! their order: what a later one does is kept, with its time and its measurements, until it is its turn to be judged. So is
//! what the seat that thinks does while others' lines are judged.

use super::Drive;
use super::turn::Asked;
use referee_match::{Input, Reading, parse_line};
use referee_process::agent::AgentEvent;
use referee_protocol::{FromAgent, Nanos, Seat, Turn};
use std::collections::VecDeque;
use std::time::Instant;

/// An event that was kept.
pub(super) struct KeptEvent {
    seat: Seat,
    at: Nanos,
    event: AgentEvent,
    /// The measurements of a line.
    reading: Option<Reading>,
}

/// How far a seat is that is judged later. One that does something before it is asked waits until it is judged for that.
enum Progress {
    /// It waits for a core.
    Waits,
    /// Its processes are being resumed.
    Thaws,
    /// It has got the request with this number.
    Thinks(u64, Asked),
    /// It has got it, and has done what ends its turn.
    Done(u64, Asked),
}

/// What is kept of a seat that is judged later.
struct EarlySeat {
    seat: Seat,
    progress: Progress,
    events: VecDeque<KeptEvent>,
    /// The bytes of its lines.
    bytes: u64,
    /// It has written too much, and nothing more of it is read until it is judged.
    is_full: bool,
}

impl EarlySeat {
    fn has_core(&self) -> bool {
        matches!(self.progress, Progress::Thaws | Progress::Thinks(..))
    }
}

/// The seats that are judged later.
pub(super) struct EarlySeats {
    /// How many may think beside the one that is judged.
    beside: usize,
    seats: Vec<EarlySeat>,
    /// What was kept of the seat that is judged now.
    pub(super) opened: VecDeque<KeptEvent>,
    /// The bytes of its lines that came while others' were judged.
    opened_bytes: u64,
    /// The seat that was read last, if some are judged later.
    read_last: usize,
    /// Whether the last event was one of them.
    has_read: bool,
}

impl EarlySeats {
    pub(super) fn new(beside: usize) -> Self {
        let (seats, opened) = (Vec::new(), VecDeque::new());
        Self { beside, seats, opened, opened_bytes: 0, read_last: 0, has_read: false }
    }

    fn of(&self, seat: Seat) -> Option<&EarlySeat> {
        self.seats.iter().find(|early| early.seat == seat)
    }

    fn of_mut(&mut self, seat: Seat) -> Option<&mut EarlySeat> {
        self.seats.iter_mut().find(|early| early.seat == seat)
    }

    /// Whether what the seat does is kept.
    pub(super) fn has(&self, seat: Seat) -> bool {
        self.of(seat).is_some()
    }

    /// Whether the seat is read: it isn't judged later, or hasn't written too much.
    pub(super) fn is_read(&self, seat: Seat) -> bool {
        self.of(seat).is_none_or(|early| !early.is_full)
    }

    /// Whether any seat that is judged later thinks.
    pub(super) fn thinks(&self) -> bool {
        self.seats.iter().any(EarlySeat::has_core)
    }

    /// Whether a seat that is judged later thinks and is read.
    pub(super) fn is_heard(&self, seat: Seat) -> bool {
        self.asked(seat).is_some() && self.is_read(seat)
    }

    /// Returns when a seat was asked that is judged later and thinks.
    pub(super) fn asked(&self, seat: Seat) -> Option<Asked> {
        match self.of(seat)?.progress {
            Progress::Thinks(_, asked) => Some(asked),
            _ => None,
        }
    }

    /// Returns all seats in the order in which to look for an event: what one writes never delays what another that thinks
    /// has written.
    pub(super) fn in_turn(
        &self,
        seats: usize,
        thinking: Option<Seat>,
    ) -> impl Iterator<Item = Seat> + use<> {
        let first = match thinking {
            _ if !self.seats.is_empty() => (self.read_last + 1) % seats,
            thinking => thinking.map_or(0, Seat::index),
        };
        Seat::all(seats).cycle().skip(first).take(seats)
    }

    /// Whether more lines of the seat that is judged now may be kept.
    pub(super) fn has_room(&self, bytes_max: u64) -> bool {
        self.opened.is_empty() || self.opened_bytes <= bytes_max
    }

    /// Whether what was kept of a seat is judged next.
    pub(super) fn opens(&self, seat: Seat) -> bool {
        self.opened.front().is_some_and(|kept| kept.seat == seat)
    }

    /// Notes that an event of a seat was read.
    pub(super) fn note_read(&mut self, seat: Seat) {
        (self.read_last, self.has_read) = (seat.index(), true);
    }

    /// Whether those that think come before what is left of earlier events: every other time.
    pub(super) fn come_first(&mut self) -> bool {
        !std::mem::take(&mut self.has_read) && !self.seats.is_empty()
    }

    /// Keeps nothing of a seat that is killed but its end.
    pub(super) fn forget(&mut self, seat: Seat) {
        let is_end = |event: &AgentEvent| matches!(event, AgentEvent::Exited(_) | AgentEvent::Gone);
        self.seats.retain(|early| early.seat != seat);
        self.opened.retain(|kept| kept.seat != seat || is_end(&kept.event));
    }

    /// Keeps nothing, since the match is over. Returns who had exited, and how.
    pub(super) fn end(&mut self) -> Vec<(Seat, String)> {
        let kept = self.seats.drain(..).flat_map(|early| early.events);
        let exited = |kept: KeptEvent| match kept.event {
            AgentEvent::Exited(status) => Some((kept.seat, status)),
            _ => None,
        };
        self.opened.drain(..).chain(kept).filter_map(exited).collect()
    }
}

impl Drive<'_> {
    /// Asks seats that are judged later, as many as there are cores for, when nothing of the turns before is left to judge:
    /// from then on each is judged in its order, so its turn has the number of its request.
    pub(super) fn ask_beside(&mut self) {
        let is_judging = self.step.judged.is_some()
            || self.cause_check.is_some()
            || !self.early.opened.is_empty();
        if self.early.beside == 0 || is_judging || self.state.game().together().is_empty() {
            return;
        }
        for seat in self.state.choosing_later() {
            let participant = &self.participants[seat.index()];
            // Also of one that has closed its stdout: if it were out now, the next turns would have other numbers.
            let is_running = participant.is_process() && !participant.is_killed();
            if is_running && !self.early.has(seat) {
                let (events, progress) = (VecDeque::new(), Progress::Waits);
                let early = EarlySeat { seat, progress, events, bytes: 0, is_full: false };
                self.early.seats.push(early);
            }
        }
        let busy = self.early.seats.iter().filter(|early| early.has_core()).count();
        let may_ask = |it: &&mut EarlySeat| {
            let has_acted = !it.events.is_empty() || self.state.has_ended(it.seat);
            matches!(it.progress, Progress::Waits) && !has_acted
        };
        let waiting = self.early.seats.iter_mut().filter(may_ask);
        let next: Vec<Seat> = waiting
            .take(self.early.beside.saturating_sub(busy))
            .map(|early| {
                early.progress = Progress::Thaws;
                early.seat
            })
            .collect();
        for seat in next {
            if self.freezer.resume(seat, &self.participants[seat.index()]) {
                self.ask_now(seat);
            }
        }
    }

    /// Asks a seat that is judged later, if it has been resumed for that. Returns whether it has.
    pub(super) fn ask_now(&mut self, seat: Seat) -> bool {
        let Some(early) = self.early.of_mut(seat) else { return false };
        if !matches!(early.progress, Progress::Thaws) {
            return false;
        }
        if !early.events.is_empty() {
            early.progress = Progress::Waits;
            return true;
        }
        let turn = self.state.request_later(seat);
        let number = turn.turn;
        let asked = self.write_request(seat, turn);
        if let Some(early) = self.early.of_mut(seat) {
            early.progress = Progress::Thinks(number, asked);
        }
        self.freezer.begin(asked.at);
        self.flush(seat);
        true
    }

    /// Measures an event that is kept.
    fn kept(&mut self, seat: Seat, at: Instant, event: AgentEvent) -> KeptEvent {
        let reading = match &event {
            AgentEvent::Line(line) => Some(self.reading_of_line(seat, at, line, None)),
            _ => None,
        };
        KeptEvent { seat, at: self.time.of(at), event, reading }
    }

    /// Keeps an event of the seat that thinks until the lines of others are judged that were read before.
    pub(super) fn keep_for_now(&mut self, seat: Seat, at: Instant, event: AgentEvent) {
        let kept = self.kept(seat, at, event);
        if self.early.opened.is_empty() {
            self.early.opened_bytes = 0;
        }
        if let AgentEvent::Line(line) = &kept.event {
            self.early.opened_bytes += line.bytes.len() as u64 + 1;
        }
        self.early.opened.push_back(kept);
    }

    /// Keeps an event of a seat that is judged later.
    pub(super) fn keep_event(&mut self, seat: Seat, at: Instant, event: AgentEvent) {
        let kept = self.kept(seat, at, event);
        let bound = self.state.header().limits.turn_bytes.saturating_mul(2);
        let Some(early) = self.early.of_mut(seat) else { return };
        if let AgentEvent::Line(line) = &kept.event {
            let message = if line.cut { None } else { parse_line(&line.bytes, None) };
            let goes_on = !line.cut && matches!(message, None | Some(Ok(FromAgent::Info(_))));
            early.bytes += line.bytes.len() as u64 + 1;
            match early.progress {
                Progress::Thinks(number, asked) if !goes_on => {
                    early.progress = Progress::Done(number, asked);
                    if let Some(agent) = self.participants[seat.index()].connection_mut() {
                        agent.is_asked = false;
                    }
                    self.freezer.begin(at);
                }
                _ => {}
            }
            early.is_full |= early.bytes > bound;
        }
        early.events.push_back(kept);
    }

    /// Judges from now on what a seat does, first what was kept. Returns whether it has already been asked.
    pub(super) fn open(&mut self, seat: Seat, turn: &Turn) -> bool {
        let seats = &mut self.early.seats;
        let Some(place) = seats.iter().position(|early| early.seat == seat) else {
            return false;
        };
        let EarlySeat { progress, events, .. } = seats.remove(place);
        self.early.opened.extend(events);
        let (Progress::Thinks(number, asked) | Progress::Done(number, asked)) = progress else {
            return false;
        };
        if number != turn.turn {
            let text =
                format!("seat {seat} was asked for turn {number}, but it is turn {}", turn.turn);
            self.input(Input::Stop { cause: "machine", text, seat: None });
            return true;
        }
        self.turn.asked = asked;
        self.input_at(self.time.moment(asked.time), Input::Asked(seat, asked.reading));
        true
    }

    /// Judges the next of what was kept.
    pub(super) fn opened(&mut self, kept: KeptEvent) {
        let KeptEvent { seat, at, event, reading } = kept;
        let at = self.time.moment(at);
        match event {
            AgentEvent::Line(line) => self.lines_from(seat, at, Some((line, reading, false))),
            event => self.event(seat, at, event),
        }
        if self.early.opened.is_empty() {
            self.ask_deferred();
        }
    }
}
