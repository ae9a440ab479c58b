//! The end of a match: by its rules, by a fault, or without a result.

use super::adjudicator::Decision;
use super::machine::{Effect, Ending, Match, Phase};
use super::messages::over;
use super::places::places;
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
        self.gone.push(seat);
        self.effects.push(Effect::Kill(seat));
        let ended =
            if kind == FaultKind::Resigned { MatchResult::Resigned } else { MatchResult::Fault };
        if self.players.len() < 3 || self.header.on_fault == OnFault::End {
            return self.finish(ended, kind.name(), None, None);
        }
        let turn = fault.turn;
        self.record(Event::Retired(RetiredEvent { at_ns: self.now.0, turn, seat, fault }));
        self.effects.push(Effect::Broadcast(ToAgent::Retired(Retired { turn, seat, fault: kind })));
        if self.seats_in().count() == 1 {
            return self.finish(ended, LAST_SEAT, None, None);
        }
        let next = match &self.phase {
            Phase::Thinking(asked) => asked.seat == seat,
            // Also if another seat waits for its request: the request may contain the position, and
            // with it who is out.
            Phase::Asking(_) | Phase::Starting => true,
            Phase::Ended => false,
        };
        self.game.retire(seat);
        if next || matches!(self.game.turn(), Move::Over(_)) {
            self.proceed();
        }
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

    fn finish(
        &mut self,
        result: MatchResult,
        reason: &str,
        outcome: Option<Outcome>,
        void: Option<VoidNote>,
    ) {
        if self.phase == Phase::Starting {
            self.write_header();
        }
        let places = void.is_none().then(|| match self.decision {
            Some(decision) => decision.places(),
            None => places(self.players.len(), outcome.as_ref(), &self.gone),
        });
        let reason = reason.to_owned();
        let seats = self.seat_verdicts();
        let verdict = Verdict { result, reason, places, seats, void };
        self.over = Some(Box::new(OverEvent { at_ns: self.now.0, outcome, verdict }));
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
