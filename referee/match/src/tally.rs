//! What the events of a match add up to, while it is played or while its transcript is read: both give the same.

use referee_protocol::{Event, OverEvent, Seat};
use sha2::{Digest, Sha256};

/// The sums over a match's events.
#[derive(Clone, Debug, Default)]
pub struct MatchTally {
    /// The match's id.
    pub match_id: String,
    /// Its seed.
    pub seed: u64,
    /// Over game, setup and actions, without the players: equal in repeated games.
    pub moves: Sha256,
    /// The number of actions played.
    pub turns: u64,
    /// The greatest lag of the referee itself in one turn, in nanoseconds.
    pub lag_ns: u64,
    /// The greatest lag in a turn of a seat that may make the match void, with the seat.
    pub void_lag: Option<(u64, Seat)>,
    /// How it ended, if it has.
    pub over: Option<OverEvent>,
    /// The seats that may not make it void.
    no_void: Vec<bool>,
}

impl MatchTally {
    /// Adds an event.
    pub fn add_event(&mut self, event: &Event) {
        match event {
            Event::Header(header) => {
                self.match_id.clone_from(&header.match_id);
                self.seed = header.seed;
                self.no_void = header.seats.iter().map(|seat| seat.no_void).collect();
                self.moves.update(header.game.as_bytes());
                self.moves.update(header.setup.to_string().as_bytes());
            }
            Event::Played(played) => {
                self.moves.update(b"\n");
                self.moves.update(played.action.as_str());
                self.lag_ns = self.lag_ns.max(played.lag_ns);
                if !self.no_void.get(played.seat.index()).is_some_and(|no_void| *no_void) {
                    self.void_lag = self.void_lag.max(Some((played.lag_ns, played.seat)));
                }
                self.turns += 1;
            }
            Event::Over(over) => self.over = Some(over.as_ref().clone()),
            _ => {}
        }
    }
}
