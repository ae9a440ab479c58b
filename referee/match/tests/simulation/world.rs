//! A simulated machine: a queue of what is going to happen, and one loop that always goes to the
//! next of it. It does to a match what the shell does, without processes and without waiting.

use super::agent::{ScriptEvent, answers, begins};
use super::disk::Disk;
use super::model::{Model, Moment};
use super::plan::{Plan, Random};
use referee_games::Games;
use referee_match::transcript::{Recorder, Status, Walk, read, verify};
use referee_match::{Effect, Ending, Input, Match, Reading};
use referee_protocol::{Event, FaultKind, Nanos, Seat, StderrEvent, ToAgent, Want, escape_line};
use std::collections::{BTreeMap, VecDeque};

const MS: u64 = 1_000_000;
const KILLED: &str = "killed by the referee";
/// How often what was recorded is written.
const FLUSH_PERIOD: u64 = 200 * MS;

/// What became of a simulated match.
#[derive(Debug, PartialEq)]
pub(crate) struct Report {
    pub(crate) effects: Vec<(u64, Effect)>,
    pub(crate) transcript: Vec<u8>,
    pub(crate) ending: Ending,
    /// Why the transcript could not be written whole: then the match has no result.
    pub(crate) unwritten: Option<&'static str>,
    pub(crate) steps: u64,
}

/// Plays the match of this seed to its end.
pub(crate) fn simulate(plan: &Plan, seed: u64, is_shown: bool) -> Report {
    let start = || plan.kind.start(&plan.header.setup).unwrap();
    let (state, greetings) = Match::begin(start(), plan.header.clone());
    let mut random = Random(!seed);
    let start_lag = if random.percent(plan.lag_percent) { random.delay(20) } else { 0 };
    let world = World {
        plan,
        state,
        model: Model::new(plan, start()),
        random,
        now: 0,
        queue: BTreeMap::new(),
        queued: 0,
        tick: None,
        requests: 0,
        waiting: None,
        thinking: None,
        start_lag,
        cpu: vec![0; plan.tempers.len()],
        silent: vec![false; plan.tempers.len()],
        exited: vec![false; plan.tempers.len()],
        asked: 0,
        is_shown,
        disk: Disk::new(plan.flaw),
        undone: VecDeque::new(),
        is_carrying_out: false,
        effects: Vec::new(),
        steps: 0,
    };
    world.run(greetings)
}

/// A turn under way, as the machine has it.
#[derive(Clone, Copy)]
struct Thinking {
    seat: Seat,
    at: u64,
    /// CPU time in thousandths of the time on the wall.
    busy: u64,
    /// From when on the referee lags, and how much.
    lag: (u64, u64),
}

struct World<'a> {
    plan: &'a Plan,
    state: Match,
    model: Model<'a>,
    random: Random,
    now: u64,
    queue: BTreeMap<(u64, u64), ScriptEvent>,
    queued: u64,
    /// When the match wants to be woken, and when it will be.
    tick: Option<(u64, u64)>,
    /// The number of the last request.
    requests: u64,
    /// Whose request has not been written, and which effect it is.
    waiting: Option<(Seat, usize)>,
    thinking: Option<Thinking>,
    start_lag: u64,
    /// CPU time of the turns before, by seat.
    cpu: Vec<u64>,
    /// Whose output has ended.
    silent: Vec<bool>,
    exited: Vec<bool>,
    /// Requests that were written.
    asked: u64,
    is_shown: bool,
    disk: Disk,
    /// What is still to be carried out.
    undone: VecDeque<Effect>,
    is_carrying_out: bool,
    effects: Vec<(u64, Effect)>,
    steps: u64,
}

