//! Resuming a recorded match at one of its requests.

use super::machine::{Effect, Match};
use crate::transcript::Walk;
use referee_games::Games;
use referee_protocol::{Event, Header, Seat};

impl Match {
    /// Returns a recorded match at the moment before `seat` is asked for turn `turn`, with the effect
    /// that asks it. Clocks, counted output and retired seats are as they were; the match's time
    /// restarts at zero. Fails if the record breaks the rules or the seat isn't asked.
    pub fn resume(
        header: Header,
        games: &Games,
        events: &[Event],
        (seat, turn): (Seat, u64),
    ) -> Result<(Self, Vec<Effect>), String> {
        let mut walk = Walk::begin(header, games)?;
        for event in events {
            match event {
                Event::Turn(asked) if (asked.seat, asked.turn) == (seat, turn) => {
                    return walk.into_match(asked);
                }
                _ => walk.event(event)?,
            }
        }
        Err(format!("seat {seat} is not asked for turn {turn}"))
    }
}
