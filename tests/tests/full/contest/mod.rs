//! Contests that are interrupted and killed, build agents and keep their processes.

mod kills;
mod same_results;
mod builds;
pub(crate) mod reuse;
