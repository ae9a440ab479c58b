//! A contest on this machine: its files and agents, the folder that keeps it, the runner that plays it,
//! and the check that what is kept is what was played.
//!
//! Who meets whom and what the results mean is calculated elsewhere (`referee_contest`); it draws
//! nothing and prints nothing.

#![forbid(unsafe_code)]

pub mod building;
mod entrants;
mod prepare;
pub mod folder;
pub mod verifying;
mod rows;
pub mod store;
pub mod records;
pub mod results;
mod clerk;
pub mod field;
pub mod local;
pub mod staging;
pub mod workers;
pub mod runner;
pub mod parallel;
pub mod checking;

pub use clerk::disk_failure;
pub use prepare::{Builds, Prepared, prepare, prepare_again, prepare_text, sandbox_wish};

#[cfg(test)]
mod tests;
