//! The cores that this process may use, and pinning a thread to one of them.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The calling thread, for system calls.
const THIS_THREAD: Pid = Pid::from_raw(0);

/// Returns the cores that the calling thread may use, by the system's numbers, ascending. Empty if
/// unknown.
pub fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(THIS_THREAD) else { return Vec::new() };
    (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect()
}

/// Returns how many threads can run at once; 1 if unknown.
pub fn count() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Pins the calling thread, and all that it starts, to one core.
pub fn pin_thread(core: usize) -> nix::Result<()> {
    let mut one = CpuSet::new();
    one.set(core)?;
    sched_setaffinity(THIS_THREAD, &one)
}

/// The cores of a thread that is pinned to one of them for a while.
#[derive(Debug)]
pub(super) struct Cores {
    /// The cores at first; `None` if unknown.
    all: Option<CpuSet>,
    held: Option<usize>,
}

impl Cores {
    /// Reads those of the calling thread.
    pub(super) fn of_this_thread() -> Self {
        Self { all: sched_getaffinity(THIS_THREAD).ok(), held: None }
    }

    /// Pins the calling thread to a core, or unpins it. If that fails, nothing changes.
    pub(super) fn hold(&mut self, core: Option<usize>) {
        if core == self.held {
            return;
        }
        let done = match (core, &self.all) {
            (Some(core), _) => pin_thread(core),
            (None, Some(all)) => sched_setaffinity(THIS_THREAD, all),
            (None, None) => Ok(()),
        };
        if done.is_ok() {
            self.held = core;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cores, allowed, pin_thread};

    #[test]
    fn a_thread_is_held_and_let_go() {
        let all = allowed();
        assert!(!all.is_empty());
        let mut cores = Cores::of_this_thread();
        for &core in &all {
            cores.hold(Some(core));
            assert_eq!(allowed(), [core]);
        }
        cores.hold(None);
        assert_eq!(allowed(), all);
    }

    #[test]
    fn a_core_that_is_not_there_changes_nothing() {
        let all = allowed();
        assert!(pin_thread(1023).is_err() && pin_thread(99_999).is_err());
        let mut cores = Cores::of_this_thread();
        cores.hold(Some(99_999));
        assert_eq!(allowed(), all);
    }
}
