//! A match as a state machine: what happened, and when, goes in; what to do about it comes out. And
//! its transcript: recorded, read, played again, verified.
//!
//! Nothing here waits, starts a process, touches a file or reads a clock, so a whole match can be
//! played in a test in microseconds, with any delays and faults.

#![forbid(unsafe_code)]

mod clock;
mod identity;
mod messages;
mod machine;
mod absence;
mod judge;
mod end;
mod resume;
pub mod places;
pub mod transcript;
pub mod frames;
pub mod diagnosis;
pub mod telling;
pub mod times;
pub mod presets;

pub use clock::Reading;
pub use identity::{game_seed, match_id, named_seed, seat_seed};
pub use machine::{Effect, Ending, Input, Match};
pub use messages::{header, hello, over, request, said};

#[cfg(test)]
mod tests;
