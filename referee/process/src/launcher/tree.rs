//! An agent's process tree: reaping and signalling all its processes.

use super::sys::{self, Ended};
use crate::usage::tree_below;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpid};

/// All processes, for `kill`; within a Landlock domain, all that this process can reach.
const ALL: Pid = Pid::from_raw(-1);

/// Sends a signal to all descendants: with one system call if this process is known to be `bounded`
/// by its domain; otherwise to those that are found, one by one.
pub(super) fn signal_all(bounded: bool, signal: Signal) {
    let found = if bounded { vec![ALL] } else { tree_below(getpid()) };
    for pid in found {
        kill(pid, signal).ok();
    }
}

/// Reaps all children that have ended, and reports each; returns whether any is left. A subreaper
/// without children has no descendants: it becomes the parent of every orphan.
pub(super) fn reap(mut ended: impl FnMut(Pid, i32, u64)) -> bool {
    loop {
        match sys::next_ended(false) {
            Ended::One(pid, status, peak) => ended(pid, status, peak),
            Ended::NotYet => return true,
            Ended::NoneLeft => return false,
        }
    }
}
