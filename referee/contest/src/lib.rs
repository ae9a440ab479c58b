//! Contests, as far as they are calculation: what a contest file says, who meets whom, what the
//! results make of it. Pure: it starts nothing, reads no file and no clock, so that a schedule, a
//! table and a rating are functions of their inputs and of nothing else.

#![forbid(unsafe_code)]

mod settings;
pub mod file;
pub mod formats;
mod openings;
mod schedule;
pub mod estimate;
mod record;
pub mod audit;
pub mod standings;
pub mod ratings;
pub mod report;
pub mod sprt;
pub mod summary;

#[cfg(test)]
mod tests;

pub use formats::FormatSettings;
pub use openings::{Opening, OpeningError, draw_opening};
pub use record::{Onlooker, Record, SeatRecord, Void, halves};
pub use schedule::{Fixture, Schedule};
pub use settings::{
    Contest, ContestGame, LagPolicy, OpeningSettings, PlayerInfo, Policy, SandboxSettings,
    SeatOrders, SprtSettings, WorkerSettings,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Somebody who plays in a contest: the place in the contest's list, from 0.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Player(pub u32);

impl Player {
    /// The player as an index into a list with one entry a player.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The first `count` players.
    pub fn all(count: usize) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..u32::try_from(count).unwrap_or(u32::MAX)).map(Self)
    }
}
