//! A recorded match as it stood at one of its requests, so that it can go on from there.

use super::clock::Spent;
use super::machine::{Effect, Match, Phase};
use super::messages::request;
use referee_games::{AnyGame, Turn as Move};
use referee_protocol::{
    Event, Header, LineEvent, Nanos, PlayedEvent, RetiredEvent, Seat, TurnEvent, line_bytes,
};

/// Why a match can't go on from its record: this referee didn't write it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotResumed(String);

impl Match {
    /// A recorded match when `seat` is about to be asked for its turn `turn`, with the effect that
    /// wants it asked. `game` is the game at its start. Clocks, bounds on output and retired seats
    /// are as they were; the match's time begins anew.
    pub fn resume(
        game: Box<dyn AnyGame>,
        header: Header,
        events: &[Event],
        (seat, turn): (Seat, u64),
    ) -> Result<(Self, Vec<Effect>), NotResumed> {
        let (mut state, _) = Self::begin(game, header);
        for (player, listed) in state.players.iter_mut().zip(&state.header.seats) {
            player.ready = Some(listed.ready.clone().unwrap_or_default());
        }
        state.phase = Phase::Asking(seat);
        for event in events {
            match event {
                Event::Line(line) => state.wrote(line),
                Event::Played(played) => state.was_played(played)?,
                Event::Retired(retired) => state.was_retired(retired)?,
                Event::Turn(asked) => {
                    state.was_asked(asked);
                    if (asked.seat, asked.turn) == (seat, turn) {
                        return state.asks(seat);
                    }
                }
                _ => {}
            }
        }
        Err(NotResumed(format!("seat {seat} is not asked for turn {turn}")))
    }

    fn asks(self, seat: Seat) -> Result<(Self, Vec<Effect>), NotResumed> {
        if self.game.turn() != Move::Of(seat) {
            let turn = self.game.turn_number();
            return Err(NotResumed(format!("seat {seat} is asked for turn {turn} of another")));
        }
        let player = &self.players[seat.index()];
        let want = player.ready.as_ref().map_or(&[][..], |ready| &ready.want);
        let asked = request(self.game.as_ref(), want, player.clock.left_ms());
        Ok((self, vec![Effect::Ask(seat, asked)]))
    }

    fn wrote(&mut self, line: &LineEvent) {
        if let Some(player) = self.players.get_mut(line.seat.index()) {
            player.bytes += line_bytes(line).len() as u64 + 1;
        }
    }

    fn was_asked(&mut self, asked: &TurnEvent) {
        let Some(player) = self.players.get_mut(asked.seat.index()) else { return };
        let pondered = Nanos(asked.pondered_ns);
        player.clock.charge_pondering(pondered);
        player.clock.set_left_ms(asked.left_ms);
        player.used = player.used.plus(pondered);
    }

    fn was_played(&mut self, played: &PlayedEvent) -> Result<(), NotResumed> {
        self.game.play(&played.action).map_err(|refusal| {
            let turn = played.turn;
            NotResumed(format!("the action of turn {turn} can't be played again: {refusal}"))
        })?;
        let Some(own) = self.players.get_mut(played.seat.index()) else { return Ok(()) };
        let spent = Spent {
            wall: Nanos(played.wall_ns),
            cpu: played.cpu_ns.map(Nanos),
            wait: played.wait_ns.map(Nanos),
            lag: Nanos(played.lag_ns),
        };
        own.clock.charge(&spent, &self.header.clock);
        own.used = own.used.plus(spent.charged(self.header.clock.kind));
        own.cpu = own.cpu.plus(spent.cpu.unwrap_or_default());
        own.turns += 1;
        Ok(())
    }

    fn was_retired(&mut self, retired: &RetiredEvent) -> Result<(), NotResumed> {
        let seat = retired.seat;
        let goes_on = self.players.len() > 2
            && seat.index() < self.players.len()
            && matches!(self.game.turn(), Move::Of(_));
        if !goes_on {
            return Err(NotResumed(format!("seat {seat} can't retire in turn {}", retired.turn)));
        }
        let player = self.player(seat);
        (player.gone, player.fault) = (true, Some(retired.fault.clone()));
        self.gone.push(seat);
        self.game.retire(seat);
        Ok(())
    }
}
