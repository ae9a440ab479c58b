//! All that comes of one agent: reaping it, sending signals to it, and leaving nothing of it.

use super::sys::{self, Ended};
use crate::usage::children_of;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpid};

/// All processes there are, for `kill`; within a domain, all that this process can reach.
const ALL: Pid = Pid::from_raw(-1);

/// How a signal reaches all that comes of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaching {
    /// At once and without exception: this process was seen to be confined, so that a signal to all
    /// goes to its own.
    All,
    /// Those that are found, one by one.
    Found,
}

impl Reaching {
    /// Sends a signal to all that comes of this process.
    pub(super) fn signal(self, signal: Signal) {
        match self {
            Self::All => {
                kill(ALL, signal).ok();
            }
            Self::Found => {
                for pid in descendants() {
                    kill(pid, signal).ok();
                }
            }
        }
    }
}

/// Whether any child is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    Something,
}

/// Takes in all children that have ended, and tells of each. A process without any child has no
/// descendants either: as the subreaper it is the next parent of each that loses its own.
pub(super) fn reap(mut ended: impl FnMut(Pid, i32)) -> Left {
    loop {
        match sys::next_ended(false) {
            Ended::One(pid, status) => ended(pid, status),
            Ended::NotYet => return Left::Something,
            Ended::NoneLeft => return Left::Nothing,
        }
    }
}

/// All that comes from this process, children before their own.
pub(super) fn descendants() -> Vec<Pid> {
    let mut found = children_of(getpid());
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        found.extend(children_of(pid));
        next += 1;
    }
    found
}
