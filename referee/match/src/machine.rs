//! The match: its state, its inputs and effects, and the steps from turn to turn.

use super::adjudicator::{Adjudicator, Decision};
use super::clock::{Clock, Reading, Spent};
use super::identity::drawer;
use super::messages::{hello, parse_line, request};
use super::places::Departure;
use referee_games::program::Pending;
use referee_games::{AnyGame, Chance, Decoded, Turn as Move};
use referee_protocol::{
    ClockSettings, Drawn, DrawnEvent, Event, ExitEvent, Fault, FaultKind, FromAgent, Header,
    MatchResult, Nanos, Outcome, OverEvent, Pondering, Ready, Seat, ToAgent, Told, Turn, TurnEvent,
    Verdict,
};

/// The cause of a void match whose rules have failed.
pub const RULES: &str = "rules";
/// How the text begins about rules that fail at an action.
pub(super) const RULES_FAILED_AFTER: &str = "the rules failed after turn";

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// The request that [`Effect::Ask`] wanted is about to be written.
    Asked(Seat, Reading),
    /// A seat is about to be asked, whose processes have used this CPU time although they were to be
    /// frozen: it is charged with the request.
    RanFrozen(Seat, Nanos),
    /// An agent sent a line.
    Line {
        /// The sender.
        seat: Seat,
        /// The bytes, without the line end.
        line: &'a [u8],
        /// The line is longer than `limits.line_bytes`, and this is its beginning.
        cut: bool,
        /// The measurements when the last byte was read.
        reading: Reading,
        /// What it means, if the agent speaks another protocol than the referee's own.
        meaning: Option<Decoded>,
    },
    /// The agent closed its stdout, although its process runs. If that exits it is [`Input::Exited`]: the
    /// driver finds out before it reports either.
    StdoutClosed(Seat, Reading),
    /// The agent closed its stdin, although its process runs: a message could not be written.
    StdinClosed(Seat, Reading),
    /// The agent's process exited. All its output has been passed on before.
    Exited {
        /// The agent's seat.
        seat: Seat,
        /// `exit status 1`, `signal 11 (SIGSEGV)`.
        status: String,
        /// It had to be killed at the end of the grace period.
        late: bool,
        /// The measurements at that moment.
        reading: Reading,
    },
    /// A fault that only the driver can see: the program could not be started through its own fault,
    /// or it exceeded a limit of memory or processes. With a description.
    Fault(Seat, FaultKind, String, Reading),
    /// The most memory that each seat has had in the match, in KiB, as [`Effect::MeasureMemory`] asked for;
    /// `None` if unknown.
    PeakMemory(Vec<Option<u64>>),
    /// What was drawn, in a recorded match whose key isn't known yet.
    Drawn(usize),
    /// Time has passed, as [`Match::wake_at`] asked for.
    Tick(Reading),
    /// The match can't continue, through no fault of an agent.
    Stop {
        /// A code such as `interrupted` or `disk_full`.
        cause: &'a str,
        /// A description.
        text: String,
        /// The seat at which it happened, if it concerns one agent only. If that has caused too many
        /// void attempts already, it is its fault.
        seat: Option<Seat>,
    },
}

impl Input<'_> {
    /// Returns the measurements of an input that may come after a time limit.
    fn reading_before(&self) -> Option<Reading> {
        match self {
            Self::StdoutClosed(_, reading)
            | Self::StdinClosed(_, reading)
            | Self::Exited { reading, .. }
            | Self::Fault(.., reading) => Some(*reading),
            _ => None,
        }
    }
}

/// Something that the driver must do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send this to one seat, at the latest together with its next request.
    Send(Seat, ToAgent),
    /// Send this to every seat that has not been killed, at the latest together with its next
    /// request.
    Broadcast(ToAgent),
    /// As soon as the seat may think, step [`Input::Asked`] and write this, with everything that was
    /// to be sent before. Replaces a request that is still waiting.
    Ask(Seat, Turn),
    /// Write this to the transcript.
    Record(Event),
    /// Kill all processes of the seat.
    Kill(Seat),
    /// The match is about to be over: measure what [`Input::PeakMemory`] says, and step that next.
    MeasureMemory,
    /// The match is over: close the agents' stdin, give them their grace period, seal.
    Finish(Box<Ending>),
}

