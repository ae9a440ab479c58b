//! A match as people look at it: ply by ply, with what was said, complained of and used beside each.
//! It is built event by event, and doesn't care whether these come from a file or from a match that
//! is being played.

use super::walk::{NotPlayable, Walk};
use referee_games::view::View;
use referee_games::{AnyGame, Turn};
use referee_protocol::{
    Event, Fault, FaultKind, FromAgent, Header, Info, LineEvent, OverEvent, PlayedEvent, Seat,
    StderrEvent, TurnEvent, parse_from_agent, unescape_line,
};

/// A match to be looked at, as far as it has come.
#[derive(Debug)]
pub struct Playback {
    walk: Walk,
    plies: Vec<Ply>,
    asked: Option<TurnEvent>,
    /// What each seat has left, as far as is known.
    left_ms: Vec<Option<u64>>,
    /// What has come for the ply that isn't there yet.
    next: Beside,
    lines: u64,
    latest_ns: u64,
}

/// One step of a match: the start, an action, a seat that goes, the end.
#[derive(Clone, Debug)]
pub struct Ply {
    /// What happened.
    pub happening: Happening,
    /// The number of the turn in which it happened; at the start that of the first.
    pub turn: u64,
    /// The board after it.
    pub view: View,
    /// Who is to move after it; `None` once the rules have ended the game.
    pub to_move: Option<Seat>,
    /// Each seat's colour after it.
    pub colours: Vec<String>,
    /// What each seat has left after it, in milliseconds; `None` without a bank.
    pub left_ms: Vec<Option<u64>>,
    /// What came from the agents in that turn.
    pub beside: Beside,
}

/// What a ply is.
#[derive(Clone, Debug)]
pub enum Happening {
    /// The position that the match began with.
    Start,
    /// An action.
    Played {
        /// What was recorded of it.
        event: PlayedEvent,
        /// The action as people write it.
        text: String,
    },
    /// A seat went, and the others played on or not.
    Retired {
        /// Who.
        seat: Seat,
        /// Why.
        fault: Fault,
    },
    /// The match ended.
    Over(Box<OverEvent>),
}

/// What came from the agents, beside their action.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// What they said of their thoughts, in order.
    pub infos: Vec<(Seat, Info)>,
    /// What they wrote to their stderr, in order.
    pub stderr: Vec<StderrEvent>,
    /// All lines that came from them, in order.
    pub lines: Vec<LineEvent>,
    /// The last line of the transcript that belongs here, counted from 1, the header's.
    pub changed: u64,
}

impl Playback {
    /// A match of which only the header is known.
    pub fn begin(header: Header) -> Result<Self, NotPlayable> {
        let walk = Walk::begin(header)?;
        let header = walk.header();
        let left_ms = vec![header.clock.bank_ms; header.seats.len()];
        let next = Beside { changed: 1, ..Beside::default() };
        let plies = Vec::new();
        let mut playback = Self { walk, plies, asked: None, left_ms, next, lines: 1, latest_ns: 0 };
        let turn = playback.game().turn_number();
        playback.add(Happening::Start, turn);
        Ok(playback)
    }

    /// What the match is played under.
    pub fn header(&self) -> &Header {
        self.walk.header()
    }

    /// What has happened, the start first. There is always one.
    pub fn plies(&self) -> &[Ply] {
        &self.plies
    }

    /// The request that waits for its answer.
    pub fn asked(&self) -> Option<&TurnEvent> {
        self.asked.as_ref()
    }

    /// How it ended.
    pub fn over(&self) -> Option<&OverEvent> {
        self.plies.iter().rev().find_map(|ply| match &ply.happening {
            Happening::Over(over) => Some(over.as_ref()),
            _ => None,
        })
    }

    /// The game as it stands after the last ply.
    pub fn game(&self) -> &dyn AnyGame {
        self.walk.game()
    }

    /// The lines of the transcript that have been taken in, the header included.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// When the last of what has happened did, in nanoseconds since the match began.
    pub fn latest_ns(&self) -> u64 {
        self.latest_ns
    }

    /// The first ply that was made or changed by a line after this one, counted from 1.
    pub fn changed_since(&self, line: u64) -> usize {
        let changed = self.plies.iter().position(|ply| ply.beside.changed > line);
        changed.unwrap_or(self.plies.len())
    }

