//! The walk over a recorded match: checks each event against the header, the rules and the events
//! before it, and replays the game. All readers of matches are built on it, whether their events come
//! from a whole file or from a growing one.

use super::timing::{PlayedTimes, Timing};
use crate::adjudicator::{Adjudicator, Decision};
use crate::places::places;
use crate::summary::LAST_SEAT;
use referee_games::{AnyGame, Refusal, Turn, kind, nearest_kind};
use referee_protocol::{
    Event, Fault, FaultKind, Header, OnFault, Outcome, OverEvent, PlayedEvent, Result as Ending,
    RetiredEvent, Seat, TurnEvent, Verdict,
};
use serde_json::Value;
use std::fmt::Debug;

/// A recorded match, replayed up to some event.
#[derive(Debug)]
pub struct Walk {
    header: Header,
    game: Box<dyn AnyGame>,
    /// The others play on when a seat leaves: three or more seats, and `on_fault` "retire".
    plays_on: bool,
    /// The seat to move; `None` when the match has ended.
    to_move: Option<Seat>,
    /// The number of the turn.
    turn: u64,
    /// The outcome, when the rules have ended the game.
    outcome: Option<Outcome>,
    adjudicator: Adjudicator,
    /// What the agents' scores have decided.
    decision: Option<Decision>,
    /// The seats that left, and why, in order.
    gone: Vec<(Seat, Fault)>,
    timing: Timing,
    /// The turns played.
    played: u64,
    is_over: bool,
}

impl Walk {
    /// Begins with the header. Fails if the game is unknown, or can't be started with the setup and the
    /// seats in the header.
    pub fn begin(header: Header) -> Result<Self, String> {
        let kind = kind(&header.game).ok_or_else(|| {
            let hint =
                nearest_kind(&header.game).map(|kind| format!("; did you mean `{}`?", kind.name));
            format!("unknown game `{}`{}", header.game, hint.unwrap_or_default())
        })?;
        let game = kind.start(&header.setup).map_err(|error| error.to_string())?;
        let seats = game.seats();
        let listed = header.seats.iter().map(|seat| seat.seat);
        if !listed.eq(Seat::all(seats)) {
            return Err(format!("the header must list the seats 0 to {}, in order", seats - 1));
        }
        let mut walk = Self {
            timing: Timing::begin(&header),
            adjudicator: Adjudicator::new(&header),
            decision: None,
            game,
            plays_on: seats > 2 && header.on_fault == OnFault::Retire,
            header,
            to_move: None,
            turn: 0,
            outcome: None,
            gone: Vec::new(),
            played: 0,
            is_over: false,
        };
        walk.update_turn();
        Ok(walk)
    }

    /// Returns the header. It lists the game's seats, in order.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Replaces the players' names, in seat order.
    pub fn rename(&mut self, names: &[String]) {
        for (seat, name) in self.header.seats.iter_mut().zip(names) {
            seat.name.clone_from(name);
        }
    }

    /// Returns the game after the last event, without the seats that left if the others play on.
    pub fn game(&self) -> &dyn AnyGame {
        self.game.as_ref()
    }

