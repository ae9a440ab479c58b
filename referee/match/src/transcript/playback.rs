//! A match for viewers: ply by ply, with the output of the agents and their times. Built event by
//! event, from a whole file or from a running match.

use super::implied::time_and_seat;
use super::walk::Walk;
use referee_games::board::Cell;
use referee_games::view::View;
use referee_games::{AnyGame, Games, Refusal, Turn};
use referee_protocol::{
    DrawnEvent, Event, Fault, FromAgent, Header, Info, LineEvent, OverEvent, PlayedEvent, Seat,
    StderrEvent, TurnEvent, parse_from_agent, unescape_line,
};
use serde_json::Value;

/// How much of what agents expect (`pv`) is read: each action is played.
#[derive(Clone, Copy, Debug)]
struct PvBounds {
    /// The most actions of one.
    actions: usize,
    /// Of how many of the last `info` messages of a ply it is read.
    infos: usize,
    /// The most actions of all in a match that are still to be read.
    left: usize,
}

/// As many `info` messages as are shown, and in all more actions than honest agents send.
const PV: PvBounds = PvBounds { actions: 40, infos: 50, left: 100_000 };
/// Where a program has the rules, it is asked for each action, which takes a millisecond or more.
const ASKED_PV: PvBounds = PvBounds { actions: 8, infos: 1, left: 300 };

/// A match to view, as far as it has been played.
#[derive(Debug)]
pub struct Playback {
    walk: Walk,
    plies: Vec<Ply>,
    asked: Option<TurnEvent>,
    /// The output for the next ply.
    next: PlyOutput,
    /// The game before the next ply, if an agent has sent `info` there.
    before: Option<Box<dyn AnyGame>>,
    /// How much of each `pv` is still read.
    pv: PvBounds,
    lines: u64,
    latest_ns: u64,
}

/// One step of a match: the start, an action, a seat that leaves, the end.
#[derive(Clone, Debug)]
pub struct Ply {
    /// What happened.
    pub kind: PlyKind,
    /// The number of its turn; at the start that of the first.
    pub turn: u64,
    /// The board after it.
    pub view: View,
    /// The seat to move after it; `None` when the rules have ended the game.
    pub to_move: Option<Seat>,
    /// Each seat's colour after it.
    pub colours: Vec<String>,
    /// The time that each seat has left after it, in milliseconds; `None` without a bank.
    pub left_ms: Vec<Option<u64>>,
    /// The agents' output in that turn.
    pub output: PlyOutput,
}

/// The kind of a ply.
#[derive(Clone, Debug)]
pub enum PlyKind {
    /// The initial position.
    Start,
    /// An action.
    Played {
        /// Its event.
        event: PlayedEvent,
        /// The action as people write it.
        text: String,
    },
    /// The referee drew.
    Drawn(DrawnEvent),
    /// A seat left.
    Retired {
        /// The seat.
        seat: Seat,
        /// Why it left.
        fault: Fault,
    },
    /// The match ended.
    Over(Box<OverEvent>),
}

/// An `info` message of an agent. It is read when it is shown: as values it takes many times the memory of its line.
#[derive(Clone, Debug)]
pub struct SentInfo {
    /// Its index in the lines of the ply.
    pub line: usize,
    /// For each action of its `pv`, the cells that the board marks after it; none if it isn't among the last of its ply.
    pub pv: Vec<Vec<Cell>>,
}

/// The agents' output in one ply.
#[derive(Clone, Debug, Default)]
pub struct PlyOutput {
    /// Their `info` messages, in order.
    pub infos: Vec<SentInfo>,
    /// Their stderr, in order.
    pub stderr: Vec<StderrEvent>,
    /// All their lines, in order.
    pub lines: Vec<LineEvent>,
    /// The last line of the transcript that belongs to the ply, counted from 1, the header.
    pub changed: u64,
}

impl PlyOutput {
    /// Reads an `info` message of this ply; returns the seat and the message.
    pub fn info(&self, sent: &SentInfo) -> Option<(Seat, Info)> {
        let line = self.lines.get(sent.line)?;
        Some((line.seat, info_in(line)?))
    }
}

/// Returns the `info` message in a line.
fn info_in(line: &LineEvent) -> Option<Info> {
    let bytes = unescape_line(&line.line, line.escaped).filter(|_| !line.cut)?;
    match parse_from_agent(&bytes) {
        Ok(FromAgent::Info(info)) => Some(info),
        _ => None,
    }
}

