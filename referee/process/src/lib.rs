//! Untrusted programs as child processes: starts them, kills them with all their descendants,
//! confines them in a sandbox that is attacked before it is trusted, limits and measures them, and
//! reads and writes their pipes.
//!
//! This crate knows no game and no match: callers decide what is written to a program and what its
//! lines mean. It is the only crate with `unsafe` code, in `launcher/{sys,raw}.rs`.

pub mod cores;
pub mod lock;
pub mod poll_on_wake;
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

/// The running program's own file, even if it has been replaced or removed since the start.
pub const OWN_PROGRAM: &str = "/proc/self/exe";
