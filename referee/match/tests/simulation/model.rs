//! A second opinion on a match: who did what wrong, and when, by the protocol's tables. It sees what
//! the agents mean and never how the match judges it, and compares.

use super::agent::Allowance;
use super::plan::{Plan, Temper};
use super::speech::Meaning;
use referee_games::{AnyGame, Turn};
use referee_match::{Effect, Ending};
use referee_protocol::{
    ClockKind, Event, Fault, FaultKind, MatchResult, OnFault, OverEvent, PlayedEvent, Seat,
    ToAgent, TurnEvent, Verdict,
};

const MS: u64 = 1_000_000;

/// What the machine's state was when something happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) at: u64,
    /// CPU time of the turn so far, where it can be read.
    pub(crate) cpu: Option<u64>,
    pub(crate) lag: u64,
}

struct Asked {
    seat: Seat,
    turn: u64,
    at: u64,
    bytes: u64,
}

pub(crate) struct Model<'a> {
    plan: &'a Plan,
    game: Box<dyn AnyGame>,
    is_starting: bool,
    ending: Option<Ending>,
    ready: Vec<bool>,
    banks: Vec<Option<u64>>,
    used: Vec<u64>,
    cpu: Vec<u64>,
    pub(crate) turns: Vec<u64>,
    bytes: Vec<u64>,
    asked: Option<Asked>,
    /// What each seat did wrong first.
    accused: Vec<Option<FaultKind>>,
    /// Who ended before it was asked again.
    has_ended: Vec<bool>,
    /// Who was accused, in order.
    order: Vec<Seat>,
    gone: Vec<Seat>,
    /// An answer came that may be late only because of the referee.
    may_be_void: bool,
    pub(crate) was_stopped: bool,
    moment: Moment,
    last_at_ns: u64,
    recorded: Vec<&'static str>,
    last_played: Option<PlayedEvent>,
}