impl Playback {
    /// Begins with the header.
    pub fn begin(header: Header, games: &Games) -> Result<Self, String> {
        let walk = Walk::begin(header, games)?;
        let next = PlyOutput { changed: 1, ..PlyOutput::default() };
        let is_asked = walk.game().kind().program().is_some();
        let pv = if is_asked { ASKED_PV } else { PV };
        let mut playback = Self {
            walk,
            plies: Vec::new(),
            asked: None,
            next,
            before: None,
            pv,
            lines: 1,
            latest_ns: 0,
        };
        let turn = playback.game().turn_number();
        playback.add(PlyKind::Start, turn);
        Ok(playback)
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        self.walk.header()
    }

    /// Returns the seat as which it is shown; `None` if everything is shown.
    pub fn viewer(&self) -> Option<Seat> {
        self.walk.viewer
    }

    /// Replaces the players' names, in seat order.
    pub fn rename(&mut self, names: &[String]) {
        self.walk.rename(names);
    }

    /// Returns the plies, the start first.
    pub fn plies(&self) -> &[Ply] {
        &self.plies
    }

    /// Returns the index of the last ply other than the end. The end changes nothing on the board, so
    /// viewers show it together with this ply.
    pub fn last(&self) -> usize {
        let end = matches!(self.plies.last(), Some(Ply { kind: PlyKind::Over(_), .. }));
        self.plies.len() - 1 - usize::from(end)
    }

    /// Returns the request that waits for an answer.
    pub fn asked(&self) -> Option<&TurnEvent> {
        self.asked.as_ref()
    }

    /// Returns how it ended.
    pub fn over(&self) -> Option<&OverEvent> {
        self.plies.iter().rev().find_map(|ply| match &ply.kind {
            PlyKind::Over(over) => Some(over.as_ref()),
            _ => None,
        })
    }

    /// Returns the game after the last ply.
    pub fn game(&self) -> &dyn AnyGame {
        self.walk.game()
    }

    /// Returns how many lines of the transcript have been read, with the header.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns the time of the last event, in nanoseconds since the match began.
    pub fn latest_ns(&self) -> u64 {
        self.latest_ns
    }

    /// Returns the first ply that was added or changed after this line, counted from 1.
    pub fn changed_since(&self, line: u64) -> usize {
        let changed = self.plies.iter().position(|ply| ply.output.changed > line);
        changed.unwrap_or(self.plies.len())
    }

    /// Adds the next event. One that breaks the rules is an error and changes nothing; don't call it
    /// again after one.
    pub fn take(&mut self, event: &Event) -> Result<(), String> {
        self.walk.event(event)?;
        match event {
            Event::Turn(asked) => self.asked = Some(asked.clone()),
            Event::Played(played) => self.played(played),
            Event::Drawn(drawn) => {
                let drawn = DrawnEvent { label: self.walk.draw_text(drawn), ..drawn.clone() };
                let turn = drawn.turn;
                self.add_next(PlyKind::Drawn(drawn), turn);
            }
            Event::Retired(retired) => {
                self.asked = self.asked.take().filter(|asked| asked.seat != retired.seat);
                let (seat, fault) = (retired.seat, retired.fault.clone());
                self.add_next(PlyKind::Retired { seat, fault }, retired.turn);
            }
            Event::Over(over) => {
                self.asked = None;
                self.add_next(PlyKind::Over(over.clone()), self.game().turn_number());
            }
            Event::Line(line) if !self.walk.hides(line.seat) => self.line(line),
            Event::Stderr(stderr) if !self.walk.hides(stderr.seat) => self.stderr(stderr),
            Event::Line(_)
            | Event::Stderr(_)
            | Event::Header(_)
            | Event::Exit(_)
            | Event::Seal(_)
            | Event::Unknown => {}
        }
        self.latest_ns = self.latest_ns.max(time_and_seat(event).map_or(0, |(at_ns, _)| at_ns));
        self.lines += 1;
        Ok(())
    }

    /// Adds an action, or the outcome of a draw, that was not recorded, as a ply without times: what if it had been
    /// played. Recorded events can't follow.
    pub fn play_unrecorded(&mut self, text: &str) -> Result<(), String> {
        let turn = self.game().turn_number();
        let refused = |refusal: Refusal| refusal.to_string();
        let seat = match self.game().turn() {
            Turn::Of(seat) => seat,
            Turn::Over(_) => return Err("the game is over".to_owned()),
            Turn::Chance(chance) => {
                let outcome = chance.find(text)?;
                self.walk.draw_unrecorded(outcome).map_err(refused)?;
                let event = DrawnEvent { at_ns: 0, turn, outcome, label: chance.label(outcome) };
                self.add(PlyKind::Drawn(event), turn);
                return Ok(());
            }
        };
        let action = self.game().parse_action(text)?;
        let action = self.walk.play_unrecorded(&action).map_err(refused)?;
        let text = self.game().format_action(&action);
        let event = PlayedEvent::untimed(turn, seat, action.into());
        self.add(PlyKind::Played { event, text }, turn);
        Ok(())
    }