/// How a match ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// The outcome by the rules; `None` unless they ended the game.
    pub outcome: Option<Outcome>,
    /// The verdict of the match.
    pub verdict: Verdict,
}

/// The phase of a match.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Phase {
    /// Not every seat is ready.
    Starting,
    /// A draw is to be made known.
    Drawing(Chance),
    /// This seat's request waits for a core.
    Asking(Seat),
    /// This seat is thinking.
    Thinking(CurrentTurn),
    /// The match is over.
    Ended,
}

/// The current turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CurrentTurn {
    pub(super) seat: Seat,
    pub(super) turn: u64,
    pub(super) at: Nanos,
    pub(super) reading: Reading,
    /// The time spent by the last reading.
    pub(super) spent: Spent,
    /// The output since the request.
    pub(super) output: Output,
    /// What was charged for the time before the request.
    pub(super) pondered: Nanos,
    /// The last score that the agent gave in this turn, if scores have an effect.
    pub(super) score: Option<f64>,
}

/// The times of several seats that choose at once. They are judged one after the other, in their order, but each by its
/// own time: a seat may have been asked, and have answered, before the one that is judged first.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChoiceTimes {
    /// When the first of them could be asked.
    pub(super) began: Nanos,
    /// The latest time of those that were judged.
    latest: Nanos,
}

/// How an agent ended although the match went on.
#[derive(Clone, Debug)]
pub(super) enum AgentEnd {
    /// Its process exited, with this status.
    Exited(String),
    /// It closed this stream, and its process runs.
    Closed(&'static str),
}

/// How many bytes an agent has written. Blank lines count apart, since they are not recorded: so the lines of a
/// transcript alone show whether the others were too many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Output {
    pub(super) lines: u64,
    pub(super) blank_lines: u64,
}

impl Output {
    pub(super) fn add(&mut self, bytes: u64, is_blank: bool) {
        let sum = if is_blank { &mut self.blank_lines } else { &mut self.lines };
        *sum = sum.saturating_add(bytes);
    }

    pub(super) fn of(&self, is_blank: bool) -> u64 {
        if is_blank { self.blank_lines } else { self.lines }
    }
}

/// One seat's state.
#[derive(Clone, Debug, Default)]
pub(super) struct Player {
    pub(super) ready: Option<Ready>,
    pub(super) clock: Clock,
    /// The fault for which it is out of the match.
    pub(super) fault: Option<Fault>,
    pub(super) output: Output,
    pub(super) used: Nanos,
    pub(super) cpu: Nanos,
    pub(super) turns: u64,
    /// Its CPU time at its last answer, if what it uses after that is charged.
    pub(super) cpu_at_answer: Option<Nanos>,
    /// CPU time used although it was to be frozen, not yet charged.
    pub(super) ran_frozen: Nanos,
    /// How it ended between two of its turns. That is judged when it is asked next: how far the others are
    /// when they hear of it depends on chance.
    pub(super) end: Option<AgentEnd>,
}

impl Player {
    /// Charges a finished turn and returns what the clock counted.
    pub(super) fn charge(&mut self, spent: &Spent, settings: &ClockSettings) -> Nanos {
        let charged = spent.charged(settings.kind);
        self.clock.charge(charged, settings);
        self.used = self.used.plus(charged);
        self.cpu = self.cpu.plus(spent.cpu.unwrap_or_default());
        self.turns += 1;
        charged
    }

    /// Charges what was used between two turns.
    pub(super) fn charge_pondering(&mut self, pondered: Nanos) {
        self.clock.charge_pondering(pondered);
        self.used = self.used.plus(pondered);
    }
}

