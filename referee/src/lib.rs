//! Referee: runs matches between game-playing agents, by the rules and by the clock.
//!
//! `matches`, `transcript`, `render`, `web` and `screen` are pure: they wait for nothing, start nothing
//! and read no clock. Everything that touches the world is in `shell`, and `cli` is the command line
//! around it.

pub mod matches;
pub mod diagnosis;
pub mod transcript;
pub mod render;
pub mod web;
pub mod screen;
pub mod pictures;
mod telling;
pub mod plain;
pub mod times;
pub mod presets;
pub mod level;
pub mod failure;
pub mod contest;
pub mod fleet;
pub mod shell;
pub mod cli;

pub use cli::main;
