use crate::Seat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a game ended by its rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// One entry per seat, 1 is best, competition ranking: 1,2,2 or 1,1,3. With one seat: 1 solved,
    /// 2 not.
    pub places: Vec<u32>,
    /// One entry per seat, in games with scores; the game defines the unit and whether fewer is
    /// better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<Vec<i64>>,
    /// Why the game ended, from the game's own list of reasons.
    pub reason: String,
}

impl Outcome {
    /// `winner` is in place 1, all others share place 2.
    pub fn won_by(winner: Seat, seats: usize, reason: &str) -> Self {
        let places = Seat::all(seats).map(|seat| if seat == winner { 1 } else { 2 }).collect();
        Self { places, scores: None, reason: reason.to_owned() }
    }

    /// All share place 1.
    pub fn drawn(seats: usize, reason: &str) -> Self {
        Self { places: vec![1; seats], scores: None, reason: reason.to_owned() }
    }

    /// A puzzle's end: place 1 if solved, otherwise 2.
    pub fn puzzle(solved: bool, score: i64, reason: &str) -> Self {
        let place = if solved { 1 } else { 2 };
        Self { places: vec![place], scores: Some(vec![score]), reason: reason.to_owned() }
    }

    /// Adds `scores`, one per seat.
    #[must_use]
    pub fn with_scores(mut self, scores: Vec<i64>) -> Self {
        self.scores = Some(scores);
        self
    }
}
