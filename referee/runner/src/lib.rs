//! A contest on this machine: its files and agents, the folder that stores it, the runner that plays it,
//! and the check of a stored contest.
//!
//! Pairings and standings are in `referee_contest`. This crate prints nothing.

#![forbid(unsafe_code)]

pub mod disk;
mod tree;
mod alone;
mod build_folder;
pub mod arguments;
mod copies;
pub mod programs;
pub mod team_names;
pub mod changing;
pub mod pace;
pub mod inbox;
pub mod course;
pub mod building;
mod entrants;
mod prepare;
mod again;
pub mod folder;
pub mod verifying;
mod rows;
mod foreign;
pub mod store;
pub mod records;
pub mod results;
pub mod sums;
mod voids;
mod writer;
pub mod writers;
mod queue;
pub mod backend;
pub mod local;
pub mod jobs;
pub mod workers;
pub mod runner;
pub mod parallel;
pub mod checking;

pub use again::{hidden_files, prepare_again};
pub use copies::{AgentCopy, MadeCopies, without_copies};
pub use entrants::{Submission, read_apart, submissions};
pub use prepare::{
    Broken, Builds, Entrants, Prepared, entrants, new_key, new_seed, prepare, prepare_text,
    read_contest_file, read_openings, sandbox_request,
};
pub use writer::disk_failure;

#[cfg(test)]
mod tests;
