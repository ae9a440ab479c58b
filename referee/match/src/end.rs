//! The end of a match: by its rules, by a fault, or without a result.

use super::adjudicator::Decision;
use super::machine::{Effect, Ending, Match, Phase};
use super::messages::over;
use super::places::{Departure, places};
use super::summary::LAST_SEAT;
use referee_games::Turn as Move;
use referee_protocol::{
    Event, Fault, FaultKind, MatchResult, OnFault, Outcome, OverEvent, Retired, RetiredEvent, Seat,
    SeatVerdict, ToAgent, Verdict, VoidNote,
};

impl Match {
    /// Puts a seat out of the match for a fault, or because it resigned. May end the match.
    pub(super) fn fault_with(&mut self, seat: Seat, fault: Fault) {
        // When the game is over, nothing is judged: here it was over from the start.
        if let Move::Over(outcome) = self.game.turn() {
            return self.finish_by_rules(outcome);
        }
        let kind = fault.kind;
        self.player(seat).fault = Some(fault.clone());
        self.gone.push(Departure { seat, choice: self.number_of_choice(seat) });
        self.effects.push(Effect::Kill(seat));
        let ended =
            if kind == FaultKind::Resigned { MatchResult::Resigned } else { MatchResult::Fault };
        let left = self.seats_in().count();
        let ends = if self.players.len() < 3 || left == 0 || self.header.on_fault == OnFault::End {
            Some((ended, kind.name()))
        } else if left == 1 {
            Some((ended, LAST_SEAT))
        } else {
            None
        };
        // Whether it would be out alone is known when the others have chosen, too.
        let others_choose = self.phase != Phase::Starting
            && self.game.choosing().iter().any(|other| *other != seat);
        if let Some((result, reason)) = ends.filter(|_| !others_choose) {
            if reason == LAST_SEAT {
                self.record_departure(seat, fault);
            }
            return self.finish(result, reason, None, None);
        }
        self.ends_after_choices = self.ends_after_choices.or(ends);
        let next = match &self.phase {
            Phase::Thinking(asked) => asked.seat == seat,
            // Also if another seat waits for its request: the request may contain the position, and
            // with it who is out.
            Phase::Asking(_) | Phase::Starting => true,
            Phase::Drawing(_) | Phase::Ended => false,
        };
        if self.players.len() < 3 {
            self.game.pass_over(seat);
        } else {
            self.game.retire(seat);
        }
        self.record_departure(seat, fault);
        if next || matches!(self.game.turn(), Move::Over(_)) {
            self.proceed();
        }
    }

    fn record_departure(&mut self, seat: Seat, fault: Fault) {
        let (turn, kind) = (fault.turn, fault.kind);
        self.record(Event::Retired(RetiredEvent { at_ns: self.now.0, turn, seat, fault }));
        self.broadcast(ToAgent::Retired(Retired { turn, seat, fault: kind }));
    }

    /// Returns the turn in which a choice of several seats at once has begun, if this seat is one of them.
    fn number_of_choice(&self, seat: Seat) -> Option<u64> {
        let together = self.game.together();
        let have_chosen = together.len() - self.game.choosing().len();
        let is_one = self.phase != Phase::Starting && together.contains(&seat);
        is_one.then(|| self.game.turn_number() - have_chosen as u64)
    }

    pub(super) fn finish_by_rules(&mut self, outcome: Outcome) {
        let reason = outcome.reason.clone();
        self.finish(MatchResult::Played, &reason, Some(outcome), None);
    }

    pub(super) fn finish_by_scores(&mut self, decision: Decision) {
        self.decision = Some(decision);
        self.finish(MatchResult::Adjudicated, decision.reason(), None, None);
    }

    /// Ends the match without a result, unless it happened at the seat of an agent that may cause no
    /// more void matches.
    pub(super) fn stop(&mut self, cause: &str, text: String, seat: Option<Seat>) {
        if let Some(seat) = seat.filter(|&seat| self.may_not_void(seat)) {
            if !self.is_out(seat) {
                let kind = self.fault_at_end(seat);
                self.fault_with(
                    seat,
                    Fault { kind, by: None, turn: self.turn_number(), text, legal: None },
                );
            }
            return;
        }
        let void = VoidNote { cause: cause.to_owned(), text, seat };
        self.finish(MatchResult::Void, cause, None, Some(void));
    }

    pub(super) fn finish(
        &mut self,
        result: MatchResult,
        reason: &str,
        outcome: Option<Outcome>,
        void: Option<VoidNote>,
    ) {
        if self.phase == Phase::Starting {
            self.write_header();
        }
        self.end_choice();
        let places = void.is_none().then(|| match self.decision {
            Some(decision) => decision.places(),
            None => places(self.players.len(), outcome.as_ref(), &self.gone),
        });
        let reason = reason.to_owned();
        let seats = self.seat_verdicts();
        let verdict = Verdict { result, reason, places, seats, void };
        self.effects.append(&mut self.untold);
        let draw_key = self.draw_key();
        self.over = Some(Box::new(OverEvent { at_ns: self.now.0, outcome, verdict, draw_key }));
        self.effects.push(Effect::MeasureMemory);
        self.phase = Phase::Ended;
    }

    /// Ends the match, now that the peaks of memory are known.
    pub(super) fn finish_with(&mut self, peaks: Vec<Option<u64>>) {
        let Some(mut event) = self.over.take() else { return };
        for (seat, peak) in event.verdict.seats.iter_mut().zip(peaks) {
            seat.peak_memory_kb = peak;
        }
        let OverEvent { outcome, verdict, .. } = (*event).clone();
        let message = ToAgent::Over(Box::new(over(outcome.clone(), verdict.clone())));
        self.effects.push(Effect::Record(Event::Over(event)));
        self.effects.push(Effect::Broadcast(message));
        self.effects.push(Effect::Finish(Box::new(Ending { outcome, verdict })));
        self.effects.extend(self.held.drain(..).map(Effect::Record));
    }

    fn seat_verdicts(&self) -> Vec<SeatVerdict> {
        Seat::all(self.players.len())
            .zip(&self.players)
            .map(|(seat, player)| SeatVerdict {
                seat,
                used_ms: player.used.ms_up(),
                cpu_ms: player.cpu.ms_up(),
                peak_memory_kb: None,
                turns: player.turns,
                fault: player.fault.clone(),
            })
            .collect()
    }
}
