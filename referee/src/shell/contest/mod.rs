//! Contests in the world: their files and agents, the folder that keeps one, the runner that plays
//! it, and the check that what is kept is what was played.

pub(super) mod building;
mod entrants;
mod prepare;
pub mod folder;
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
pub mod checking;

pub use clerk::disk_failure;
pub use prepare::{Builds, Prepared, prepare, prepare_again, prepare_text};

#[cfg(test)]
mod tests;