impl<'a> Model<'a> {
    pub(crate) fn new(plan: &'a Plan, game: Box<dyn AnyGame>) -> Self {
        let seats = game.seats();
        Self {
            plan,
            game,
            is_starting: true,
            ending: None,
            ready: vec![false; seats],
            banks: vec![plan.header.clock.bank_ms.map(|ms| ms * MS); seats],
            used: vec![0; seats],
            cpu: vec![0; seats],
            turns: vec![0; seats],
            bytes: vec![0; seats],
            asked: None,
            accused: vec![None; seats],
            has_ended: vec![false; seats],
            order: Vec::new(),
            gone: Vec::new(),
            may_be_void: false,
            was_stopped: false,
            moment: Moment { at: 0, cpu: None, lag: 0 },
            last_at_ns: 0,
            recorded: Vec::new(),
            last_played: None,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.ending.is_some()
    }

    pub(crate) fn is_out(&self, seat: Seat) -> bool {
        self.is_over() || self.gone.contains(&seat)
    }

    /// What the seat's next turn may take.
    pub(crate) fn allowance(&self, seat: Seat) -> Allowance {
        let clock = &self.plan.header.clock;
        let cap = clock.move_ms.map(|ms| ms * MS);
        let allowance = self.banks[seat.index()].into_iter().chain(cap).min().unwrap();
        let margin = clock.margin_ms * MS;
        match clock.kind {
            ClockKind::Wall => Allowance { wall: allowance + margin, cpu: None },
            ClockKind::Cpu => {
                let backstop =
                    clock.backstop_ms.map_or((4 * allowance).max(2000 * MS), |ms| ms * MS);
                Allowance { wall: backstop, cpu: Some(allowance + margin) }
            }
        }
    }

    /// Something happens at this time.
    pub(crate) fn at(&mut self, at: u64) {
        self.moment.at = at;
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self, now: Moment) {
        self.check_clock(now, None);
    }

    /// A line came.
    pub(crate) fn line(&mut self, seat: Seat, bytes: usize, meaning: Meaning, now: Moment) {
        self.moment = now;
        if self.is_out(seat) || self.has_ended[seat.index()] {
            return;
        }
        let bytes = bytes as u64 + 1;
        self.bytes[seat.index()] += bytes;
        let own = self.asked.as_mut().filter(|asked| asked.seat == seat);
        let answers = own.is_some() && !matches!(meaning, Meaning::Blank | Meaning::Info);
        if let Some(asked) = own {
            asked.bytes += bytes;
        }
        let was_accused = self.accused[seat.index()].is_some();
        self.check_clock(now, answers.then_some(seat));
        if self.may_be_void || (self.accused[seat.index()].is_some() && !was_accused) {
            return;
        }
        match self.wrong(seat, meaning) {
            Some(kind) => self.accuse(seat, kind),
            None if meaning == Meaning::Ready => self.ready[seat.index()] = true,
            None => {}
        }
    }

    /// The table of faults, in its order.
    fn wrong(&self, seat: Seat, meaning: Meaning) -> Option<FaultKind> {
        let limits = &self.plan.header.limits;
        let asked = self.asked.as_ref().filter(|asked| asked.seat == seat);
        let answers = |turn: Option<u64>| {
            asked.is_some_and(|asked| turn.is_none_or(|turn| turn == asked.turn))
        };
        let is_flood = meaning == Meaning::Cut
            || self.bytes[seat.index()] > limits.match_bytes
            || asked.is_some_and(|asked| asked.bytes > limits.turn_bytes);
        match meaning {
            _ if is_flood => Some(FaultKind::Flood),
            Meaning::Blank | Meaning::Cut => None,
            Meaning::Garbled => Some(FaultKind::Garbled),
            Meaning::Info => asked.is_none().then_some(FaultKind::Unasked),
            Meaning::Ready => {
                (!self.is_starting || self.ready[seat.index()]).then_some(FaultKind::Unasked)
            }
            Meaning::Resign { turn } | Meaning::Action { turn, .. } if !answers(turn) => {
                Some(FaultKind::Unasked)
            }
            Meaning::Resign { .. } => Some(FaultKind::Resigned),
            Meaning::Action { is_legal, .. } => (!is_legal).then_some(FaultKind::Illegal),
        }
    }

    /// The agent's process, output or input ended. After `ready` that is judged when it must answer.
    pub(crate) fn ended(&mut self, seat: Seat) {
        if !self.ready[seat.index()] {
            self.accuse(seat, FaultKind::Start);
        } else if !self.is_starting && self.game.turn() == Turn::Of(seat) {
            self.accuse(seat, FaultKind::Gone);
        } else {
            self.has_ended[seat.index()] = true;
        }
    }

    /// It is asked. Returns whether it can answer.
    pub(crate) fn asked(&mut self, seat: Seat) -> bool {
        let has_ended = self.has_ended[seat.index()];
        if has_ended {
            self.accuse(seat, FaultKind::Gone);
        }
        !has_ended
    }

    /// Something was found about the agent.
    pub(crate) fn found(&mut self, seat: Seat, kind: FaultKind) {
        self.accuse(seat, kind);
    }

    fn check_clock(&mut self, now: Moment, answering: Option<Seat>) {
        self.moment = now;
        if self.is_over() {
            return;
        }
        if self.is_starting {
            if now.at > self.plan.header.clock.start_ms * MS + now.lag {
                for seat in Seat::all(self.ready.len()) {
                    if !self.ready[seat.index()] && self.accused[seat.index()].is_none() {
                        self.accuse(seat, FaultKind::Start);
                    }
                }
            }
            return;
        }
        let Some(asked) = &self.asked else { return };
        let (seat, wall) = (asked.seat, now.at - asked.at);
        let allowed = self.allowance(seat);
        let excess = wall.saturating_sub(allowed.wall);
        if self.accused[seat.index()].is_some() {
            return;
        }
        if now.cpu.zip(allowed.cpu).is_some_and(|(cpu, allowed)| cpu > allowed) || excess > now.lag
        {
            self.accuse(seat, FaultKind::Late);
        } else if excess > 0 && answering == Some(seat) {
            if self.plan.header.seats[seat.index()].no_void {
                return self.accuse(seat, FaultKind::Late);
            }
            self.may_be_void = true;
        }
    }

    fn accuse(&mut self, seat: Seat, kind: FaultKind) {
        // When the game is over, judging stops.
        if self.is_out(seat) || matches!(self.game.turn(), Turn::Over(_)) {
            return;
        }
        if self.accused[seat.index()].is_none() {
            self.accused[seat.index()] = Some(kind);
            self.order.push(seat);
        }
    }

    /// Compares after a step.
    pub(crate) fn check_step(&self) {
        if self.is_over() {
            return;
        }
        assert!(!self.may_be_void, "an answer that was late by the lag only was taken");
        assert!(!self.was_stopped, "the match goes on though the machine has failed");
        for (seat, accused) in Seat::all(self.accused.len()).zip(&self.accused) {
            assert!(
                accused.is_none() || self.gone.contains(&seat),
                "seat {seat} did wrong unpunished: {accused:?}"
            );
        }
    }

    /// Compares one effect of a step.
    pub(crate) fn effect(&mut self, effect: &Effect) {
        if self.is_over() {
            let harmless = matches!(effect, Effect::Record(Event::Exit(_) | Event::Stderr(_)));
            assert!(harmless, "after the end: {effect:?}");
        }
        match effect {
            Effect::Send(seat, _) | Effect::Ask(seat, _) => {
                assert!(!self.gone.contains(seat), "sent to a killed seat: {effect:?}");
            }
            Effect::Broadcast(ToAgent::Played(played)) => {
                let last =
                    self.last_played.take().expect("an action is recorded before it is sent");
                let sent = (played.turn, played.seat, &played.action, played.used_ms);
                assert_eq!(sent, (last.turn, last.seat, &last.action, last.used_ms));
            }
            Effect::Broadcast(ToAgent::Retired(retired)) => {
                assert_eq!(self.gone.last(), Some(&retired.seat));
                assert_eq!(retired.turn, self.game.turn_number());
                assert!(self.plays_on());
                if self.gone.len() + 1 < self.ready.len() {
                    self.game.retire(retired.seat);
                }
                self.asked.take_if(|asked| asked.seat == retired.seat);
            }
            Effect::Broadcast(_) | Effect::MeasureMemory => {}
            Effect::Record(event) => self.event(event),
            Effect::Kill(seat) => self.killed(*seat),
            Effect::Finish(ending) => {
                assert_eq!(self.recorded.iter().filter(|kind| **kind == "over").count(), 1);
                self.ending = Some(ending.as_ref().clone());
            }
        }
    }

    fn plays_on(&self) -> bool {
        self.ready.len() > 2 && self.plan.header.on_fault == OnFault::Retire
    }

    fn killed(&mut self, seat: Seat) {
        assert!(!self.gone.contains(&seat), "seat {seat} is killed twice");
        assert_eq!(self.plan.tempers[seat.index()], Temper::Wild, "a good agent is killed");
        assert!(self.accused[seat.index()].is_some(), "seat {seat} is killed for nothing");
        self.gone.push(seat);
    }

    fn event(&mut self, event: &Event) {
        let (kind, at_ns) = match event {
            Event::Header(_) => ("header", 0),
            Event::Turn(event) => ("turn", event.at_ns),
            Event::Line(event) => ("line", event.at_ns),
            Event::Played(event) => ("played", event.at_ns),
            Event::Drawn(event) => ("drawn", event.at_ns),
            Event::Stderr(event) => ("stderr", event.at_ns),
            Event::Retired(event) => ("retired", event.at_ns),
            Event::Over(event) => ("over", event.at_ns),
            Event::Exit(event) => ("exit", event.at_ns),
            Event::Seal(_) | Event::Unknown => panic!("not the match's: {event:?}"),
        };
        assert_eq!(kind == "header", self.recorded.is_empty(), "the header is first, and once");
        assert!((self.last_at_ns..=self.moment.at).contains(&at_ns), "time runs back: {event:?}");
        self.last_at_ns = at_ns;
        self.recorded.push(kind);
        match event {
            Event::Header(header) => {
                self.is_starting = false;
                let recorded = header.seats.iter().map(|seat| seat.ready.is_some());
                // A `ready` that came after the match's end isn't recorded.
                assert!(recorded.zip(&self.ready).all(|(recorded, sent)| !recorded || *sent));
            }
            Event::Turn(event) => self.turn(event),
            Event::Played(event) => self.played(event),
            Event::Retired(event) => self.check_fault(event.seat, &event.fault),
            Event::Over(event) => self.over(event),
            _ => {}
        }
    }

    fn turn(&mut self, event: &TurnEvent) {
        assert!(self.asked.is_none(), "two requests at once");
        assert_eq!(self.game.turn(), Turn::Of(event.seat));
        assert_eq!(self.game.turn_number(), event.turn);
        let left_ms = self.banks[event.seat.index()].map(|left| left / MS);
        assert_eq!(event.left_ms, left_ms);
        self.asked = Some(Asked { seat: event.seat, turn: event.turn, at: event.at_ns, bytes: 0 });
    }

    fn played(&mut self, event: &PlayedEvent) {
        let asked = self.asked.take().expect("only a seat that was asked plays");
        assert_eq!((event.seat, event.turn), (asked.seat, asked.turn));
        let seat = event.seat.index();
        assert_eq!(self.accused[seat], None, "a wrong answer was played");
        let wall = self.moment.at - asked.at;
        let allowed = self.allowance(event.seat);
        let cpu = self.moment.cpu;
        assert!(
            wall <= allowed.wall
                && cpu.is_none_or(|cpu| allowed.cpu.is_none_or(|most| cpu <= most))
        );
        let charged = match self.plan.header.clock.kind {
            ClockKind::Wall => wall,
            ClockKind::Cpu => cpu.unwrap_or(wall),
        };
        assert_eq!((event.wall_ns, event.cpu_ns, event.lag_ns), (wall, cpu, self.moment.lag));
        assert_eq!(event.used_ms, charged.div_ceil(MS));
        let increment = self.plan.header.clock.increment_ms * MS;
        let bank = &mut self.banks[seat];
        *bank = bank.map(|left| left.saturating_sub(charged) + increment);
        self.used[seat] += charged;
        self.cpu[seat] += cpu.unwrap_or(0);
        self.turns[seat] += 1;
        let action = event.action.value();
        assert_eq!(self.game.play(&action), Ok(action));
        self.last_played = Some(event.clone());
    }

    fn check_fault(&self, seat: Seat, fault: &Fault) {
        assert_eq!(self.accused[seat.index()], Some(fault.kind), "seat {seat}: {fault:?}");
        assert_eq!(fault.by.is_some(), fault.kind == FaultKind::Late);
        assert_eq!(fault.legal.is_some(), fault.kind == FaultKind::Illegal);
        assert!(!fault.text.is_empty());
    }

    fn over(&mut self, event: &OverEvent) {
        let verdict = &event.verdict;
        let mut order = self.order.iter().filter(|seat| self.gone.contains(seat));
        assert!(
            self.gone.iter().eq(&mut order),
            "{:?} went, {:?} did wrong",
            self.gone,
            self.order
        );
        for (seat, judged) in Seat::all(self.ready.len()).zip(&verdict.seats) {
            let at = seat.index();
            let used = (self.used[at].div_ceil(MS), self.cpu[at].div_ceil(MS), self.turns[at]);
            assert_eq!(
                (judged.seat, judged.used_ms, judged.cpu_ms, judged.turns),
                (seat, used.0, used.1, used.2)
            );
            assert_eq!(judged.fault.is_some(), self.gone.contains(&seat));
            if let Some(fault) = &judged.fault {
                self.check_fault(seat, fault);
            }
        }
        let outcome = match self.game.turn() {
            Turn::Over(outcome) => Some(outcome),
            Turn::Of(_) | Turn::Chance(_) => None,
        };
        if verdict.result == MatchResult::Void {
            let cause = verdict.void.as_ref().expect("a void match says why").cause.as_str();
            assert!(if cause == "lag" { self.may_be_void } else { self.was_stopped }, "{cause}");
            let at = verdict.void.as_ref().and_then(|void| void.seat);
            let thinking = self.asked.as_ref().map(|asked| asked.seat);
            assert_eq!(at, thinking.filter(|_| cause == "lag"), "who made it void");
            assert_eq!((&event.outcome, &verdict.places), (&None, &None));
            return;
        }
        assert_eq!(event.outcome, outcome);
        let (result, reason) = match (&outcome, self.gone.last()) {
            (Some(outcome), _) => (MatchResult::Played, outcome.reason.as_str()),
            (None, Some(last)) => {
                let fault = verdict.seats[last.index()].fault.as_ref().unwrap();
                let resigned = fault.kind == FaultKind::Resigned;
                let result = if resigned { MatchResult::Resigned } else { MatchResult::Fault };
                (result, if self.plays_on() { "last_seat" } else { fault.kind.name() })
            }
            (None, None) => panic!("the match ended for nothing"),
        };
        assert_eq!((verdict.result, verdict.reason.as_str()), (result, reason));
        self.check_places(verdict);
    }

    /// The words of the protocol, pair by pair.
    fn check_places(&self, verdict: &Verdict) {
        let places = verdict.places.as_ref().expect("places");
        assert_eq!(places.len(), self.ready.len());
        let outcome = match self.game.turn() {
            Turn::Over(outcome) => Some(outcome.places),
            Turn::Of(_) | Turn::Chance(_) => None,
        };
        if let [place] = places[..] {
            let solved = self.gone.is_empty() && outcome.is_some_and(|places| places == [1]);
            assert_eq!(place, if solved { 1 } else { 2 });
            return;
        }
        let went = |seat: Seat| self.gone.iter().position(|gone| *gone == seat);
        for one in Seat::all(places.len()) {
            let better = places.iter().filter(|place| **place < places[one.index()]).count();
            assert_eq!(places[one.index()] as usize, better + 1, "{places:?} is no ranking");
            for other in Seat::all(places.len()) {
                let wanted = match (went(one), went(other)) {
                    (None, None) => outcome.as_ref().map_or(std::cmp::Ordering::Equal, |outcome| {
                        outcome[one.index()].cmp(&outcome[other.index()])
                    }),
                    (None, Some(_)) => std::cmp::Ordering::Less,
                    (Some(_), None) => std::cmp::Ordering::Greater,
                    (Some(one), Some(other)) => other.cmp(&one),
                };
                let found = places[one.index()].cmp(&places[other.index()]);
                assert_eq!(found, wanted, "{places:?}: seats {one} and {other}");
            }
        }
    }

    /// Compares when all is said and done.
    pub(crate) fn finish(self) -> (Ending, Vec<&'static str>) {
        (self.ending.expect("the match ends"), self.recorded)
    }
}
