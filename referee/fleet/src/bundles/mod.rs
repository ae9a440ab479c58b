//! Sends agents to workers: the coordinator packs each agent's folder into a gzipped tar file, and
//! each worker unpacks it into a folder of its own, builds it there and loads the agent.
//!
//! Which words of a command are files is never guessed: only folders with an agent.toml, course
//! packages and built-in agents are sent. The folders of game programs are sent in the same way. Bundles from the wire are treated as hostile: no path
//! leads out of its folder, and all sizes are bounded.

mod archive;
mod files;
mod portable;
mod pack;
mod unpack;
mod objects;
mod install;
mod agents;
mod games;

pub(crate) use agents::{KeptAgents, WorkerAgents};
pub(crate) use games::unpack_games;
pub use objects::read_object;
pub(crate) use objects::{Fetch, bundle_fetcher, object_exists, put};
pub use pack::{Packed, Unsent, check_sent, pack};

#[cfg(test)]
mod tests;
