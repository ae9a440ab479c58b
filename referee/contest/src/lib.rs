//! Contests without input and output: contest files, formats, schedules, standings, ratings and
//! reports. Everything is pure: nothing here starts a process, reads a file or a clock, so results
//! depend on their inputs alone. The search for pairings has a thread, which frees its memory.

#![forbid(unsafe_code)]

mod parallel;
mod settings;
pub mod wording;
mod changes;
pub mod file;
pub mod formats;
mod openings;
mod schedule;
pub mod estimate;
mod record;
pub mod repeats;
pub mod audit;
pub mod standings;
pub mod ratings;
pub mod report;
pub mod sprt;
pub mod summary;
pub mod grades;
pub mod joint;
pub mod neighbours;

#[cfg(test)]
mod tests;

pub use changes::{Change, ChangeKind, FORFEIT};
pub use formats::FormatSettings;
pub use openings::{Opening, OpeningError, draw_opening};
pub use record::{Record, RecordBuilder, SeatRecord, Void, half_points};
pub use schedule::{Fixture, Schedule};
pub use settings::{
    Contest, ContestGame, LagPolicy, OpeningSettings, PlayerInfo, Policy, SandboxSettings,
    SeatOrders, SprtSettings, WorkerSettings,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A player of a contest: the place in the contest's list, from 0.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Player(pub u32);

impl Player {
    /// Returns the index of the player in a list of all players.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the first `count` players.
    pub fn all(count: usize) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..u32::try_from(count).unwrap_or(u32::MAX)).map(Self)
    }
}