/// A match in progress.
#[derive(Debug)]
pub struct Match {
    pub(super) game: Box<dyn AnyGame>,
    pub(super) header: Header,
    pub(super) players: Vec<Player>,
    pub(super) phase: Phase,
    /// The seed or the key from which draws follow; without, they are made known.
    draws_from: Option<String>,
    /// The seats that are out, in the order in which they left.
    pub(super) gone: Vec<Departure>,
    /// Messages about what seats have chosen at once, until the last of them has.
    pub(super) untold: Vec<Effect>,
    /// The times of the seats that choose at once.
    pub(super) choice: Option<ChoiceTimes>,
    /// How the match ends when the last of the seats has chosen that choose at once, with the reason.
    pub(super) ends_after_choices: Option<(MatchResult, &'static str)>,
    /// What the scores have decided, unless the rules or a fault in the same choice end the match.
    pub(super) decides_after_choices: Option<Decision>,
    /// Events before the header, which is written when every seat is ready, or those after the end until
    /// that is recorded.
    pub(super) held: Vec<Event>,
    /// The game before each draw of the last step, for those who show one after the other.
    pub(super) before_draws: Vec<Box<dyn AnyGame>>,
    /// The end, until the peaks of memory in it are known.
    pub(super) over: Option<Box<OverEvent>>,
    pub(super) effects: Vec<Effect>,
    pub(super) now: Nanos,
    /// The referee's lag before the first turn.
    pub(super) start_lag: Nanos,
    pub(super) adjudicator: Adjudicator,
    /// What the scores have decided.
    pub(super) decision: Option<Decision>,
}

impl Match {
    /// Begins a match at time zero and sends `hello` to every seat. `ready` of each seat in `header`
    /// is filled in as the agents answer.
    pub fn begin(game: Box<dyn AnyGame>, header: Header) -> (Self, Vec<Effect>) {
        let player = Player { clock: Clock::new(&header.clock), ..Player::default() };
        let has_key = header.draw_key_sha256.is_some();
        let mut begun = Self {
            draws_from: (!has_key).then(|| header.seed.to_string()),
            adjudicator: Adjudicator::new(&header),
            decision: None,
            players: vec![player; game.seats()],
            game,
            header,
            phase: Phase::Starting,
            gone: Vec::new(),
            untold: Vec::new(),
            choice: None,
            ends_after_choices: None,
            decides_after_choices: None,
            held: Vec::new(),
            before_draws: Vec::new(),
            over: None,
            effects: Vec::new(),
            now: Nanos(0),
            start_lag: Nanos(0),
        };
        for seat in Seat::all(begun.players.len()) {
            let hello = ToAgent::Hello(Box::new(hello(&begun.header, seat)));
            begun.effects.push(Effect::Send(seat, hello));
        }
        let effects = std::mem::take(&mut begun.effects);
        (begun, effects)
    }

    /// Draws by this key, of which the header has the hash.
    pub fn draw_by(&mut self, key: String) {
        self.draws_from = Some(key);
    }

    /// Returns the key by which it draws, if that isn't the seed.
    pub(super) fn draw_key(&self) -> Option<String> {
        self.draws_from.clone().filter(|_| self.header.draw_key_sha256.is_some())
    }

    /// Processes what happened at time `at` and appends what to do to `effects`. An input with an
    /// earlier time than the one before it counts as simultaneous with it, unless another seat begins that chooses
    /// at the same time.
    ///
    /// What the clock decides by that time ([`Match::wake_at`]) is decided first.
    pub fn step(&mut self, at: Nanos, input: Input<'_>, effects: &mut impl Extend<Effect>) {
        if let Input::Asked(seat, _) = input
            && self.phase == Phase::Asking(seat)
            && let Some(choice) = self.choice.as_mut().filter(|choice| choice.began <= at)
        {
            choice.latest = choice.latest.max(self.now);
            self.now = at;
        }
        self.now = self.now.max(at);
        self.before_draws.clear();
        if let Some(reading) = input.reading_before()
            && self.wake_at().is_some_and(|due| due <= self.now)
        {
            self.tick(reading);
        }
        match input {
            Input::Exited { seat, status, late, .. } => self.exited(seat, status, late),
            Input::PeakMemory(peaks) => self.finish_with(peaks),
            _ if self.phase == Phase::Ended => {}
            Input::Asked(seat, reading) => self.asked(seat, reading),
            Input::RanFrozen(seat, ran) => {
                let player = self.player(seat);
                player.ran_frozen = player.ran_frozen.plus(ran);
            }
            Input::Line { seat, line, cut, reading, meaning } => {
                self.line(seat, line, cut, reading, meaning);
            }
            Input::StdoutClosed(seat, _) => self.ended(seat, AgentEnd::Closed("stdout")),
            Input::StdinClosed(seat, _) => self.ended(seat, AgentEnd::Closed("stdin")),
            Input::Fault(seat, kind, text, _) => self.reported_fault(seat, kind, text),
            Input::Drawn(outcome) => {
                if let Phase::Drawing(chance) = &self.phase {
                    let chance = chance.clone();
                    self.draw(&chance, outcome);
                    self.proceed();
                }
            }
            Input::Tick(reading) => self.tick(reading),
            Input::Stop { cause, text, seat } => self.stop(cause, text, seat),
        }
        effects.extend(self.effects.drain(..));
    }