impl World<'_> {
    fn run(mut self, greetings: Vec<Effect>) -> Report {
        for seat in Seat::all(self.plan.tempers.len()) {
            for (delay, happening) in begins(self.plan, seat, &mut self.random) {
                self.queue_up(delay, happening);
            }
        }
        self.queue_up(self.plan.stop_at, ScriptEvent::Stops("interrupted"));
        if let Some((at, seat)) = self.plan.orphaned {
            self.queue_up(at, ScriptEvent::Orphaned(seat));
        }
        self.queue_up(FLUSH_PERIOD, ScriptEvent::Flush);
        self.carry_out(greetings);
        loop {
            self.set_timer();
            let next = self.queue.first_key_value().map(|((at, _), _)| *at);
            match self.tick {
                Some((_, at)) if next.is_none_or(|next| at < next) => {
                    self.seen(at);
                    self.wake();
                }
                _ => {
                    let Some(((at, _), happening)) = self.queue.pop_first() else { break };
                    self.seen(at);
                    self.happens(happening);
                }
            }
        }
        self.finish()
    }

    /// What happens at this time is seen now, or when the machine goes on.
    fn seen(&mut self, at: u64) {
        let stall = self.plan.stall;
        let at = if (stall.from..stall.to).contains(&at) { stall.to } else { at };
        self.now = self.now.max(at);
    }

    fn queue_up(&mut self, delay: u64, happening: ScriptEvent) {
        self.queue.insert((self.now + delay, self.queued), happening);
        self.queued += 1;
    }

    fn set_timer(&mut self) {
        let wanted = self.state.wake_at().map(|at| at.0);
        if self.tick.map(|(wanted, _)| wanted) != wanted {
            let is_late = self.plan.is_busy && self.random.percent(30);
            let late = if is_late { self.random.delay(40) } else { 0 };
            let is_lost = self.random.percent(self.plan.lost_percent);
            let late = if is_lost { self.random.delay(5000) } else { late };
            self.tick = wanted.map(|wanted| (wanted, wanted.max(self.now) + late));
        }
    }

    /// What the machine says now, and the same in the model's terms.
    fn reading(&self) -> (Reading, Moment) {
        let at = self.now;
        let Some(turn) = self.thinking else {
            let lag = self.start_lag.max(self.plan.stall.within(0, at));
            let reading = Reading { lag: Nanos(lag), ..Reading::default() };
            return (reading, Moment { at, cpu: None, lag });
        };
        let wall = at - turn.at;
        let cpu = self.plan.has_cpu.then_some(self.cpu_of(turn));
        let lag = if wall >= turn.lag.0 { turn.lag.1 } else { 0 };
        let lag = lag.max(self.plan.stall.within(turn.at, at));
        let before = self.cpu[turn.seat.index()];
        let total = cpu.map(|cpu| Nanos(before + cpu));
        (Reading { cpu: total, wait: None, lag: Nanos(lag) }, Moment { at, cpu, lag })
    }

    /// Returns the CPU time of a turn so far. While the machine is frozen, no agent uses any.
    fn cpu_of(&self, turn: Thinking) -> u64 {
        let frozen = self.plan.stall.within(turn.at, self.now);
        (self.now - turn.at - frozen) * turn.busy / 1000
    }

    fn wake(&mut self) {
        let (reading, moment) = self.reading();
        self.model.tick(moment);
        self.step(Input::Tick(reading));
        let wanted = self.state.wake_at();
        assert!(wanted.is_none_or(|at| at.0 > self.now), "woken in vain: {wanted:?}");
        self.model.check_step();
    }

    fn happens(&mut self, happening: ScriptEvent) {
        match &happening {
            ScriptEvent::Says(seat, _) | ScriptEvent::Closes(seat) | ScriptEvent::Deafens(seat)
                if self.silent[seat.index()] =>
            {
                return;
            }
            ScriptEvent::Exits(seat, _) if self.exited[seat.index()] => return,
            _ => {}
        }
        let judges_nothing_before = matches!(
            happening,
            ScriptEvent::Says(..)
                | ScriptEvent::Complains(_)
                | ScriptEvent::Slot(_)
                | ScriptEvent::Stops(_)
                | ScriptEvent::Orphaned(_)
                | ScriptEvent::Flush
        );
        if !judges_nothing_before && self.state.wake_at().is_some_and(|at| at.0 <= self.now) {
            // The match itself decides first what is due.
            let (_, moment) = self.reading();
            self.model.tick(moment);
        }
        self.model.at(self.now);
        let (reading, moment) = self.reading();
        match happening {
            ScriptEvent::Says(seat, speech) => {
                let (line, meaning) = speech.say(self.state.game(), &mut self.random);
                let cut = meaning == super::speech::Meaning::Cut;
                let bytes = match meaning {
                    super::speech::Meaning::Blank => line.len(),
                    _ => serde_json::to_string(&escape_line(&line).0).unwrap().len() - 2,
                };
                self.model.line(seat, bytes, meaning, moment);
                self.step(Input::Line { seat, line: &line, cut, reading, meaning: None });
            }
            ScriptEvent::Complains(seat) => {
                // The driver records it, after the header.
                if self.effects.iter().any(|(_, effect)| matches!(effect, Effect::Record(_))) {
                    let (at_ns, turn) = (self.now, self.state.game().turn_number());
                    let text = "complaint".to_owned();
                    let event = StderrEvent { at_ns, seat, turn, text, dropped_bytes: 0 };
                    self.carry_out(vec![Effect::Record(Event::Stderr(event))]);
                }
            }
            ScriptEvent::Closes(seat) => {
                self.silent[seat.index()] = true;
                self.model.ended(seat);
                self.step(Input::StdoutClosed(seat, reading));
            }
            ScriptEvent::Deafens(seat) => {
                self.model.ended(seat);
                self.step(Input::StdinClosed(seat, reading));
            }
            ScriptEvent::Exits(seat, status) => {
                (self.silent[seat.index()], self.exited[seat.index()]) = (true, true);
                self.model.ended(seat);
                let status = status.to_owned();
                self.step(Input::Exited { seat, status, late: false, reading });
            }
            ScriptEvent::Fault(seat, kind) => {
                self.silent[seat.index()] |= kind == FaultKind::Start;
                self.model.found(seat, kind);
                self.step(Input::Fault(seat, kind, "at fault".to_owned(), reading));
            }
            ScriptEvent::Slot(number) => self.slot(number),
            ScriptEvent::Stops(cause) => self.stop(cause),
            ScriptEvent::Orphaned(seat) => {
                // The supervisor's socket reports it before the pipes end.
                self.stop("machine");
                self.silent[seat.index()] = true;
                self.queue_up(0, ScriptEvent::Exits(seat, "the end of its supervisor"));
            }
            ScriptEvent::Flush => {
                let written = self.disk.flush();
                self.check_write(written);
                if !self.model.is_over() {
                    self.queue_up(FLUSH_PERIOD, ScriptEvent::Flush);
                }
            }
        }
        self.model.check_step();
    }

    /// The match can't go on, and no agent is to blame.
    fn stop(&mut self, cause: &'static str) {
        self.model.was_stopped = true;
        self.step(Input::Stop { cause, text: "enough".to_owned(), seat: None });
    }

    fn check_write(&mut self, written: Result<(), &'static str>) {
        if let Err(cause) = written {
            self.stop(cause);
        }
    }

    /// The request may be written.
    fn slot(&mut self, number: u64) {
        if number != self.requests {
            return;
        }
        let Some((seat, effect)) = self.waiting.take() else { return };
        let Effect::Ask(_, request) = &self.effects[effect].1 else { panic!("no request") };
        let ready = self.state.header().seats[seat.index()].ready.as_ref().expect("it is ready");
        let game = self.state.game();
        let wants = |want| ready.want.contains(&want);
        let position = wants(Want::Position).then(|| game.position());
        let actions = wants(Want::Actions).then(|| game.actions());
        assert_eq!((&request.position, &request.actions), (&position, &actions));
        assert_eq!(request.turn, game.turn_number());
        let before = self.cpu[seat.index()];
        let cpu = self.plan.has_cpu.then_some(Nanos(before));
        let can_answer = self.model.asked(seat);
        self.step(Input::Asked(seat, Reading { cpu, ..Reading::default() }));
        if !can_answer {
            return;
        }
        self.asked += 1;
        if self.disk.broken.is_some() {
            // Writing down the request was what failed.
            return;
        }
        assert_eq!(self.state.thinking(), Some(seat));
        let allowed = self.model.allowance(seat);
        let temper = self.plan.tempers[seat.index()];
        let (script, busy) = answers(temper, seat, allowed, &mut self.random);
        let lags = self.random.percent(self.plan.lag_percent);
        let lag = if lags { (self.random.delay(50), self.random.delay(30)) } else { (0, 0) };
        self.thinking = Some(Thinking { seat, at: self.now, busy, lag });
        for (delay, happening) in script {
            self.queue_up(delay, happening);
        }
        if self.asked > self.plan.turns_max {
            self.queue_up(0, ScriptEvent::Stops("interrupted"));
        }
    }

    fn step(&mut self, input: Input<'_>) {
        self.steps += 1;
        // A tick a millisecond at most, and whatever else happens with a tick before it.
        let bound = 100 + self.now / MS + 2 * self.queued;
        assert!(self.steps <= bound, "{} inputs in {}", self.steps, seconds(self.now));
        if self.is_shown {
            println!("{:>12} {input:?}", self.now);
        }
        let mut effects = Vec::new();
        self.state.step(Nanos(self.now), input, &mut effects);
        if let Some(turn) = self.thinking
            && self.state.thinking() != Some(turn.seat)
        {
            self.cpu[turn.seat.index()] += self.cpu_of(turn);
            self.thinking = None;
        }
        self.carry_out(effects);
    }

    /// Does what the match wants. What follows from a failure in that is done after it.
    fn carry_out(&mut self, effects: Vec<Effect>) {
        self.undone.extend(effects);
        if std::mem::replace(&mut self.is_carrying_out, true) {
            return;
        }
        while let Some(effect) = self.undone.pop_front() {
            if self.is_shown {
                println!("             -> {effect:?}");
            }
            self.model.effect(&effect);
            self.do_as_told(&effect);
            self.effects.push((self.now, effect.clone()));
            if let Effect::Record(event) = &effect {
                let written = self.disk.record(event);
                self.check_write(written);
            }
        }
        self.is_carrying_out = false;
    }

    fn do_as_told(&mut self, effect: &Effect) {
        match effect {
            Effect::Ask(seat, _) => {
                assert!(self.state.thinking().is_none(), "two requests at once");
                self.requests += 1;
                self.waiting = Some((*seat, self.effects.len()));
                let is_late = self.plan.is_busy && self.random.percent(40);
                let delay = if is_late { self.random.delay(50) } else { 0 };
                self.queue_up(delay, ScriptEvent::Slot(self.requests));
            }
            Effect::Kill(seat) => {
                self.waiting.take_if(|(asked, _)| asked == seat);
                let delay = self.random.delay(3);
                self.queue_up(delay, ScriptEvent::Exits(*seat, KILLED));
            }
            Effect::Finish(_) => {
                self.waiting = None;
                for seat in Seat::all(self.plan.tempers.len()) {
                    let delay = self.random.delay(100);
                    self.queue_up(delay, ScriptEvent::Exits(seat, "exit status 0"));
                }
            }
            Effect::MeasureMemory => self.step(Input::PeakMemory(Vec::new())),
            Effect::Send(..) | Effect::Broadcast(_) | Effect::Record(_) => {}
        }
    }

    fn finish(mut self) -> Report {
        let mut recorder = Recorder::new();
        for (_, effect) in &self.effects {
            if let Effect::Record(event) = effect {
                recorder.record(event);
            }
        }
        recorder.seal();
        let transcript = recorder.take();
        self.disk.finish();
        check_kept(&self.disk, &transcript);
        let (ending, kinds) = self.model.finish();
        let turns = kinds.iter().filter(|kind| **kind == "turn").count() as u64;
        assert_eq!(turns, self.asked, "as many `turn` events as requests");
        let report = verify(&transcript, &Games::default());
        assert_eq!(report.status, Status::Ok, "{}", report.detail);
        if let Some(outcome) = &ending.outcome {
            assert_eq!(report.outcome.as_ref(), Some(outcome));
        }
        let mut walk = walked(&transcript);
        for seat in Seat::all(self.plan.tempers.len()) {
            let made_again = String::from_utf8(walk.take_sent(seat)).expect("text");
            assert_eq!(made_again, written(&self.effects, seat), "seat {seat}");
        }
        check_resumed(&self.effects);
        let unwritten = self.disk.broken;
        Report { effects: self.effects, transcript, ending, unwritten, steps: self.steps }
    }
}