    /// Takes in the next event. One that doesn't fit those before it changes nothing here; an error
    /// says why, and nothing may follow.
    pub fn take(&mut self, event: &Event) -> Result<(), String> {
        self.walk.event(event)?;
        match event {
            Event::Turn(asked) => {
                self.left_ms[asked.seat.index()] = asked.left_ms;
                self.asked = Some(asked.clone());
            }
            Event::Played(played) => self.played(played),
            Event::Retired(retired) => {
                self.asked = self.asked.take().filter(|asked| asked.seat != retired.seat);
                self.run_out(retired.seat, &retired.fault);
                let (seat, fault) = (retired.seat, retired.fault.clone());
                self.add_next(Happening::Retired { seat, fault }, retired.turn);
            }
            Event::Over(over) => {
                self.asked = None;
                for seat in &over.verdict.seats {
                    if let Some(fault) = &seat.fault {
                        self.run_out(seat.seat, fault);
                    }
                }
                self.add_next(Happening::Over(over.clone()), self.game().turn_number());
            }
            Event::Line(line) => self.line(line),
            Event::Stderr(stderr) => self.stderr(stderr),
            Event::Header(_) | Event::Exit(_) | Event::Seal(_) | Event::Unknown => {}
        }
        self.latest_ns = self.latest_ns.max(at_ns(event));
        self.lines += 1;
        Ok(())
    }

    /// A seat that was late has nothing left.
    fn run_out(&mut self, seat: Seat, fault: &Fault) {
        if fault.kind == FaultKind::Late {
            let left = &mut self.left_ms[seat.index()];
            *left = left.map(|_| 0);
        }
    }

    fn played(&mut self, played: &PlayedEvent) {
        self.asked = None;
        let increment = self.header().clock.increment_ms;
        if let Some(left) = &mut self.left_ms[played.seat.index()] {
            *left = left.saturating_sub(played.used_ms).saturating_add(increment);
        }
        let text = self.game().format_action(&played.action);
        self.add_next(Happening::Played { event: played.clone(), text }, played.turn);
    }

    /// A line belongs to the turn that is asked; what comes when nobody is asked, to what follows.
    fn line(&mut self, line: &LineEvent) {
        let said = unescape_line(&line.line, line.escaped).filter(|_| !line.cut);
        let said = said.and_then(|bytes| parse_from_agent(&bytes).ok());
        let beside = self.current();
        if let Some(FromAgent::Info(info)) = said {
            beside.infos.push((line.seat, info));
        }
        beside.lines.push(line.clone());
    }

    /// Complaints are told with the turn in which they came, and are read later.
    fn stderr(&mut self, stderr: &StderrEvent) {
        let line = self.lines + 1;
        let ply = self
            .plies
            .iter_mut()
            .rev()
            .take_while(|ply| ply.turn >= stderr.turn)
            .find(|ply| ply.turn == stderr.turn && !matches!(ply.happening, Happening::Start));
        let beside = match ply {
            Some(ply) => &mut ply.beside,
            None => self.current(),
        };
        beside.changed = line;
        beside.stderr.push(stderr.clone());
    }

    /// Where what comes now belongs: the ply to come, or the last one if none will.
    fn current(&mut self) -> &mut Beside {
        let line = self.lines + 1;
        let beside = match self.plies.last_mut() {
            Some(last) if matches!(last.happening, Happening::Over(_)) => &mut last.beside,
            _ => &mut self.next,
        };
        beside.changed = line;
        beside
    }

    fn add_next(&mut self, happening: Happening, turn: u64) {
        self.next.changed = self.lines + 1;
        self.add(happening, turn);
    }

    fn add(&mut self, happening: Happening, turn: u64) {
        let to_move = match self.game().turn() {
            Turn::Of(seat) if !matches!(happening, Happening::Over(_)) => Some(seat),
            _ => None,
        };
        self.plies.push(Ply {
            happening,
            turn,
            view: self.game().view(),
            to_move,
            colours: self.game().current_colours(),
            left_ms: self.left_ms.clone(),
            beside: std::mem::take(&mut self.next),
        });
    }
}

/// When it happened; 0 for what has no time.
fn at_ns(event: &Event) -> u64 {
    match event {
        Event::Turn(event) => event.at_ns,
        Event::Line(event) => event.at_ns,
        Event::Played(event) => event.at_ns,
        Event::Stderr(event) => event.at_ns,
        Event::Retired(event) => event.at_ns,
        Event::Over(event) => event.at_ns,
        Event::Exit(event) => event.at_ns,
        Event::Header(_) | Event::Seal(_) | Event::Unknown => 0,
    }
}

impl Ply {
    /// Whose doing it is; nobody's at the start and at an end without a fault.
    pub fn seat(&self) -> Option<Seat> {
        match &self.happening {
            Happening::Played { event, .. } => Some(event.seat),
            Happening::Retired { seat, .. } => Some(*seat),
            Happening::Start | Happening::Over(_) => None,
        }
    }

    /// The fault that it shows first, and whose that is. The end shows those that brought it about;
    /// others have plies of their own.
    pub fn fault(&self) -> Option<(Seat, &Fault)> {
        match &self.happening {
            Happening::Retired { seat, fault } => Some((*seat, fault)),
            Happening::Over(over) => {
                let mut seats = over.verdict.seats.iter();
                let here = |fault: &&Fault| fault.turn == self.turn;
                seats.find_map(|seat| Some((seat.seat, seat.fault.as_ref().filter(here)?)))
            }
            Happening::Start | Happening::Played { .. } => None,
        }
    }
}
