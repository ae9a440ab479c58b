//! The match itself: its state, its inputs and effects, and the way from turn to turn.

use super::clock::{Clock, Reading, Spent};
use super::messages::{hello, request};
use referee_games::{AnyGame, Decoded, Turn as Move};
use referee_protocol::{
    ClockSettings, Event, ExitEvent, Fault, FaultKind, Header, Nanos, Outcome, Pondering, Ready,
    Seat, StderrEvent, ToAgent, Turn, TurnEvent, Verdict,
};

/// How long after the end of an agent's output its exit status is waited for, so that the fault can
/// tell how it ended.
pub(super) const STATUS_WAIT: Nanos = Nanos(200_000_000);

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// The request that [`Effect::Ask`] wanted is about to be written.
    Asked(Seat, Reading),
    /// A line came from an agent, without its end. `cut`: it is longer than `limits.line_bytes`,
    /// and this is its beginning.
    Line {
        /// From whom.
        seat: Seat,
        /// The bytes.
        line: &'a [u8],
        /// Only the beginning is there.
        cut: bool,
        /// The machine's state when the last byte was read.
        reading: Reading,
        /// What it means, where the agent speaks another protocol than the referee's own.
        meaning: Option<Decoded>,
    },
    /// An agent has written a line, which is about to be passed on. What came before it is judged, so
    /// that a codec that reads its lines knows whether they still count.
    LineArrived(Seat),
    /// A piece of an agent's stderr came.
    Stderr {
        /// From whom.
        seat: Seat,
        /// The text.
        text: String,
        /// How many bytes were left out before it.
        dropped_bytes: u64,
    },
    /// The agent's stdout ended, though its process may still run.
    StdoutClosed(Seat, Reading),
    /// The agent closed its stdin: a message could not be written.
    StdinClosed(Seat, Reading),
    /// The agent's process ended; all that it had written has been passed on before.
    Exited {
        /// Whose.
        seat: Seat,
        /// `exit status 1`, `signal 11 (SIGSEGV)`.
        status: String,
        /// It had to be killed at the end of the grace period.
        late: bool,
        /// The machine's state then.
        reading: Reading,
    },
    /// The machine found the agent at fault: its program could not be started, for a reason that
    /// lies with the program, or it passed a limit of memory or processes; what happened, in words.
    Fault(Seat, FaultKind, String, Reading),
    /// Time has passed; as [`Match::wake_at`] asked for.
    Tick(Reading),
    /// The match can't go on, through no fault of an agent: a cause such as `interrupted` or
    /// `disk_full`, and what happened in words.
    Stop {
        /// The cause.
        cause: &'static str,
        /// What happened.
        text: String,
    },
}

impl Input<'_> {
    /// The machine's state, where the input doesn't say itself what the clock makes of it.
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

/// Something to do about it.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send this to one seat, at the latest together with its next request.
    Send(Seat, ToAgent),
    /// Send this to every seat that has not been killed, at the latest together with its next
    /// request.
    Broadcast(ToAgent),
    /// As soon as the seat may think, say [`Input::Asked`] and write this, with all that was to be
    /// sent before. It replaces a request that is still waiting.
    Ask(Seat, Turn),
    /// Write this down.
    Record(Event),
    /// Kill the seat's processes, all of them.
    Kill(Seat),
    /// The match is over: close the agents' stdin, give them their grace period, seal.
    Finish(Box<Ending>),
}

/// How a match ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// What the rules say; `None` unless they ended the game.
    pub outcome: Option<Outcome>,
    /// What the match says.
    pub verdict: Verdict,
}

/// Where the match is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Phase {
    /// Not every seat is ready.
    Starting,
    /// This seat's request is on its way: it may have to wait for a core.
    Asking(Seat),
    /// This seat thinks.
    Thinking(Asked),
    /// Over.
    Ended,
}

/// A turn that is under way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) seat: Seat,
    pub(super) turn: u64,
    pub(super) at: Nanos,
    pub(super) reading: Reading,
    /// What the last reading said.
    pub(super) spent: Spent,
    /// Bytes of output since the request.
    pub(super) bytes: u64,
    /// What was charged for the time before the request.
    pub(super) pondered: Nanos,
}

/// One seat's state.
#[derive(Clone, Debug, Default)]
pub(super) struct Player {
    pub(super) ready: Option<Ready>,
    pub(super) clock: Clock,
    /// What it is out of the match for.
    pub(super) fault: Option<Fault>,
    pub(super) bytes: u64,
    pub(super) used: Nanos,
    pub(super) cpu: Nanos,
    pub(super) turns: u64,
    /// Its CPU time when it was last heard, where what it uses after that is charged.
    pub(super) heard: Option<Nanos>,
    /// Its output or input has ended, when, and in what words; its exit status is being waited for.
    pub(super) ending: Option<(Nanos, &'static str)>,
}

impl Player {
    /// A turn is finished; what the clock counted of it.
    pub(super) fn charge(&mut self, spent: &Spent, settings: &ClockSettings) -> Nanos {
        let charged = spent.charged(settings.kind);
        self.clock.charge(charged, settings);
        self.used = self.used.plus(charged);
        self.cpu = self.cpu.plus(spent.cpu.unwrap_or_default());
        self.turns += 1;
        charged
    }

