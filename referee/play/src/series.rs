//! Games between the same agents, whose seats move on by one with each.

use super::agent_spec::AgentSpec;
use super::pool::Job;
use referee_match::game_seed;
use std::ops::Range;
use std::sync::Arc;

/// What is played.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The first game, numbered 0: with the seed of the series, and with the agents in its seats. They
    /// move on by one seat with each game.
    pub first: Job,
    /// The numbers of the games.
    pub games: Range<u64>,
    /// How many matches may be under way at once.
    pub jobs: usize,
}

impl Plan {
    /// How many games there are.
    pub fn count(&self) -> usize {
        usize::try_from(self.games.end - self.games.start).unwrap_or(usize::MAX)
    }

    /// How many agents may be there at once.
    pub fn agents(&self) -> usize {
        self.jobs.clamp(1, self.count().max(1)).saturating_mul(self.first.seated.len())
    }

    /// Whether a person plays.
    pub fn has_person(&self) -> bool {
        self.first.seated.iter().any(|spec| spec.launch.is_none())
    }

    /// The game of this number.
    pub fn job(&self, number: u64) -> Job {
        let seed = game_seed(self.first.seed, number);
        Job { number, seed, seated: self.seated(number), ..self.first.clone() }
    }

    /// Who sits where in a game, in seat order.
    pub fn seated(&self, number: u64) -> Vec<Arc<AgentSpec>> {
        let mut seated = self.first.seated.clone();
        seated.rotate_left(self.shift(number));
        seated
    }

    /// By how many seats the agents have moved on in a game.
    pub fn shift(&self, number: u64) -> usize {
        usize::try_from(number % self.first.seated.len().max(1) as u64).unwrap_or(0)
    }
}