    /// Returns when to step [`Input::Tick`] next if nothing else happens.
    pub fn wake_at(&self) -> Option<Nanos> {
        match &self.phase {
            // One more nanosecond, because exactly the limit is in time.
            Phase::Starting => self.unready().next().map(|_| {
                Nanos::from_ms(self.header.clock.start_ms).plus(self.start_lag).plus(Nanos(1))
            }),
            Phase::Thinking(asked) => {
                let clock = &self.players[asked.seat.index()].clock;
                Some(clock.next_check(asked.at, &asked.spent, &self.header.clock))
            }
            Phase::Drawing(_) | Phase::Asking(_) | Phase::Ended => None,
        }
    }

    /// Returns the seat that is thinking.
    pub fn thinking(&self) -> Option<Seat> {
        match &self.phase {
            Phase::Thinking(asked) => Some(asked.seat),
            _ => None,
        }
    }

    /// Returns the fault for which a seat is out.
    pub fn fault_of(&self, seat: Seat) -> Option<&Fault> {
        self.players[seat.index()].fault.as_ref()
    }

    /// Whether a seat can't answer any more, which is judged when it is asked.
    pub fn has_ended(&self, seat: Seat) -> bool {
        self.players[seat.index()].end.is_some()
    }

    /// Whether an event that was recorded may not be shown yet: seats choose at once, and not all have.
    pub fn hides(&self, event: &Event) -> bool {
        let is_answer = !self.game.together().is_empty() && matches!(event, Event::Line(_));
        self.phase != Phase::Ended && (is_answer || self.game.is_between_choices())
    }

    /// Returns the seats that choose at the same time as the one that is asked, and after it. They may get their requests
    /// ([`Match::request_later`]) now, too. What such a seat does then is stepped after the [`Effect::Ask`] for its turn:
    /// first [`Input::Asked`], with the time at which its request was written.
    pub fn choosing_later(&self) -> Vec<Seat> {
        let now = match &self.phase {
            Phase::Asking(seat) => *seat,
            Phase::Thinking(asked) => asked.seat,
            Phase::Starting | Phase::Drawing(_) | Phase::Ended => return Vec::new(),
        };
        let mut choosing = self.game.choosing();
        choosing.retain(|seat| *seat != now);
        choosing
    }

    /// Returns the request for one of [`Match::choosing_later`]: it is that of the later [`Effect::Ask`].
    pub fn request_later(&self, seat: Seat) -> Turn {
        let mut game = self.game.clone_box();
        game.choose_first(seat);
        let before = self.choosing_later().iter().take_while(|other| **other != seat).count();
        let turn = self.game.turn_number() + 1 + before as u64;
        Turn { turn, ..self.request(game.as_ref(), seat) }
    }

    /// Returns the earliest time that the next event may have.
    pub(super) fn earliest(&self, event: &Event) -> Nanos {
        match (event, &self.choice) {
            (Event::Turn(_), Some(choice)) => choice.began,
            _ => self.now,
        }
    }

    /// Returns the time at which the match goes on if the last of the seats that choose at once has chosen at this time.
    pub(super) fn end_of_choice(&self, at: Nanos) -> Nanos {
        self.choice.map_or(at, |choice| at.max(choice.latest))
    }

    /// Goes on when all seats that choose at once have chosen.
    pub(super) fn end_choice(&mut self) {
        self.now = self.end_of_choice(self.now);
        self.choice = None;
    }

