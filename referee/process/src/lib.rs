//! Untrusted programs as child processes: starts them, kills them with all their descendants,
//! confines them in a sandbox that is attacked before it is trusted, limits and measures them, and
//! reads and writes their pipes.
//!
//! This crate knows no game and no match: callers decide what is written to a program and what its
//! lines mean. It is the only crate with `unsafe` code, in `launcher/{sys,raw}.rs` and
//! `portable/sys.rs`.
//!
//! On Linux, programs are started by the modules beside this file. On other systems (cfg `portable`,
//! set by `build.rs`) some of them are replaced by modules of the same names in `portable/`, which use
//! only POSIX and have no sandbox.

#[cfg_attr(portable, path = "portable/cores.rs")]
pub mod cores;
pub mod lock;
pub mod memory_kills;
pub mod poll_on_wake;
#[cfg_attr(portable, path = "portable/timers.rs")]
pub mod timers;
#[cfg_attr(portable, path = "portable/mod.rs")]
pub mod launcher;
pub mod sandbox;
pub mod agent;
pub mod framer;
pub mod stderr;
#[cfg_attr(portable, path = "portable/usage.rs")]
pub mod usage;
pub mod blocked_call;
#[cfg(not(portable))]
mod blocked_calls;
pub mod hints;
pub mod cleaning;
pub mod work_folder;
mod failure;
pub mod files;
pub mod open_folder;
pub mod hidden;

pub use failure::{Cause, Failure, FailureKind};
pub use files::own_program;
