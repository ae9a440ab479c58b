//! The cores that this process may use, and holding a thread on one of them.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The calling thread, for the system's calls.
const THIS_THREAD: Pid = Pid::from_raw(0);

/// The cores that the calling thread may use, by the system's numbers, ascending: all of the machine
/// or those that whoever started the referee has left it. Empty where the system doesn't tell.
pub fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(THIS_THREAD) else { return Vec::new() };
    (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect()
}

/// How many threads run at once here; one where the system doesn't tell.
pub fn count() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Holds the calling thread, and all that is started from it, on one core.
pub fn hold(core: usize) -> nix::Result<()> {
    let mut one = CpuSet::new();
    one.set(core)?;
    sched_setaffinity(THIS_THREAD, &one)
}

/// The cores of a thread that is held on one of them for a while.
#[derive(Debug)]
pub(super) struct Cores {
    /// Those that it had at first; `None` where the system doesn't tell.
    all: Option<CpuSet>,
    held: Option<usize>,
}

impl Cores {
    /// Those of the calling thread.
    pub(super) fn of_this_thread() -> Self {
        Self { all: sched_getaffinity(THIS_THREAD).ok(), held: None }
    }

    /// Holds the calling thread on a core, or lets it go. Where that is refused it stays as it was.
    pub(super) fn hold(&mut self, core: Option<usize>) {
        if core == self.held {
            return;
        }
        let done = match (core, &self.all) {
            (Some(core), _) => hold(core),
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
    use super::{Cores, allowed, hold};

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
        assert!(hold(1023).is_err() && hold(99_999).is_err());
        let mut cores = Cores::of_this_thread();
        cores.hold(Some(99_999));
        assert_eq!(allowed(), all);
    }
}
