//! Everything that touches the world: processes, files, clocks, threads, signals.
//!
//! Decisions are made in `matches`; this module carries them out.

pub mod cores;
pub mod launcher;
pub mod sandbox;
pub mod agent;
pub mod chair;
pub mod human;
pub mod framer;
mod stderr;
mod usage;
mod canary;
pub mod sink;
pub mod table;
pub mod drive;
mod digest;
pub mod contender;
pub mod adapted;
pub mod destination;
pub mod fresh;
pub mod heading;
mod hints;
mod cleaning;
mod work_folder;
pub mod pool;
pub mod series;
pub mod session;
pub mod trial;
pub mod debugging;
pub mod served;
pub mod inputs;
pub mod writing;
pub mod replacing;
pub mod verifying;
pub mod interrupts;
pub mod console;
pub mod playing;
pub mod contest;
#[cfg(feature = "nats")]
pub mod fleet;
pub mod web;
