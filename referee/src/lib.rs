//! Referee runs matches between game-playing agents, under the rules and the clock.
//!
//! This crate is the command line and the terminal viewer. docs/architecture.md describes the other
//! crates.

#![forbid(unsafe_code)]

pub mod screen;
mod console;
pub mod reading;
mod cli;

pub use cli::main;
