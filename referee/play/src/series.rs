//! Games between the same agents, whose seats move on by one with each.

use super::contender::Contender;
use super::destination::Destination;
use super::human::People;
use super::pool::Job;
use crate::reach::Reaches;
use referee_games::Kind;
use referee_match::game_seed;
use referee_protocol::{ClockSettings, Limits, OnFault};
use serde_json::Value;
use std::sync::Arc;

/// What is played.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The game.
    pub kind: Kind,
    /// Its setup, as given.
    pub setup: Value,
    /// Who plays, in the order of the first game's seats; they move on by one seat with each game.
    pub contenders: Vec<Arc<Contender>>,
    /// The clock.
    pub clock: ClockSettings,
    /// What an agent may use.
    pub limits: Limits,
    /// What a fault does with three seats and more.
    pub on_fault: OnFault,
    /// The seed of the series, below 2^53.
    pub seed: u64,
    /// The numbers of the games.
    pub games: std::ops::Range<u64>,
    /// How many matches may be under way at once.
    pub jobs: usize,
    /// What the agents may read.
    pub reaches: Arc<Reaches>,
    /// Where those are who play in person.
    pub people: People,
    /// Where transcripts go.
    pub destination: Destination,
}

impl Plan {
    /// How many games there are.
    pub fn count(&self) -> usize {
        usize::try_from(self.games.end - self.games.start).unwrap_or(usize::MAX)
    }

    /// How many agents may be there at once.
    pub fn agents(&self) -> usize {
        self.jobs.clamp(1, self.count().max(1)).saturating_mul(self.contenders.len())
    }

    /// The game of this number.
    pub fn job(&self, number: u64) -> Job {
        Job {
            number,
            kind: self.kind,
            setup: self.setup.clone(),
            seated: self.seated(number),
            clock: self.clock.clone(),
            limits: self.limits.clone(),
            on_fault: self.on_fault,
            // The first game's is the series' own.
            seed: game_seed(self.seed, number),
            reaches: self.reaches.clone(),
            people: self.people.clone(),
            destination: self.destination.clone(),
            durable: self.count() == 1,
        }
    }

    /// Who sits where in a game, in seat order.
    pub fn seated(&self, number: u64) -> Vec<Arc<Contender>> {
        let count = self.contenders.len();
        let shift = usize::try_from(number % count.max(1) as u64).unwrap_or(0);
        (0..count).map(|seat| self.contenders[(seat + shift) % count].clone()).collect()
    }
}
