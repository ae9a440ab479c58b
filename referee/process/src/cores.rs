//! The cores that this process may use, and pinning a thread to one of them.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::{Pid, SysconfVar, sysconf};
use std::fs;
use std::path::{Path, PathBuf};

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

/// Returns how many threads of any program can run at once: one may let itself run on more cores than it was started
/// on. 1 if unknown.
pub fn online() -> usize {
    let online = sysconf(SysconfVar::_NPROCESSORS_ONLN).ok().flatten();
    online.and_then(|count| usize::try_from(count).ok()).unwrap_or(1)
}

/// Pins the calling thread, and all that it starts, to one core.
pub fn pin_thread(core: usize) -> nix::Result<()> {
    let mut one = CpuSet::new();
    one.set(core)?;
    sched_setaffinity(THIS_THREAD, &one)
}

/// Lets the calling thread, and all that it starts, run only on these cores; on all if there are none.
pub fn restrict_thread(cores: &[usize]) -> nix::Result<()> {
    let mut some = CpuSet::new();
    cores.iter().try_for_each(|&core| some.set(core))?;
    if cores.is_empty() { Ok(()) } else { sched_setaffinity(THIS_THREAD, &some) }
}

/// The beginning of the names of threads that play matches: other programs on this machine find them by it.
pub const MATCH_THREAD: &str = "matches-";

/// Returns the cores that the calling thread may use and that no match on this machine is pinned to, whichever program
/// plays it.
pub fn free_of_matches() -> Vec<usize> {
    let mut free = allowed();
    let folders = |folder: &Path| {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let numbers = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit))
    };
    let processes = folders(Path::new("/proc")).into_iter().filter(numbers);
    for thread in processes.flat_map(|process| folders(&process.join("task"))) {
        let name = fs::read_to_string(thread.join("comm")).unwrap_or_default();
        if !name.starts_with(MATCH_THREAD) {
            continue;
        }
        // A single number is a thread that is pinned.
        let status = fs::read_to_string(thread.join("status")).unwrap_or_default();
        let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let pinned = cores.and_then(|cores| cores.trim().parse::<usize>().ok());
        free.retain(|core| Some(*core) != pinned);
    }
    free
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
    use super::{Cores, MATCH_THREAD, allowed, free_of_matches, pin_thread, restrict_thread};
    use std::sync::mpsc;

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
    fn a_core_with_a_match_is_not_free() {
        let all = allowed();
        let [core, ..] = all[..] else { panic!("no core") };
        let (pinned, is_pinned) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let play = move || {
            pin_thread(core).unwrap();
            pinned.send(()).unwrap();
            ended.recv().ok();
        };
        let thread = std::thread::Builder::new().name(format!("{MATCH_THREAD}0")).spawn(play);
        is_pinned.recv().unwrap();
        let free = free_of_matches();
        assert!(!free.contains(&core) && free.iter().all(|core| all.contains(core)), "{free:?}");
        drop(end);
        thread.unwrap().join().unwrap();
    }

    #[test]
    fn a_thread_is_restricted_to_some_cores() {
        let all = allowed();
        std::thread::spawn(move || {
            restrict_thread(&[]).unwrap();
            assert_eq!(allowed(), all);
            restrict_thread(&all[..1]).unwrap();
            assert_eq!(allowed(), all[..1]);
        })
        .join()
        .unwrap();
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