    /// A turn begins, and this was used since the one before.
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
    /// Seats that are out, in that order.
    pub(super) gone: Vec<Seat>,
    /// Events from before the header, which waits until every seat is ready.
    held: Vec<Event>,
    pub(super) effects: Vec<Effect>,
    pub(super) now: Nanos,
    /// The referee's lag as it was last seen before the first turn.
    pub(super) start_lag: Nanos,
}

impl Match {
    /// Begins a match at time zero: every seat is greeted. `header` says what is played and by
    /// whom; `ready` of each seat is filled in as the agents answer.
    pub fn begin(game: Box<dyn AnyGame>, header: Header) -> (Self, Vec<Effect>) {
        let player = Player { clock: Clock::new(&header.clock), ..Player::default() };
        let mut begun = Self {
            players: vec![player; game.seats()],
            game,
            header,
            phase: Phase::Starting,
            gone: Vec::new(),
            held: Vec::new(),
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

    /// Takes in what happened at time `at`, and appends what to do about it to `effects`. Times
    /// never run backwards: an input that is stamped before the one before it counts as
    /// simultaneous with it.
    ///
    /// What the clock decides comes first where its moment came first: what is due by
    /// [`Match::wake_at`] is decided before the input is.
    pub fn step(&mut self, at: Nanos, input: Input<'_>, effects: &mut impl Extend<Effect>) {
        self.now = self.now.max(at);
        if let Some(reading) = input.reading_before()
            && self.wake_at().is_some_and(|due| due <= self.now)
        {
            self.tick(reading);
        }
        match input {
            Input::Exited { seat, status, late, .. } => self.exited(seat, status, late),
            Input::Stderr { seat, text, dropped_bytes } => {
                let turn = self.turn_number();
                let at_ns = self.now.0;
                let event = StderrEvent { at_ns, seat, turn, text, dropped_bytes };
                self.record(Event::Stderr(event));
            }
            _ if self.phase == Phase::Ended => {}
            Input::Asked(seat, reading) => self.asked(seat, reading),
            Input::LineArrived(seat) => self.settle_endings(Some(seat)),
            Input::Line { seat, line, cut, reading, meaning } => {
                self.line(seat, line, cut, reading, meaning);
            }
            Input::StdoutClosed(seat, _) => self.ended(seat, "closed its stdout"),
            Input::StdinClosed(seat, _) => self.ended(seat, "closed its stdin"),
            Input::Fault(seat, kind, text, _) => self.found(seat, kind, text),
            Input::Tick(reading) => self.tick(reading),
            Input::Stop { cause, text } => self.stop(cause, text),
        }
        effects.extend(self.effects.drain(..));
    }

    /// When to say [`Input::Tick`] next, if nothing else happens.
    pub fn wake_at(&self) -> Option<Nanos> {
        let clock = match &self.phase {
            // One more nanosecond, because exactly the limit is in time.
            Phase::Starting => self.unready().next().map(|_| {
                Nanos::from_ms(self.header.clock.start_ms).plus(self.start_lag).plus(Nanos(1))
            }),
            // What has ended is late no more.
            Phase::Thinking(asked) => {
                let player = &self.players[asked.seat.index()];
                let again = || player.clock.look_again(asked.at, &asked.spent, &self.header.clock);
                player.ending.is_none().then(again)
            }
            Phase::Asking(_) | Phase::Ended => None,
        };
        clock.into_iter().chain(self.ending_at()).min()
    }

    /// The seat that is thinking, if one is.
    pub fn thinking(&self) -> Option<Seat> {
        match &self.phase {
            Phase::Thinking(asked) => Some(asked.seat),
            _ => None,
        }
    }

    /// The fault that a seat is out for.
    pub fn fault_of(&self, seat: Seat) -> Option<&Fault> {
        self.players[seat.index()].fault.as_ref()
    }

    /// The game as it stands.
    pub fn game(&self) -> &dyn AnyGame {
        self.game.as_ref()
    }

    /// What is played and by whom.
    pub fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn player(&mut self, seat: Seat) -> &mut Player {
        &mut self.players[seat.index()]
    }

    /// The seats that have not gone.
    pub(super) fn seats_in(&self) -> impl Iterator<Item = Seat> + use<'_> {
        Seat::all(self.players.len()).filter(|seat| self.fault_of(*seat).is_none())
    }

    /// The seats that are still to say `ready`, and still can.
    pub(super) fn unready(&self) -> impl Iterator<Item = Seat> + use<'_> {
        self.seats_in().filter(|seat| {
            let player = &self.players[seat.index()];
            player.ready.is_none() && player.ending.is_none()
        })
    }

