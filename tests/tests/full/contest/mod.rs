//! Contests that are interrupted and killed, build agents, keep their processes, and let agents join.

mod kills;
mod same_results;
mod builds;
mod formats;
mod full_disk;
mod joint;
mod opened;
pub(crate) mod reuse;
