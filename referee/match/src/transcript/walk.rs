//! The walk over a recorded match: what was recorded goes through [`Match::step`] once more, and what
//! the match does must be what the transcript says. All readers of matches are built on it, whether
//! their events come from a whole file or from a growing one.
//!
//! A transcript has every line of the agents, but not all that the match was told. What is missing
//! follows from the event that it led to: measurements are in `played`, and the end of a process or a
//! full disk only shows in a fault or the verdict. So a line waits for the event after it, and an event
//! that no line explains is its own evidence, as far as the clock and the rules allow it.

use super::bounds::{check_cpu, check_measured, check_peaks, cpu_max};
use super::difference::{adopt, difference};
use super::draws::Draws;
use super::heard::Heard;
use super::implied::{answer_of, late_reading, ready_in, time_and_seat};
use super::import::is_imported;
use super::seen::viewer;
use super::sent::Wire;
use crate::clock::{Punctuality, Spent};
use crate::end_reason::EndReason;
use crate::judge::is_blank;
use crate::machine::{Effect, Input, Match, Phase, Player, RULES, RULES_FAILED_AFTER};
use crate::{Reading, over, request};
use referee_games::wire::Move;
use referee_games::{AnyGame, Decoded, Games, Refusal, Turn};
use referee_protocol::{
    Event, ExitEvent, Fault, FaultKind, Header, LateBy, LineEvent, Nanos, Outcome, PlayedEvent,
    Seat, ToAgent, TurnEvent, VoidNote, unescape_line,
};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// A recorded match, replayed up to some event.
#[derive(Debug)]
pub struct Walk {
    header: Header,
    state: Match,
    wires: Vec<Wire>,
    /// The last line, which is judged when the next event shows what was measured with it.
    held: Option<HeldLine>,
    /// What the match has done and the transcript hasn't said yet. The first is an event.
    due: VecDeque<Effect>,
    /// The number of the last event's line, and of the last line that was judged.
    line: u64,
    judged_line: u64,
    played: u64,
    /// Which seats' processes have exited.
    exited: Vec<bool>,
    heard: Heard,
    draws: Draws,
    /// The match was played elsewhere: it has no lines and no times.
    is_imported: bool,
    /// Who sees it: a seat of a game with hidden information, or everybody.
    pub(super) viewer: Option<Seat>,
}

#[derive(Debug)]
struct HeldLine {
    event: LineEvent,
    bytes: Vec<u8>,
    meaning: Option<Decoded>,
    number: u64,
}

impl Walk {
    /// Begins with the header. Fails if the game is unknown, or can't be started with the setup and the
    /// seats in the header.
    pub fn begin(header: Header, games: &Games) -> Result<Self, String> {
        Self::begin_keeping(header, games, |_| false)
    }

    /// Like [`Walk::begin`], and keeps what is sent to some seats for [`Walk::take_sent`]. Fails also if
    /// one of them speaks an unknown protocol.
    pub fn begin_keeping(
        header: Header,
        games: &Games,
        keeps: impl Fn(Seat) -> bool,
    ) -> Result<Self, String> {
        let kind = games.of_record(&header.game, header.program.as_ref());
        let kind = kind.map_err(|error| error.to_string())?;
        let game = kind.start(&header.setup).map_err(|error| error.to_string())?;
        let seats = game.seats();
        let viewer = viewer(games, game.as_ref())?;
        let listed = header.seats.iter().map(|seat| seat.seat);
        if !listed.eq(Seat::all(seats)) {
            return Err(format!("the header must list the seats 0 to {}, in order", seats - 1));
        }
        let wires = header.seats.iter().map(|seat| Wire::begin(kind, seat, keeps(seat.seat)));
        let wires = wires.collect::<Result<Vec<_>, _>>()?;
        let (state, effects) = Match::begin(game, header.clone());
        let is_imported = is_imported(&header);
        let (line, judged_line, played) = (1, 1, 0);
        let (held, due, exited) = (None, effects.into(), vec![false; wires.len()]);
        let mut walk = Self {
            header,
            state,
            wires,
            held,
            due,
            line,
            judged_line,
            played,
            exited,
            heard: Heard::default(),
            draws: Draws::default(),
            is_imported,
            viewer,
        };
        for (seat, listed) in walk.state.players.iter_mut().zip(&walk.header.seats) {
            if is_imported || !walk.wires[listed.seat.index()].is_read() {
                seat.ready = Some(listed.ready.clone().unwrap_or_default());
            }
        }
        walk.pass_on()?;
        if walk.state.unready().next().is_none() {
            walk.state.proceed();
            walk.collect()?;
        }
        Ok(walk)
    }