    /// Nothing that the seat does matters any more.
    pub(super) fn is_out(&self, seat: Seat) -> bool {
        self.phase == Phase::Ended || self.fault_of(seat).is_some()
    }

    /// The turn that is under way, or the one to come.
    pub(super) fn turn_number(&self) -> u64 {
        match &self.phase {
            Phase::Thinking(asked) => asked.turn,
            _ => self.game.turn_number(),
        }
    }

    pub(super) fn record(&mut self, event: Event) {
        if self.phase == Phase::Starting {
            self.held.push(event);
        } else {
            self.effects.push(Effect::Record(event));
        }
    }

    /// Goes on to the next request, or to the end, once every seat is ready or gone.
    pub(super) fn proceed(&mut self) {
        if self.phase == Phase::Ended {
            return;
        }
        if self.phase == Phase::Starting {
            if self.seats_in().any(|seat| self.players[seat.index()].ready.is_none()) {
                return;
            }
            self.write_header();
        }
        let seat = match self.game.turn() {
            Move::Over(outcome) => return self.finish_by_rules(outcome),
            Move::Of(seat) => seat,
        };
        self.phase = Phase::Asking(seat);
        self.effects.push(self.ask(seat));
    }

    /// The request for the turn that the game has come to.
    pub(super) fn ask(&self, seat: Seat) -> Effect {
        let player = &self.players[seat.index()];
        let want = player.ready.as_ref().map_or(&[][..], |ready| &ready.want);
        Effect::Ask(seat, request(self.game.as_ref(), want, player.clock.left_ms()))
    }

    /// The transcript begins: with who answered what to `hello`, and then all that happened before.
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
        let turn = self.game.turn_number();
        let at = self.now;
        let pondered = self.pondered(seat, reading);
        self.player(seat).charge_pondering(pondered);
        let left_ms = self.players[seat.index()].clock.left_ms();
        let pondered_ns = pondered.0;
        self.record(Event::Turn(TurnEvent { at_ns: at.0, turn, seat, left_ms, pondered_ns }));
        let spent = Spent::default();
        self.phase = Phase::Thinking(Asked { seat, turn, at, reading, spent, bytes: 0, pondered });
    }

    /// Whether CPU time counts that an agent uses while it isn't asked.
    pub fn measures_pondering(&self) -> bool {
        self.header.sandbox.pondering == Some(Pondering::Measure)
    }

    /// What a seat has to pay for that is asked now: all since it was last heard.
    fn pondered(&self, seat: Seat, reading: Reading) -> Nanos {
        let since_heard = |heard: Nanos| Some(reading.cpu?.since(heard));
        self.players[seat.index()].heard.and_then(since_heard).unwrap_or_default()
    }

    /// What the bank of a seat will hold, in milliseconds, if it is asked now.
    pub fn left_ms(&self, seat: Seat, reading: Reading) -> Option<u64> {
        let mut clock = self.players[seat.index()].clock.clone();
        clock.charge_pondering(self.pondered(seat, reading));
        clock.left_ms()
    }

    fn exited(&mut self, seat: Seat, status: String, late: bool) {
        self.settle_endings(Some(seat));
        if !self.is_out(seat) {
            self.exit_fault(seat, &status);
        }
        let at_ns = self.now.0;
        self.record(Event::Exit(ExitEvent { at_ns, seat, status, late }));
    }

    /// The agent's output or input has ended: a fault, but one that can be told better with the
    /// exit status, which follows in a moment if the process ended too.
    fn ended(&mut self, seat: Seat, how: &'static str) {
        self.settle_endings(Some(seat));
        if !self.is_out(seat) && self.players[seat.index()].ending.is_none() {
            self.player(seat).ending = Some((self.now, how));
        }
    }

    /// When the end of an agent's output or input is judged, if its exit status has not come by then.
    pub fn ending_at(&self) -> Option<Nanos> {
        let due = |player: &Player| Some(player.ending?.0.plus(STATUS_WAIT));
        if self.phase == Phase::Ended {
            return None;
        }
        self.players.iter().filter(|player| player.fault.is_none()).filter_map(due).min()
    }

    /// Judges endings that came before what happens now, but for that of `except`: what happens is
    /// its own doing, and may say why it ended.
    pub(super) fn settle_endings(&mut self, except: Option<Seat>) {
        let due: Vec<(Seat, (Nanos, &'static str))> = self
            .seats_in()
            .filter(|&seat| Some(seat) != except)
            .filter_map(|seat| Some((seat, self.players[seat.index()].ending?)))
            .collect();
        debug_assert!(due.len() <= 1, "an ending settles those before it");
        for (seat, ending) in due {
            if !self.is_out(seat) {
                self.ended_fault(seat, ending);
            }
        }
    }
}
