//! All that comes of one agent: reaping it, sending signals to it, and leaving nothing of it.

use super::sys::{self, Ended};
use crate::usage::tree_below;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpid};

/// All processes there are, for `kill`; within a domain, all that this process can reach.
const ALL: Pid = Pid::from_raw(-1);

/// Sends a signal to all that comes of this process: at once and without exception where it is
/// `bounded`, seen to be confined, so that a signal to all goes to its own; else to those that are
/// found, one by one.
pub(super) fn signal_all(bounded: bool, signal: Signal) {
    let found = if bounded { vec![ALL] } else { tree_below(getpid()) };
    for pid in found {
        kill(pid, signal).ok();
    }
}

/// Takes in all children that have ended, and reports each; whether any is left. A process without
/// any child has no descendants either: as the subreaper it is the next parent of each that loses
/// its own.
pub(super) fn reap(mut ended: impl FnMut(Pid, i32)) -> bool {
    loop {
        match sys::next_ended(false) {
            Ended::One(pid, status) => ended(pid, status),
            Ended::NotYet => return true,
            Ended::NoneLeft => return false,
        }
    }
}