    /// Whether the match is over.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// Returns the current state of the game.
    pub fn game(&self) -> &dyn AnyGame {
        self.game.as_ref()
    }

    /// Returns the header: what is played and by whom.
    pub fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn player(&mut self, seat: Seat) -> &mut Player {
        &mut self.players[seat.index()]
    }

    /// Returns the seats that are still in.
    pub(super) fn seats_in(&self) -> impl Iterator<Item = Seat> + use<'_> {
        Seat::all(self.players.len()).filter(|seat| self.fault_of(*seat).is_none())
    }

    /// Returns the seats that have not sent `ready` but still can.
    pub(super) fn unready(&self) -> impl Iterator<Item = Seat> + use<'_> {
        self.seats_in().filter(|seat| self.players[seat.index()].ready.is_none())
    }

    /// Whether what the seat does is no longer judged.
    pub(super) fn is_out(&self, seat: Seat) -> bool {
        self.phase == Phase::Ended || self.fault_of(seat).is_some()
    }

    /// Returns the number of the current turn or, between turns, of the next.
    pub(super) fn turn_number(&self) -> u64 {
        match &self.phase {
            Phase::Thinking(asked) => asked.turn,
            _ => self.game.turn_number(),
        }
    }

    pub(super) fn record(&mut self, event: Event) {
        if self.phase == Phase::Starting || self.over.is_some() {
            self.held.push(event);
        } else {
            self.effects.push(Effect::Record(event));
        }
    }

    /// Asks the next seat, or ends the match. Waits until every seat is ready or gone.
    pub(super) fn proceed(&mut self) {
        if self.phase == Phase::Ended {
            return;
        }
        if self.phase == Phase::Starting {
            if self.unready().next().is_some() {
                return;
            }
            self.write_header();
        }
        if !self.game.is_between_choices() {
            self.end_choice();
        }
        let seat = loop {
            if let Some(failure) = self.game.failure() {
                let text = format!("the rules failed in turn {}: {failure}", self.turn_number());
                return self.stop(RULES, text, None);
            }
            if let Some((result, reason)) = self.ends_after_choices
                && !self.game.is_between_choices()
            {
                return self.finish(result, reason, None, None);
            }
            match self.game.turn() {
                Move::Over(outcome) => return self.finish_by_rules(outcome),
                Move::Of(_) | Move::Chance(_)
                    if let Some(decision) = self.decides_after_choices
                        && !self.game.is_between_choices() =>
                {
                    return self.finish_by_scores(decision);
                }
                Move::Of(seat) => break seat,
                Move::Chance(chance) => {
                    let Some(seed) = &self.draws_from else {
                        self.phase = Phase::Drawing(chance);
                        return;
                    };
                    let outcome = drawer(seed)(self.game.draws(), &chance.weights);
                    self.draw(&chance, outcome);
                }
            }
            if self.phase == Phase::Ended {
                return;
            }
        };
        self.phase = Phase::Asking(seat);
        self.effects.push(self.ask(seat));
        if self.choice.is_none() && !self.game.together().is_empty() {
            self.choice = Some(ChoiceTimes { began: self.now, latest: self.now });
        }
    }

    /// Draws. What the rules make of it is a failure of theirs, if it is one.
    fn draw(&mut self, chance: &Chance, outcome: usize) {
        self.before_draws.push(self.game.clone_box());
        if let Err(refusal) = self.game.draw(outcome) {
            let text = format!("the rules failed at draw {outcome}: {refusal}");
            return self.stop(RULES, text, None);
        }
        let (turn, label) = (self.game.turn_number(), chance.label(outcome));
        let event = DrawnEvent { at_ns: self.now.0, turn, outcome, label: label.clone() };
        self.record(Event::Drawn(event));
        self.tell_move(ToAgent::Drawn(Drawn { turn, outcome, label }), turn, None);
    }

    /// Sends a message to all about the last move or, if seats know different things, to each what the rules tell it.
    pub(super) fn tell_move(&mut self, message: ToAgent, turn: u64, seat: Option<Seat>) {
        if !self.game.is_hidden() {
            return self.broadcast(message);
        }
        for to in Seat::all(self.players.len()) {
            let value = self.game.told(to);
            if !value.is_null() {
                self.untold.push(Effect::Send(to, ToAgent::Told(Told { turn, seat, value })));
            }
        }
        self.tell();
    }

    /// Sends a message to all.
    pub(super) fn broadcast(&mut self, message: ToAgent) {
        self.untold.push(Effect::Broadcast(message));
        self.tell();
    }

    /// Sends what there is to tell, but not before the last of several seats has chosen.
    fn tell(&mut self) {
        if !self.game.is_between_choices() {
            self.effects.append(&mut self.untold);
        }
    }

    /// Asks the program that has the rules what a line of an agent leads to, if it answers the current request, so
    /// that [`Match::step`] needn't wait for it. `None` if there is nothing to wait for.
    pub fn prepare(&self, seat: Seat, line: &[u8]) -> Option<Pending<()>> {
        self.game.kind().program().filter(|_| self.thinking() == Some(seat))?;
        match parse_line(line, None)?.ok()? {
            FromAgent::Action(it) => {
                self.game.prepare(&it.action, &drawer(self.draws_from.as_ref()?))
            }
            _ => None,
        }
    }

    /// Returns the request for the current turn.
    pub(super) fn ask(&self, seat: Seat) -> Effect {
        Effect::Ask(seat, self.request(self.game.as_ref(), seat))
    }

    fn request(&self, game: &dyn AnyGame, seat: Seat) -> Turn {
        let player = &self.players[seat.index()];
        let want = player.ready.as_ref().map_or(&[][..], |ready| &ready.want);
        request(game, seat, want, player.clock.left_ms())
    }

    /// Begins the transcript with the answers to `hello` and what happened until then.
    pub(super) fn write_header(&mut self) {
        for (seat, player) in self.header.seats.iter_mut().zip(&self.players) {
            seat.ready.clone_from(&player.ready);
        }
        self.effects.push(Effect::Record(Event::Header(Box::new(self.header.clone()))));
        self.effects.extend(self.held.drain(..).map(Effect::Record));
        self.phase = Phase::Asking(Seat(0));
    }

    fn asked(&mut self, seat: Seat, reading: Reading) {
        if self.phase != Phase::Asking(seat) {
            return;
        }
        if let Some(end) = self.player(seat).end.take() {
            return self.judge_end(seat, &end);
        }
        let turn = self.game.turn_number();
        let at = self.now;
        let pondered = self.pondered(seat, reading);
        let player = self.player(seat);
        player.charge_pondering(pondered);
        player.ran_frozen = Nanos(0);
        let left_ms = self.players[seat.index()].clock.left_ms();
        let pondered_ns = pondered.0;
        let (at_ns, together) = (at.0, self.game.together().to_vec());
        self.record(Event::Turn(TurnEvent { at_ns, turn, seat, left_ms, pondered_ns, together }));
        let spent = Spent::default();
        let (output, score) = (Output::default(), None);
        self.phase = Phase::Thinking(CurrentTurn {
            seat,
            turn,
            at,
            reading,
            spent,
            output,
            pondered,
            score,
        });
    }

    /// Whether CPU time is charged that an agent uses when it is not its turn.
    pub fn measures_pondering(&self) -> bool {
        self.header.sandbox.pondering == Some(Pondering::Measure)
    }

    /// Returns what a seat used since its last answer, if that is charged.
    fn pondered(&self, seat: Seat, reading: Reading) -> Nanos {
        let since = |before: Nanos| Some(reading.cpu?.since(before));
        let player = &self.players[seat.index()];
        let measured = player.cpu_at_answer.and_then(since).unwrap_or_default();
        measured.plus(player.ran_frozen)
    }

    /// Returns what is left in a seat's bank, in milliseconds, if it is asked now.
    pub fn left_ms(&self, seat: Seat, reading: Reading) -> Option<u64> {
        let mut clock = self.players[seat.index()].clock.clone();
        clock.charge_pondering(self.pondered(seat, reading));
        clock.left_ms()
    }

    fn exited(&mut self, seat: Seat, status: String, late: bool) {
        self.ended(seat, AgentEnd::Exited(status.clone()));
        let at_ns = self.now.0;
        self.record(Event::Exit(ExitEvent { at_ns, seat, status, late }));
    }
}
