//! Resuming a recorded match at one of its requests.

use super::clock::Spent;
use super::machine::{Effect, Match, Phase};
use crate::transcript::Walk;
use referee_protocol::{Event, Header, Nanos, Seat, line_bytes};

impl Match {
    /// Returns a recorded match at the moment before `seat` is asked for turn `turn`, with the effect
    /// that asks it. Clocks, counted output and retired seats are as they were; the match's time
    /// restarts at zero. Fails if the record breaks the rules or the seat isn't asked.
    pub fn resume(
        header: Header,
        events: &[Event],
        (seat, turn): (Seat, u64),
    ) -> Result<(Self, Vec<Effect>), String> {
        let mut walk = Walk::begin(header.clone())?;
        let (mut state, _) = Self::begin(walk.game().clone_box(), header);
        for (player, listed) in state.players.iter_mut().zip(&state.header.seats) {
            player.ready = Some(listed.ready.clone().unwrap_or_default());
        }
        state.phase = Phase::Asking(seat);
        for event in events {
            walk.event(event)?;
            match event {
                Event::Line(line) => {
                    state.player(line.seat).bytes += line_bytes(line).len() as u64 + 1;
                }
                Event::Played(played) => {
                    let spent = Spent {
                        wall: Nanos(played.wall_ns),
                        cpu: played.cpu_ns.map(Nanos),
                        wait: played.wait_ns.map(Nanos),
                        lag: Nanos(played.lag_ns),
                    };
                    let settings = state.header.clock.clone();
                    state.player(played.seat).charge(&spent, &settings);
                    state.adjudicator.count(played.seat, played.turn, played.score);
                }
                Event::Retired(retired) => {
                    state.player(retired.seat).fault = Some(retired.fault.clone());
                    state.gone.push(retired.seat);
                }
                Event::Turn(asked) => {
                    let player = state.player(asked.seat);
                    player.charge_pondering(Nanos(asked.pondered_ns));
                    player.clock.set_left_ms(asked.left_ms);
                    if (asked.seat, asked.turn) == (seat, turn) {
                        state.game = walk.game().clone_box();
                        let asks = state.ask(seat);
                        return Ok((state, vec![asks]));
                    }
                }
                _ => {}
            }
        }
        Err(format!("seat {seat} is not asked for turn {turn}"))
    }
}