    /// Returns the header. It lists the game's seats, in order.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the seed or the key from which draws follow; `None` while that isn't known.
    pub fn draws_from(&self) -> Option<String> {
        match self.header.draw_key_sha256 {
            None => Some(self.header.seed.to_string()),
            Some(_) => self.draws.key(),
        }
    }

    /// Replaces the players' names, in seat order.
    pub fn rename(&mut self, names: &[String]) {
        for (seat, name) in self.header.seats.iter_mut().zip(names) {
            seat.name.clone_from(name);
        }
    }

    /// Returns the game after the last event, without the seats that left if the others play on.
    pub fn game(&self) -> &dyn AnyGame {
        let is_draw = |effect: &&Effect| matches!(effect, Effect::Record(Event::Drawn(_)));
        let pending = self.due.iter().filter(is_draw).count();
        let before = self.state.before_draws.iter().rev().nth(pending.wrapping_sub(1));
        before.map_or_else(|| self.state.game(), AsRef::as_ref)
    }

    /// Takes the bytes that were sent to a seat since the last call, whole lines. A message is sent at
    /// the latest with the next request; the agent may have read it later or never.
    pub fn take_sent(&mut self, seat: Seat) -> Vec<u8> {
        std::mem::take(&mut self.wires[seat.index()].bytes)
    }

    /// Takes the messages that were sent to a seat since the last call, before any codec.
    pub fn take_messages(&mut self, seat: Seat) -> Vec<ToAgent> {
        std::mem::take(&mut self.wires[seat.index()].messages)
    }