/// From the record of its last turn the match wants the same as it did.
fn check_resumed(effects: &[(u64, Effect)]) {
    let events: Vec<Event> = effects.iter().filter_map(recorded).cloned().collect();
    let turn = events.iter().rev().find_map(|event| match event {
        Event::Turn(turn) => Some((turn.seat, turn.turn)),
        _ => None,
    });
    let (Some(turn), Some(Event::Header(header))) = (turn, events.first()) else { return };
    // A request that was never written is not in the record.
    let is_it = |effect: &&Effect| match effect {
        Effect::Ask(seat, request) => (*seat, request.turn) == turn,
        _ => false,
    };
    if let Some(asked) = effects.iter().rev().map(|(_, effect)| effect).find(is_it) {
        let resumed = Match::resume((**header).clone(), &Games::default(), &events[1..], turn);
        assert_eq!(resumed.expect("a record of ours").1, std::slice::from_ref(asked));
    }
}

fn recorded((_, effect): &(u64, Effect)) -> Option<&Event> {
    match effect {
        Effect::Record(event) => Some(event),
        _ => None,
    }
}

/// Checks that a file that could not be written whole is the start of the transcript, and is read as
/// such.
fn check_kept(disk: &Disk, transcript: &[u8]) {
    assert!(transcript.starts_with(&disk.file), "the file holds what was never recorded");
    let is_whole = disk.file.len() == transcript.len();
    assert_eq!(is_whole, disk.broken.is_none());
    if !is_whole {
        let report = verify(&disk.file, &Games::default());
        assert_eq!(report.status, Status::Torn, "{}", report.detail);
    }
}

