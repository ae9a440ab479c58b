//! Contests without input and output: contest files, formats, schedules, standings, ratings and
//! reports. Everything is pure: nothing here starts a process, reads a file or a clock, so results
//! depend on their inputs alone. The search for pairings has a thread, which frees its memory.

#![forbid(unsafe_code)]

// In the order of their dependencies: a module imports only from those above it.
mod parallel;
mod numbers;
pub mod presets;
mod forms;
mod seed;
mod settings;
mod web;
pub mod wording;
mod changes;
mod pairing;
mod openings;
mod record;
pub mod repeats;
pub mod ratings;
pub mod neighbours;
pub mod sprt;
pub mod formats;
mod contest;
mod schedule;
pub mod audit;
pub mod estimate;
pub mod standings;
pub mod report;
pub mod summary;
pub mod joint;
pub mod file;

#[cfg(test)]
mod tests;

pub use changes::{Change, ChangeKind, FORFEIT};
pub use contest::{Contest, NoSchedule, PLAYERS_MAX};
pub use formats::FormatSettings;
pub use openings::{OpeningError, draw_opening};
pub use pairing::Fixture;
pub use record::{Record, SeatRecord, Void, half_points};
pub use report::grades;
pub use schedule::Schedule;
pub use seed::{SEED_BOUND, Seed};
pub use settings::{
    ContestGame, LagPolicy, OnBroken, Opening, OpeningSettings, PlayerInfo, Policy,
    SandboxSettings, SeatOrders, SprtSettings,
};
pub use web::WebSettings;

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