    /// Replays the next event. An error says what is wrong with it; don't call it again after one.
    pub fn event(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Header(_) => Err("a second header".to_owned()),
            Event::Turn(event) => self.turn(event),
            Event::Played(event) => {
                let PlayedEvent { at_ns, used_ms, wall_ns, cpu_ns, lag_ns, .. } = *event;
                let times = PlayedTimes { at_ns, used_ms, wall_ns, cpu_ns, lag_ns };
                let turn = (event.turn, event.seat);
                self.played(turn, event.action.as_str(), event.score, &times)
            }
            Event::Retired(event) => self.retired(event),
            Event::Over(event) => self.over(event),
            Event::Line(event) => self.line_from(event.seat, event.at_ns),
            Event::Stderr(event) => self.output_from(event.seat),
            Event::Exit(event) => self.output_from(event.seat),
            Event::Seal(_) | Event::Unknown => Ok(()),
        }
    }

    /// Returns the number of turns played so far.
    pub(super) fn turns(&self) -> u64 {
        self.played
    }

    /// Returns the outcome, when the rules have ended the game.
    pub(super) fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Checks a request.
    pub(super) fn turn(&mut self, event: &TurnEvent) -> Result<(), String> {
        self.to_move(event.turn, event.seat)?;
        self.timing.at(event.at_ns)?;
        self.timing.asked(event)
    }

    /// Checks that a turn is the next and a seat's.
    fn to_move(&self, turn: u64, seat: Seat) -> Result<(), String> {
        let to_move = self.to_move.ok_or_else(|| self.ended("so no seat is asked"))?;
        if seat == to_move && turn == self.turn {
            return Ok(());
        }
        let (number, moves) = (self.turn, to_move);
        Err(format!(
            "it says turn {turn} and seat {seat}, but by the rules it is turn {number} and seat {moves}"
        ))
    }

    /// Plays an action, given as text, with the score that the agent gave.
    pub(super) fn played(
        &mut self,
        (turn, seat): (u64, Seat),
        action: &str,
        score: Option<f64>,
        times: &PlayedTimes,
    ) -> Result<(), String> {
        self.to_move(turn, seat)?;
        self.game.play_json(action).map_err(|refusal| match refusal {
            Refusal::Malformed(text) => format!("turn {turn}: the action can't be read: {text}"),
            Refusal::Illegal(rule) => format!("turn {turn}: the action is not legal: {rule}"),
        })?;
        self.played += 1;
        self.update_turn();
        self.decision =
            self.adjudicator.count(seat, turn, score).filter(|_| self.outcome.is_none());
        if self.decision.is_some() {
            self.to_move = None;
        }
        self.timing.at(times.at_ns)?;
        self.timing.played(turn, times)
    }

    /// Plays an action that was not recorded, and returns it completed; times don't change. The end of the
    /// match doesn't matter, only the rules.
    pub(super) fn play_unrecorded(&mut self, action: &Value) -> Result<Value, Refusal> {
        let completed = self.game.play(action)?;
        self.played += 1;
        self.update_turn();
        Ok(completed)
    }

    /// Checks a line of a seat's agent, which changes nothing.
    pub(super) fn line_from(&mut self, seat: Seat, at_ns: u64) -> Result<(), String> {
        self.output_from(seat)?;
        self.timing.at(at_ns)?;
        self.timing.line(seat);
        Ok(())
    }

    /// Checks other output of a seat's agent, which changes nothing.
    pub(super) fn output_from(&self, seat: Seat) -> Result<(), String> {
        if seat.index() < self.header.seats.len() {
            return Ok(());
        }
        Err(format!("there is no seat {seat}"))
    }

    /// Retires a seat.
    fn retired(&mut self, event: &RetiredEvent) -> Result<(), String> {
        let seat = event.seat;
        if self.to_move.is_none() {
            return Err(self.ended("so no seat is retired"));
        }
        self.output_from(seat)?;
        if self.gone.iter().any(|(other, _)| *other == seat) {
            return Err(format!("seat {seat} is retired a second time"));
        }
        if event.turn != self.turn {
            let (recorded, number) = (event.turn, self.turn);
            return Err(format!("it says turn {recorded}, but by the rules it is turn {number}"));
        }
        self.timing.at(event.at_ns)?;
        self.timing.fault(seat, &event.fault)?;
        self.gone.push((seat, event.fault.clone()));
        let seats = self.header.seats.len();
        if seats > 2 {
            self.game.retire(seat);
        }
        if self.plays_on && seats - self.gone.len() > 1 {
            self.update_turn();
        } else {
            self.to_move = None;
        }
        Ok(())
    }

    /// Ends the match; checks outcome and verdict.
    fn over(&mut self, event: &OverEvent) -> Result<(), String> {
        if std::mem::replace(&mut self.is_over, true) {
            return Err("a second `over`".to_owned());
        }
        let verdict = &event.verdict;
        same("seats of the verdict", &self.game.seats(), &verdict.seats.len())?;
        for (wanted, seat) in Seat::all(verdict.seats.len()).zip(&verdict.seats) {
            same("seat of the verdict's list", &wanted, &seat.seat)?;
        }
        if verdict.result == Ending::Void {
            self.void(event)?;
            return self.times(event, None);
        }
        if verdict.void.is_some() {
            return Err("the verdict has a `void` note but isn't void".to_owned());
        }
        let unrecorded = self.faults(verdict)?;
        let (result, reason) = self.ending()?;
        same("result", &result, &verdict.result)?;
        same("reason", &reason, &verdict.reason)?;
        same("outcome", &self.outcome, &event.outcome)?;
        let gone: Vec<Seat> = self.gone.iter().map(|(seat, _)| *seat).collect();
        let wanted = match self.decision {
            Some(decision) => decision.places(),
            None => places(self.game.seats(), self.outcome.as_ref(), &gone),
        };
        same("places", &Some(wanted), &verdict.places)?;
        self.to_move = None;
        self.times(event, unrecorded)
    }

    /// Checks the times of the end: of its fault, if only the verdict has it, and the totals.
    fn times(&mut self, event: &OverEvent, fault: Option<Seat>) -> Result<(), String> {
        self.timing.at(event.at_ns)?;
        let seats = &event.verdict.seats;
        for fault in seats.iter().filter(|seat| Some(seat.seat) == fault) {
            fault.fault.iter().try_for_each(|it| self.timing.fault(fault.seat, it))?;
        }
        seats.iter().try_for_each(|seat| self.timing.totals(seat))
    }

    /// Checks what must be true at the end of a whole transcript.
    pub(super) fn finish(&self) -> Result<(), String> {
        if self.is_over { Ok(()) } else { Err("there is no `over` event".to_owned()) }
    }

    /// Updates the seat to move from the game.
    fn update_turn(&mut self) {
        self.turn = self.game.turn_number();
        self.to_move = match self.game.turn() {
            Turn::Of(seat) => Some(seat),
            Turn::Over(outcome) => {
                self.outcome = Some(outcome);
                None
            }
        };
    }

    fn ended(&self, consequence: &str) -> String {
        match (&self.outcome, self.is_over || self.decision.is_some()) {
            (_, true) => format!("the match is over, {consequence}"),
            (Some(outcome), false) => {
                format!("the game has ended (`{}`), {consequence}", outcome.reason)
            }
            (None, false) => format!("the match ended when a seat left, {consequence}"),
        }
    }

    /// Checks the end of a void match, which can come at any time. It has no places.
    fn void(&mut self, event: &OverEvent) -> Result<(), String> {
        let verdict = &event.verdict;
        let note = verdict.void.as_ref().ok_or("a void verdict must have a `void` note")?;
        same("reason", &note.cause, &verdict.reason)?;
        same("places", &None, &verdict.places)?;
        if let Some(seat) = note.seat {
            let seats = &self.header.seats;
            let at =
                seats.get(seat.index()).ok_or("the `void` note names a seat that there is not")?;
            if at.no_void {
                return Err(format!("seat {seat} may not make the match void"));
            }
        }
        if event.outcome.is_some() {
            same("outcome", &self.outcome, &event.outcome)?;
        }
        self.to_move = None;
        Ok(())
    }

    /// Checks that the faults of the verdict are those of the retired seats. Only a fault that ends the
    /// match may be in the verdict alone; returns its seat.
    fn faults(&mut self, verdict: &Verdict) -> Result<Option<Seat>, String> {
        let mut unrecorded = None;
        for seat in &verdict.seats {
            let recorded = self.gone.iter().find(|(gone, _)| *gone == seat.seat);
            let number = seat.seat;
            match (recorded, &seat.fault) {
                (None, None) => {}
                (Some((_, recorded)), Some(fault)) => {
                    let core = |fault: &Fault| (fault.kind, fault.by, fault.turn);
                    same(&format!("fault of seat {number}"), &core(recorded), &core(fault))?;
                }
                (Some((_, recorded)), None) => {
                    let kind = recorded.kind;
                    return Err(format!(
                        "seat {number} was retired ({kind}), but the verdict has no fault of it"
                    ));
                }
                (None, Some(fault)) if self.to_move.is_some() && !self.plays_on => {
                    same("turn of the fault", &self.turn, &fault.turn)?;
                    self.gone.push((number, fault.clone()));
                    self.to_move = None;
                    unrecorded = Some(number);
                }
                (None, Some(fault)) => {
                    let kind = fault.kind;
                    return Err(format!(
                        "the verdict has a fault of seat {number} ({kind}), but it was not retired"
                    ));
                }
            }
        }
        Ok(unrecorded)
    }

    /// Returns `result` and `reason` of the verdict.
    fn ending(&self) -> Result<(Ending, String), String> {
        if let Some(seat) = self.to_move {
            let turn = self.turn;
            return Err(format!("the match isn't over: in turn {turn}, seat {seat} is to move"));
        }
        if let Some(outcome) = &self.outcome {
            return Ok((Ending::Played, outcome.reason.clone()));
        }
        if let Some(decision) = self.decision {
            return Ok((Ending::Adjudicated, decision.reason().to_owned()));
        }
        let (_, fault) =
            self.gone.last().expect("without an outcome, only a seat that leaves ends it");
        let result =
            if fault.kind == FaultKind::Resigned { Ending::Resigned } else { Ending::Fault };
        let reason = if self.plays_on { LAST_SEAT } else { fault.kind.name() };
        Ok((result, reason.to_owned()))
    }
}

/// Compares what the replay gives with what the transcript says.
fn same<T: PartialEq + Debug + ?Sized>(what: &str, wanted: &T, recorded: &T) -> Result<(), String> {
    if wanted == recorded {
        return Ok(());
    }
    Err(format!("{what}: playing gives {wanted:?}, the transcript says {recorded:?}"))
}
