//! How a match ends: by its rules, by a fault, or not at all.

use super::machine::{Effect, Ending, Match, Phase};
use super::messages::over;
use super::places::places;
use referee_games::Turn as Move;
use referee_protocol::{
    Event, Fault, FaultKind, OnFault, Outcome, OverEvent, Result as Ended, Retired, RetiredEvent,
    Seat, SeatVerdict, ToAgent, Verdict, VoidNote,
};

/// The reason of a verdict when all seats but one have gone.
const LAST_SEAT: &str = "last_seat";

impl Match {
    /// A seat broke the protocol or the rules, or resigned: it is out, and with it perhaps the
    /// match.
    pub(super) fn fault_with(&mut self, seat: Seat, fault: Fault) {
        // When the game is over, judging stops: here it was so from the start.
        if let Move::Over(outcome) = self.game.turn() {
            return self.finish_by_rules(outcome);
        }
        let kind = fault.kind;
        self.player(seat).fault = Some(fault.clone());
        self.gone.push(seat);
        self.effects.push(Effect::Kill(seat));
        let ended = if kind == FaultKind::Resigned { Ended::Resigned } else { Ended::Fault };
        if self.players.len() < 3 || self.header.on_fault == OnFault::End {
            return self.finish(ended, kind.name(), None, None);
        }
        let turn = fault.turn;
        self.record(Event::Retired(RetiredEvent { at_ns: self.now.0, turn, seat, fault }));
        self.effects.push(Effect::Broadcast(ToAgent::Retired(Retired { turn, seat, fault: kind })));
        if self.seats_in().count() == 1 {
            return self.finish(ended, LAST_SEAT, None, None);
        }
        let goes_on = match &self.phase {
            Phase::Thinking(asked) => asked.seat == seat,
            // Also where another seat is to be asked: its request may hold the position, which
            // tells who is out.
            Phase::Asking(_) | Phase::Starting => true,
            Phase::Ended => false,
        };
        self.game.retire(seat);
        if goes_on || matches!(self.game.turn(), Move::Over(_)) {
            self.proceed();
        }
    }

    pub(super) fn finish_by_rules(&mut self, outcome: Outcome) {
        let reason = outcome.reason.clone();
        self.finish(Ended::Played, &reason, Some(outcome), None);
    }

    /// Nobody's fault among the agents.
    pub(super) fn stop(&mut self, cause: &'static str, text: String) {
        let void = VoidNote { cause: cause.to_owned(), text };
        self.finish(Ended::Void, cause, None, Some(void));
    }

    fn finish(
        &mut self,
        result: Ended,
        reason: &str,
        outcome: Option<Outcome>,
        void: Option<VoidNote>,
    ) {
        if self.phase == Phase::Starting {
            self.write_header();
        }
        let places =
            void.is_none().then(|| places(self.players.len(), outcome.as_ref(), &self.gone));
        let reason = reason.to_owned();
        let seats = self.seat_verdicts();
        let verdict = Verdict { result, reason, places, seats, void };
        let ending = Ending { outcome, verdict };
        let Ending { outcome, verdict } = ending.clone();
        let message = ToAgent::Over(Box::new(over(outcome.clone(), verdict.clone())));
        self.record(Event::Over(Box::new(OverEvent { at_ns: self.now.0, outcome, verdict })));
        self.effects.push(Effect::Broadcast(message));
        self.effects.push(Effect::Finish(Box::new(ending)));
        self.phase = Phase::Ended;
    }

    fn seat_verdicts(&self) -> Vec<SeatVerdict> {
        Seat::all(self.players.len())
            .zip(&self.players)
            .map(|(seat, player)| SeatVerdict {
                seat,
                used_ms: player.used.ms_up(),
                cpu_ms: player.cpu.ms_up(),
                turns: player.turns,
                fault: player.fault.clone(),
            })
            .collect()
    }
}
