//! Referee: runs matches between game-playing agents, by the rules and by the clock.
//!
//! This crate is the command line, and the viewer in the terminal. What they stand on is in the crates
//! beside it: docs/architecture.md is the map.

#![forbid(unsafe_code)]

pub mod screen;
mod console;
pub mod reading;
mod cli;

pub use cli::main;