/// Returns what was sent to a seat.
fn written(effects: &[(u64, Effect)], seat: Seat) -> String {
    let mut lines = String::new();
    let mut write = |message: &ToAgent| {
        lines.push_str(&serde_json::to_string(message).expect("a message"));
        lines.push('\n');
    };
    let mut request = None;
    for (_, effect) in effects {
        match effect {
            Effect::Send(to, message) if *to == seat => write(message),
            Effect::Broadcast(message) => write(message),
            Effect::Ask(to, turn) => request = (*to == seat).then(|| turn.clone()),
            // The request that waited last is the one that was written.
            Effect::Record(Event::Turn(asked)) if asked.seat == seat => {
                write(&ToAgent::Turn(request.take().expect("an effect asked for it")));
            }
            Effect::Kill(killed) if *killed == seat => return lines,
            _ => {}
        }
    }
    lines
}

/// Plays a transcript again, and keeps what is sent.
fn walked(transcript: &[u8]) -> Walk {
    let reading = read(transcript).expect("a transcript");
    let mut walk = Walk::begin_keeping(reading.header.clone(), &Games::default(), |_| true)
        .expect("a good header");
    for event in reading {
        walk.event(&event).expect("it can be played again");
    }
    walk
}

/// A time in words.
pub(crate) fn seconds(at: u64) -> String {
    format!("{}.{:03} s", at / (1000 * MS), at / MS % 1000)
}