    /// Returns what each seat's clock has left, in milliseconds; `None` without a bank.
    pub(super) fn left_ms(&self) -> Vec<Option<u64>> {
        let left = |player: &Player| {
            let late = player.fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::Late);
            player.clock.left_ms().map(|left| if late { 0 } else { left })
        };
        self.state.players.iter().map(left).collect()
    }

    /// Returns the number of turns played so far.
    pub(super) fn turns(&self) -> u64 {
        self.played
    }

    /// Returns the outcome, if the rules have ended the game.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        match self.state.game().turn() {
            Turn::Over(outcome) => Some(outcome),
            Turn::Of(_) | Turn::Chance(_) => None,
        }
    }

    /// Whether the match was played elsewhere.
    pub(super) fn is_imported(&self) -> bool {
        self.is_imported
    }

    /// Says which lines can't be read, or that there are none, so that actions are taken as recorded.
    pub(super) fn unread(&self) -> Option<String> {
        if self.is_imported {
            return Some("imported, so it has no lines of agents".to_owned());
        }
        let unread = self.header.seats.iter().zip(&self.wires).find(|(_, wire)| !wire.is_read());
        let (seat, name) =
            unread.and_then(|(it, _)| Some((it.seat, &it.protocol.as_ref()?.name)))?;
        Some(format!("the lines of seat {seat} are in `{name}`, which this referee can't read"))
    }

    /// Asks the program with the rules, if they are one, for what these events will need of it, at once.
    pub(super) fn foresee(&self, events: &[(u64, Event)]) {
        let step = |(_, event): &(u64, Event)| match event {
            Event::Played(played) => {
                Some(Move::Action { seat: played.seat, action: played.action.value() })
            }
            Event::Drawn(drawn) => Some(Move::Draw { draw: drawn.outcome }),
            Event::Retired(retired) => Some(Move::Retire { retire: retired.seat }),
            _ => None,
        };
        // One of two seats is out for the match alone, which then ends.
        let has_two = self.header.seats.len() < 3;
        let is_end = |(_, event): &&(u64, Event)| has_two && matches!(event, Event::Retired(_));
        let moves = events.iter().take_while(|event| !is_end(event)).filter_map(step);
        self.state.game().foresee(moves.collect());
    }

    /// Replays the next event. An error says what is wrong with it; don't call it again after one.
    pub fn event(&mut self, event: &Event) -> Result<(), String> {
        self.event_in(self.line + 1, event.clone())
    }

    /// Replays the next event, which is in this line of the transcript, counted from 1, the header.
    pub(super) fn event_in(&mut self, line: u64, event: Event) -> Result<(), String> {
        self.line = line;
        if matches!(event, Event::Header(_)) {
            return Err("a second header".to_owned());
        }
        let Some((at_ns, seat)) = time_and_seat(&event) else { return Ok(()) };
        self.is_there(seat)?;
        // It may come between any others.
        if let Event::Stderr(piece) = &event {
            let after = (self.state.now.0, self.state.game().turn_number());
            if self.is_imported {
                return Err("an imported game has no stderr".to_owned());
            }
            return self.heard.add(piece, after, self.header.limits.stderr_bytes);
        }
        if self.is_imported && at_ns != 0 {
            return Err("an imported game has no times".to_owned());
        }
        self.settle(&event)?;
        let due = match self.due.front() {
            // It may be of the last of several seats that have chosen at once, whose time is not the latest.
            Some(Effect::Record(made)) => time_and_seat(made),
            _ => None,
        };
        let before = self.state.earliest(&event).0.min(due.map_or(u64::MAX, |(time, _)| time));
        if at_ns < before {
            return Err(format!(
                "its time is {at_ns} ns, before that of the event before it, {before} ns"
            ));
        }
        let draws = matches!(self.due.front(), Some(Effect::Record(Event::Drawn(_))));
        if draws && self.state.phase != Phase::Ended && self.is_failure_of_rules(&event) {
            // Another failure that need not happen again.
            self.due.clear();
        }
        if self.due.is_empty() {
            if let Event::Line(line) = event {
                return self.hold(line);
            }
            self.cause(Nanos(at_ns), &event)?;
        }
        self.said(&event)?;
        self.check_heard()
    }

    fn is_failure_of_rules(&self, event: &Event) -> bool {
        let Event::Over(over) = event else { return false };
        self.header.program.is_some()
            && over.verdict.void.as_ref().is_some_and(|it| it.cause == RULES)
    }

    /// Checks the turn of the stderr before an event: the match may have been as far as it is after that.
    fn check_heard(&self) -> Result<(), String> {
        let (heard, turn) = (self.heard.turn, self.state.game().turn_number());
        if heard > turn {
            return Err(format!("stderr of turn {heard}, in turn {turn} or before"));
        }
        Ok(())
    }

    /// Checks what must be true at the end of a whole transcript.
    pub(super) fn finish(&self) -> Result<(), String> {
        if self.state.phase != Phase::Ended || !self.due.is_empty() {
            return Err("there is no `over` event".to_owned());
        }
        self.check_heard()?;
        let mut running = Seat::all(self.exited.len()).filter(|seat| !self.exited[seat.index()]);
        let unsaid =
            running.find_map(|seat| match EndReason::read(&self.state.fault_of(seat)?.text) {
                EndReason::Exited(status) => Some((seat, status)),
                _ => None,
            });
        unsaid.map_or(Ok(()), |(seat, status)| {
            Err(format!(
                "seat {seat} ended with {status} by its fault, but no line says that it exits"
            ))
        })
    }

    /// Plays an action that was not recorded, and returns it completed. Only the rules matter, and
    /// recorded events can't follow.
    pub(super) fn play_unrecorded(&mut self, action: &Value) -> Result<Value, Refusal> {
        self.state.game.play(action)
    }

    /// The same for the outcome of a draw.
    pub(super) fn draw_unrecorded(&mut self, outcome: usize) -> Result<(), Refusal> {
        self.state.game.draw(outcome)
    }

    /// Ends an imported match, unless its rules have, and returns that event.
    pub(super) fn end(mut self, end: Result<(Seat, Fault), VoidNote>) -> Option<Event> {
        if self.due.is_empty() {
            match end {
                Ok((seat, fault)) => self.state.fault_with(seat, fault),
                Err(note) => self.state.stop(&note.cause, note.text, note.seat),
            }
            self.collect().ok()?;
        }
        match self.due.pop_front()? {
            Effect::Record(event) => Some(event),
            _ => None,
        }
    }

    /// Returns the match as it is before this request, with the effect that asks for the turn, if it is
    /// the next.
    pub(crate) fn into_match(mut self, asked: &TurnEvent) -> Result<(Match, Vec<Effect>), String> {
        self.settle(&Event::Turn(asked.clone()))?;
        self.to_move(asked.turn, asked.seat)?;
        let mut state = self.state;
        for (player, listed) in state.players.iter_mut().zip(&self.header.seats) {
            player.ready = Some(listed.ready.clone().unwrap_or_default());
            player.cpu_at_answer = None;
        }
        state.player(asked.seat).ran_frozen = Nanos(asked.pondered_ns);
        (state.now, state.choice) = (Nanos(0), None);
        let asks = state.ask(asked.seat);
        Ok((state, vec![asks]))
    }

    fn is_there(&self, seat: Seat) -> Result<(), String> {
        if seat.index() < self.wires.len() {
            return Ok(());
        }
        Err(format!("there is no seat {seat}"))
    }

    /// Whether the lines of a seat show what it answered.
    fn is_read(&self, seat: Seat) -> bool {
        !self.is_imported && self.wires[seat.index()].is_read()
    }

    fn hold(&mut self, line: LineEvent) -> Result<(), String> {
        let seat = line.seat;
        if self.state.phase == Phase::Ended {
            return Err(self.ended("so no line is read"));
        }
        if self.state.is_out(seat) {
            return Err(format!("seat {seat} is out, so no line of it is read"));
        }
        if self.exited[seat.index()] {
            return Err(format!("seat {seat} has exited, so no line of it is read"));
        }
        let bytes = unescape_line(&line.line, line.escaped)
            .ok_or("its line has an escape that isn't written")?;
        let meaning = if line.cut { None } else { self.wires[seat.index()].hear(&bytes) };
        self.held = Some(HeldLine { event: line, bytes, meaning, number: self.line });
        Ok(())
    }

    /// Lets the match judge the line that waits, with the measurements that the next event shows.
    fn settle(&mut self, next: &Event) -> Result<(), String> {
        let Some(HeldLine { event, bytes, meaning, number }) = self.held.take() else {
            return Ok(());
        };
        self.judged_line = number;
        let (seat, cut, at) = (event.seat, event.cut, Nanos(event.at_ns));
        let is_blank = is_blank(&bytes) && !cut && meaning.is_none();
        let (mut reading, mut meaning) = (self.excused(at), meaning);
        if is_blank {
            // Only the last of too many is recorded.
            let is_flood = |(at_fault, fault): (Seat, &Fault)| {
                at_fault == seat && fault.kind == FaultKind::Flood
            };
            if !self.new_fault(next, event.at_ns).is_some_and(is_flood) {
                return Err(format!("blank lines are not recorded, but line {number} is blank"));
            }
            self.state.player(seat).output.add(u64::MAX, is_blank);
        }
        match next {
            Event::Played(played) if (played.seat, played.at_ns) == (seat, event.at_ns) => {
                reading = self.reading_of(played)?;
                if !self.is_read(seat) {
                    meaning = Some(answer_of(played));
                }
            }
            // What the rules did with it then is not known to happen again.
            Event::Over(_) if self.is_failure_of_rules(next) => {
                // But the last `ready`, after which they failed, is in the header.
                if self.is_starting()
                    && let Some(ready) = ready_in(&bytes, meaning.as_ref())
                {
                    self.state.player(seat).ready = Some(ready);
                }
                meaning = Some(Decoded::Nothing);
            }
            Event::Retired(_) | Event::Over(_) => match self.new_fault(next, event.at_ns) {
                Some((at_fault, fault))
                    if matches!(fault.kind, FaultKind::Late | FaultKind::Start) =>
                {
                    self.bound_late_cpu(at_fault, fault, at)?;
                    reading = late_reading(fault);
                }
                // Nor is that at an agent that may cause no more void matches.
                Some((at_fault, fault))
                    if (at_fault, fault.kind) == (seat, FaultKind::Gone)
                        && self.header.program.is_some()
                        && self.header.seats[seat.index()].no_void
                        && fault.text.starts_with(RULES_FAILED_AFTER) =>
                {
                    meaning = Some(Decoded::Nothing);
                }
                // An agent that had closed a stream could be late no more.
                Some((at_fault, fault))
                    if (at_fault, fault.kind) == (seat, FaultKind::Gone)
                        && self.may_be_late(at) =>
                {
                    meaning = Some(Decoded::Nothing);
                }
                // It was too late for a game that was over from the start.
                None if self.is_starting() && self.header.seats[seat.index()].ready.is_none() => {
                    reading = Reading::default();
                }
                _ => {}
            },
            _ => {}
        }
        self.step(at, Input::Line { seat, line: &bytes, cut, reading, meaning })?;
        self.said(&Event::Line(event))
    }

    /// Returns a measurement under which no clock has run out: the referee may have lagged so long.
    fn excused(&self, now: Nanos) -> Reading {
        let lag = match self.state.phase {
            Phase::Starting => now.since(Nanos::from_ms(self.header.clock.start_ms)),
            _ => Nanos(u64::MAX),
        };
        Reading { lag, ..Reading::default() }
    }

    /// Whether the turn may have taken too long.
    fn may_be_late(&self, now: Nanos) -> bool {
        let Phase::Thinking(asked) = &self.state.phase else { return false };
        let clock = &self.state.players[asked.seat.index()].clock;
        let wall = now.since(asked.at);
        let cpu = Some(cpu_max(&self.header, wall, now));
        let spent = Spent { wall, cpu, ..Spent::default() };
        clock.punctuality(&spent, &self.header.clock) != Punctuality::InTime
    }

    /// Returns the fault that an event of this time records first.
    fn new_fault<'a>(&self, event: &'a Event, now_ns: u64) -> Option<(Seat, &'a Fault)> {
        match event {
            Event::Retired(event) => {
                Some((event.seat, &event.fault)).filter(|_| event.at_ns == now_ns)
            }
            Event::Over(event) if event.at_ns == self.state.end_of_choice(Nanos(now_ns)).0 => {
                let players = event.verdict.seats.iter().zip(&self.state.players);
                let mut new = players.zip(Seat::all(self.wires.len()));
                new.find_map(|((verdict, player), seat)| match (&verdict.fault, &player.fault) {
                    (Some(fault), None) => Some((seat, fault)),
                    _ => None,
                })
            }
            _ => None,
        }
    }

    /// Tells the match what must have happened for this event, which no line explains.
    fn cause(&mut self, at: Nanos, event: &Event) -> Result<(), String> {
        match event {
            Event::Turn(asked) => {
                let TurnEvent { turn, seat, pondered_ns, .. } = *asked;
                self.to_move(turn, seat)?;
                if let Some(unready) = self.state.unready().next().filter(|_| self.is_starting()) {
                    return Err(format!(
                        "seat {unready} has not sent `ready`, so no seat is asked"
                    ));
                }
                if self.state.thinking().is_some() {
                    return Err(format!("turn {turn} is asked a second time"));
                }
                check_cpu(&self.header, Nanos(pondered_ns), (at, at), "since the match began")?;
                self.step(at, Input::RanFrozen(seat, Nanos(pondered_ns)))?;
                let zero = Some(Nanos(0));
                self.step(at, Input::Asked(seat, Reading { cpu: zero, wait: zero, lag: Nanos(0) }))
            }
            Event::Played(played) => {
                let (turn, seat) = (played.turn, played.seat);
                self.to_move(turn, seat)?;
                if self.state.thinking() != Some(seat) {
                    return Err(format!("turn {turn} is played, but was not asked"));
                }
                if self.is_read(seat) {
                    return Err(format!(
                        "turn {turn} is played, but no line of seat {seat} says so"
                    ));
                }
                let (reading, meaning) = (self.reading_of(played)?, Some(answer_of(played)));
                self.step(at, Input::Line { seat, line: b"", cut: false, reading, meaning })?;
                self.due.pop_front();
                Ok(())
            }
            Event::Drawn(drawn) => {
                let Phase::Drawing(chance) = &self.state.phase else { return Ok(()) };
                self.draws.add(self.state.game().draws(), chance, drawn.outcome)?;
                self.step(at, Input::Drawn(drawn.outcome))
            }
            Event::Retired(event) => self.fault(at, event.seat, &event.fault),
            Event::Exit(exit) => self.exit(at, exit),
            Event::Over(_) if self.state.phase == Phase::Ended => Err("a second `over`".to_owned()),
            Event::Over(over) => {
                if let Some(note) = &over.verdict.void {
                    if note.cause == RULES && self.header.program.is_none() {
                        return Err(
                            "it is void since the rules failed, but they are built in".to_owned()
                        );
                    }
                    let (cause, text, seat) = (note.cause.as_str(), note.text.clone(), note.seat);
                    return self.step(at, Input::Stop { cause, text, seat });
                }
                match (self.new_fault(event, at.0), self.state.game().turn()) {
                    (Some((seat, fault)), _) => self.fault(at, seat, fault),
                    (None, Turn::Chance(_)) => {
                        Err("the match isn't over: the referee draws next".to_owned())
                    }
                    (None, Turn::Of(seat)) => {
                        let turn = self.state.turn_number();
                        Err(format!("the match isn't over: in turn {turn}, seat {seat} is to move"))
                    }
                    // The game was over from the start, which the first fault shows and doesn't count.
                    (None, Turn::Over(outcome)) => {
                        self.state.now = at;
                        self.state.finish_by_rules(outcome);
                        self.collect()
                    }
                }
            }
            _ => Ok(()),
        }
    }

    /// The process of a seat has exited: once, and if it couldn't answer for that, its fault says so.
    fn exit(&mut self, at: Nanos, exit: &ExitEvent) -> Result<(), String> {
        let ExitEvent { seat, status, late, .. } = exit;
        if std::mem::replace(&mut self.exited[seat.index()], true) {
            return Err(format!("seat {seat} exits a second time"));
        }
        if *late && self.state.phase != Phase::Ended {
            return Err(format!("seat {seat} exits late, but the match isn't over"));
        }
        let fault = self.state.fault_of(*seat).map(|fault| EndReason::read(&fault.text));
        if let Some(EndReason::Exited(said)) = fault
            && said != status
        {
            return Err(format!(
                "seat {seat} ended with {said} by its fault, but with {status} here"
            ));
        }
        let (seat, status, late, reading) = (*seat, status.clone(), *late, self.excused(at));
        self.step(at, Input::Exited { seat, status, late, reading })
    }

    /// Puts a seat out for a fault that no line shows.
    fn fault(&mut self, at: Nanos, seat: Seat, fault: &Fault) -> Result<(), String> {
        let (kind, turn) = (fault.kind, self.state.turn_number());
        if self.state.phase == Phase::Ended {
            return Err(self.ended("so no seat is retired"));
        }
        if self.state.is_out(seat) {
            return Err(format!("seat {seat} is retired a second time"));
        }
        if fault.turn != turn {
            let recorded = fault.turn;
            return Err(format!("it says turn {recorded}, but by the rules it is turn {turn}"));
        }
        let at_end = self.state.fault_at_end(seat);
        if matches!(kind, FaultKind::Start | FaultKind::Gone)
            && self.is_read(seat)
            && kind != at_end
        {
            return Err(format!(
                "seat {seat} is out ({kind}), but at that time it would be ({at_end})"
            ));
        }
        // An end between turns counts at the next request.
        if let Phase::Thinking(asked) = &self.state.phase
            && kind == FaultKind::Gone
            && asked.seat != seat
            && self.is_read(seat)
        {
            return Err(format!("seat {seat} is out (gone), but seat {} is asked", asked.seat));
        }
        match kind {
            FaultKind::Late if !self.is_imported => {
                let Phase::Thinking(asked) = &self.state.phase else {
                    return Err(format!("seat {seat} is late, but was not asked"));
                };
                let ms = at.since(asked.at).ms_up();
                self.bound_late_cpu(seat, fault, at)?;
                self.step(at, Input::Tick(late_reading(fault)))?;
                if self.due.is_empty() {
                    return Err(format!(
                        "seat {seat} is late in turn {turn}, but only {ms} ms passed since the \
                         request, which its clock allows"
                    ));
                }
                Ok(())
            }
            FaultKind::Start | FaultKind::Gone | FaultKind::Memory | FaultKind::Processes => {
                self.step(at, Input::Fault(seat, kind, fault.text.clone(), self.excused(at)))
            }
            _ if self.is_read(seat) => {
                Err(format!("seat {seat} is out ({kind}), but wrote no line at that time"))
            }
            _ => {
                self.state.now = at;
                self.state.fault_with(seat, fault.clone());
                self.collect()
            }
        }
    }

    /// Returns what was measured at the end of a turn.
    fn reading_of(&self, played: &PlayedEvent) -> Result<Reading, String> {
        let PlayedEvent { at_ns, cpu_ns, wait_ns, lag_ns, .. } = *played;
        if let Phase::Thinking(asked) = &self.state.phase {
            let at = Nanos(at_ns);
            check_measured(&self.header, played, (at.since(asked.at), at))?;
        }
        Ok(Reading { cpu: cpu_ns.map(Nanos), wait: wait_ns.map(Nanos), lag: Nanos(lag_ns) })
    }

    /// Checks that a seat that is late by CPU time can have used that much.
    fn bound_late_cpu(&self, seat: Seat, fault: &Fault, at: Nanos) -> Result<(), String> {
        let Phase::Thinking(asked) = &self.state.phase else { return Ok(()) };
        if fault.by != Some(LateBy::Cpu) {
            return Ok(());
        }
        let limit = self.state.players[seat.index()].clock.charged_limit(&self.header.clock);
        check_cpu(&self.header, limit, (at.since(asked.at), at), "in its turn")
    }

    fn step(&mut self, at: Nanos, input: Input<'_>) -> Result<(), String> {
        self.state.step(at, input, &mut self.due);
        self.collect()
    }

    /// Collects what the match has done apart from a step's effects.
    fn collect(&mut self) -> Result<(), String> {
        self.due.extend(self.state.effects.drain(..));
        // The match keeps the events of the start until it can write the header, which is known here.
        self.due.extend(self.state.held.drain(..).map(Effect::Record));
        self.pass_on()
    }

    /// Compares what the match did with what the transcript says.
    fn said(&mut self, event: &Event) -> Result<(), String> {
        let Some(Effect::Record(mut made)) = self.due.pop_front() else {
            return Err("nothing that was recorded before leads to it".to_owned());
        };
        if let Event::Over(over) = event {
            check_peaks(&self.header, &over.verdict)?;
        }
        adopt(&mut made, event);
        if made != *event {
            return Err(match (&made, event) {
                (
                    Event::Played(PlayedEvent { turn, seat, action, .. }),
                    Event::Played(recorded),
                ) => {
                    let (number, played) = (self.judged_line, &recorded.action);
                    if (*turn, *seat) != (recorded.turn, recorded.seat) {
                        not_to_move((recorded.turn, recorded.seat), (*turn, *seat))
                    } else if action != played {
                        format!(
                            "turn {turn}: seat {seat} answered {action} in line {number}, but \
                             {played} is played"
                        )
                    } else {
                        difference(&made, event)
                    }
                }
                _ => difference(&made, event),
            });
        }
        match event {
            Event::Turn(asked) => {
                let wire = &mut self.wires[asked.seat.index()];
                if wire.is_used() {
                    let ready = self.header.seats[asked.seat.index()].ready.as_ref();
                    let want = ready.map_or(&[][..], |ready| &ready.want);
                    wire.say(&ToAgent::Turn(request(
                        self.state.game(),
                        asked.seat,
                        want,
                        asked.left_ms,
                    )));
                }
            }
            Event::Played(_) => self.played += 1,
            Event::Over(it) => {
                self.draws.check(&self.header, it.draw_key.as_deref())?;
                let message = over(it.outcome.clone(), it.verdict.clone());
                let message = ToAgent::Over(Box::new(message));
                self.wires.iter_mut().for_each(|wire| wire.say(&message));
            }
            _ => {}
        }
        self.pass_on()
    }

    /// Sends the messages up to the next event that is due.
    fn pass_on(&mut self) -> Result<(), String> {
        while let Some(effect) = self.due.pop_front() {
            match effect {
                Effect::Record(Event::Header(header)) => self.check_ready(&header)?,
                Effect::Record(_) => {
                    self.due.push_front(effect);
                    break;
                }
                Effect::Send(seat, message) => self.wires[seat.index()].say(&message),
                // Sent as it was recorded: the texts of faults may be of another version.
                Effect::Broadcast(ToAgent::Over(_)) | Effect::Ask(..) | Effect::Finish(_) => {}
                Effect::Broadcast(message) => {
                    self.wires.iter_mut().for_each(|wire| wire.say(&message));
                }
                Effect::Kill(seat) => self.wires[seat.index()].killed = true,
                // What was measured is taken from the event that records it.
                Effect::MeasureMemory => {
                    self.state.finish_with(Vec::new());
                    self.due.extend(self.state.effects.drain(..));
                }
            }
        }
        Ok(())
    }

    /// Checks that the header has the agents' answers to `hello`.
    fn check_ready(&mut self, made: &Header) -> Result<(), String> {
        for (made, recorded) in made.seats.iter().zip(&self.header.seats) {
            if made.ready != recorded.ready && self.is_read(made.seat) {
                let (seat, made, recorded) = (made.seat, json!(made.ready), json!(recorded.ready));
                return Err(format!(
                    "`ready` of seat {seat}: its line gives {made}, the header says {recorded}"
                ));
            }
        }
        for player in &mut self.state.players {
            // Requests are made where they are needed, since the list of all legal actions is long.
            player.ready.iter_mut().for_each(|ready| ready.want.clear());
        }
        Ok(())
    }

    fn is_starting(&self) -> bool {
        self.state.phase == Phase::Starting
    }

    /// Checks that a turn is the next and a seat's.
    fn to_move(&self, turn: u64, seat: Seat) -> Result<(), String> {
        let (Turn::Of(moves), false) = (self.state.game().turn(), self.state.phase == Phase::Ended)
        else {
            return Err(self.ended("so no seat is asked"));
        };
        let number = self.state.turn_number();
        if seat == moves && turn == number {
            return Ok(());
        }
        Err(not_to_move((turn, seat), (number, moves)))
    }

    fn ended(&self, consequence: &str) -> String {
        match self.outcome() {
            Some(outcome) => format!("the game has ended (`{}`), {consequence}", outcome.reason),
            None => format!("the match is over, {consequence}"),
        }
    }
}

fn not_to_move((turn, seat): (u64, Seat), (number, moves): (u64, Seat)) -> String {
    format!(
        "it says turn {turn} and seat {seat}, but by the rules it is turn {number} and seat {moves}"
    )
}
