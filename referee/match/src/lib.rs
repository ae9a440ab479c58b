//! A match as a state machine: inputs with their times go in, effects come out. And its transcript:
//! recorded, read, replayed, verified.
//!
//! Nothing here waits, starts a process, touches a file or reads a clock, so tests play whole matches
//! in microseconds, with any delays and faults.

#![forbid(unsafe_code)]

mod clock;
mod identity;
mod messages;
mod machine;
mod end_reason;
mod adjudicator;
mod judge;
mod end;
mod resume;
mod tally;
pub mod names;
pub mod places;
pub mod transcript;
pub mod diagnosis;
pub mod summary;
pub mod times;

pub use clock::{Reading, TurnLimits};
pub use identity::{
    draw_key, draw_key_sha256, drawer, game_seed, id_of, match_id, named_seed, seat_seed,
};
pub use machine::{Effect, Ending, Input, Match, RULES};
pub use messages::{header, hello, over, parse_line, request};
pub use tally::MatchTally;

#[cfg(test)]
mod tests;
