//! How agents get to workers: the coordinator packs each agent's folder as a gzipped tar file, and
//! each worker unpacks it into a folder of its own, builds it there and reads it as a contender.
//! Never guesses which words of a command are files: only folders with an agent.toml, packages of a
//! course and built-in agents are sent. What comes from the wire is hostile: no path in it is
//! followed out of its folder, and nothing in it is larger than it may be.

mod archive;
mod files;
mod portable;
mod pack;
mod unpack;
mod objects;
mod install;
mod agents;

pub use agents::WorkerAgents;
pub use objects::{
    Fetch, ObjectError, Reading, fetching, is_there, names_pieces, put, read_object,
};
pub use pack::{Packed, pack};

#[cfg(test)]
mod tests;