    fn played(&mut self, played: &PlayedEvent) {
        self.asked = None;
        let text = self.walk.action_text(played.seat, &played.action.value());
        self.add_next(PlyKind::Played { event: played.clone(), text }, played.turn);
    }

    /// A line belongs to the current turn or, between turns, to the next.
    fn line(&mut self, line: &LineEvent) {
        let is_info = info_in(line).is_some();
        if is_info && self.before.is_none() {
            self.before = Some(self.game().clone_box());
        }
        let output = self.current();
        let index = output.lines.len();
        output.infos.extend(is_info.then(|| SentInfo { line: index, pv: Vec::new() }));
        output.lines.push(line.clone());
    }

    /// Takes the output for the next ply, and reads each `pv` that is shown.
    fn take_output(&mut self) -> PlyOutput {
        let mut output = std::mem::take(&mut self.next);
        let Some(game) = self.before.take() else { return output };
        let first = output.infos.len().saturating_sub(self.pv.infos);
        for index in first..output.infos.len() {
            if let Some((_, info)) = output.info(&output.infos[index]) {
                output.infos[index].pv = expected(game.as_ref(), &info, &mut self.pv);
            }
        }
        output
    }

    /// Adds stderr to the turn in which it came, which may be before the current one.
    fn stderr(&mut self, stderr: &StderrEvent) {
        let line = self.lines + 1;
        let ply = self
            .plies
            .iter_mut()
            .rev()
            .take_while(|ply| ply.turn >= stderr.turn)
            .find(|ply| ply.turn == stderr.turn && !matches!(ply.kind, PlyKind::Start));
        let output = match ply {
            Some(ply) => &mut ply.output,
            None => self.current(),
        };
        output.changed = line;
        output.stderr.push(stderr.clone());
    }

    /// Returns where new output belongs: to the next ply or, after the end, to the last.
    fn current(&mut self) -> &mut PlyOutput {
        let line = self.lines + 1;
        let output = match self.plies.last_mut() {
            Some(last) if matches!(last.kind, PlyKind::Over(_)) => &mut last.output,
            _ => &mut self.next,
        };
        output.changed = line;
        output
    }

    fn add_next(&mut self, kind: PlyKind, turn: u64) {
        self.next.changed = self.lines + 1;
        self.add(kind, turn);
    }

    fn add(&mut self, kind: PlyKind, turn: u64) {
        let to_move = match self.game().turn() {
            Turn::Of(seat) if !matches!(kind, PlyKind::Over(_)) => Some(seat),
            _ => None,
        };
        let output = self.take_output();
        self.plies.push(Ply {
            kind,
            turn,
            view: self.walk.view(),
            to_move,
            colours: self.game().current_colours(),
            left_ms: self.walk.left_ms(),
            output,
        });
    }
}

impl Ply {
    /// Returns the seat that acted; `None` at the start and the end.
    pub fn seat(&self) -> Option<Seat> {
        match &self.kind {
            PlyKind::Played { event, .. } => Some(event.seat),
            PlyKind::Retired { seat, .. } => Some(*seat),
            PlyKind::Start | PlyKind::Drawn(_) | PlyKind::Over(_) => None,
        }
    }

    /// Returns the first fault of the ply and its seat. The end has the faults that caused it; others
    /// have plies of their own.
    pub fn fault(&self) -> Option<(Seat, &Fault)> {
        match &self.kind {
            PlyKind::Retired { seat, fault } => Some((*seat, fault)),
            PlyKind::Over(over) => {
                let mut seats = over.verdict.seats.iter();
                let here = |fault: &&Fault| fault.turn == self.turn;
                seats.find_map(|seat| Some((seat.seat, seat.fault.as_ref().filter(here)?)))
            }
            PlyKind::Start | PlyKind::Played { .. } | PlyKind::Drawn(_) => None,
        }
    }
}

/// Returns the cells of the actions that an agent expects, up to the first that is not legal, and no more than are left.
fn expected(game: &dyn AnyGame, info: &Info, bounds: &mut PvBounds) -> Vec<Vec<Cell>> {
    let Some(actions) = info.0.get("pv").and_then(Value::as_array) else { return Vec::new() };
    let mut game = game.clone_box();
    let cells = |action: &Value| {
        bounds.left = bounds.left.checked_sub(1)?;
        game.play(action).is_ok().then(|| game.view().last)
    };
    actions.iter().take(bounds.actions).map_while(cells).collect()
}
