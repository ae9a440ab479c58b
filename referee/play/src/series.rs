//! A series of games between the same agents, who change seats.

use super::agent_spec::AgentSpec;
use super::pool::Job;
use referee_match::game_seed;
use std::ops::Range;
use std::sync::Arc;

/// A series.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The first game, number 0, with the seed of the series and the agents in their first seats. They
    /// move by one seat per game.
    pub first: Job,
    /// The numbers of the games.
    pub games: Range<u64>,
    /// How many matches may run at once.
    pub jobs: usize,
}

impl Plan {
    /// Returns the number of games.
    pub fn count(&self) -> usize {
        usize::try_from(self.games.end - self.games.start).unwrap_or(usize::MAX)
    }

    /// Returns how many agents may run at once.
    pub fn agents(&self) -> usize {
        self.jobs.clamp(1, self.count().max(1)).saturating_mul(self.first.seated.len())
    }

    /// Whether a person plays.
    pub fn has_person(&self) -> bool {
        self.first.seated.iter().any(|spec| spec.launch.is_none())
    }

    /// Returns the game with this number.
    pub fn job(&self, number: u64) -> Job {
        let seed = game_seed(self.first.seed, number);
        Job { number, seed, seated: self.seated(number), ..self.first.clone() }
    }

    /// Returns the agents of a game, in seat order.
    pub fn seated(&self, number: u64) -> Vec<Arc<AgentSpec>> {
        let mut seated = self.first.seated.clone();
        seated.rotate_left(self.shift(number));
        seated
    }

    /// Returns by how many seats the agents have moved in a game.
    pub fn shift(&self, number: u64) -> usize {
        usize::try_from(number % self.first.seated.len().max(1) as u64).unwrap_or(0)
    }
}
