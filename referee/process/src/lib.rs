//! Untrusted programs as child processes: started and killed with all that they start, kept in a
//! sandbox that is attacked before it is trusted, held to limits, written to, read from and measured.
//!
//! It knows no game and no match: what is written to a program, and what its lines mean, is the
//! caller's business. This is the one crate with `unsafe` code, in `launcher/{sys,raw}.rs`.

pub mod cores;
pub mod lock;
pub mod launcher;
pub mod sandbox;
pub mod agent;
pub mod framer;
pub mod stderr;
pub mod usage;
pub mod hints;
pub mod cleaning;
pub mod work_folder;
mod failure;
pub mod files;

pub use failure::{Cause, Failure};

/// The file of the program that runs, also when it has been replaced or removed since it was started.
pub const OWN_PROGRAM: &str = "/proc/self/exe";
