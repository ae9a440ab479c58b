//! Processes that the system killed because the machine, or a control group around the referee, had no
//! memory left. That is no fault of theirs: the system chooses whom it kills.

use crate::lock::lock;
use crate::sandbox::memory_events;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

/// What the processes of an agent have in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeMemory {
    /// All of them, in KiB, with what their open files hold.
    pub kb: u64,
    /// The process that has most, which the system kills first.
    pub largest_kb: u64,
}

/// For how long a count serves as that of the start of an agent: reading it takes a tenth as long as a start.
const SERVES: Duration = Duration::from_secs(1);

/// How many there were until a while ago.
#[derive(Debug, Default)]
pub(crate) struct MemoryKills(Mutex<Option<(Instant, Option<u64>)>>);

impl MemoryKills {
    /// Returns how many there were when an agent starts that starts now; `None` if the system doesn't count
    /// them.
    pub(crate) fn before(&self) -> Option<u64> {
        let now = Instant::now();
        let mut last = lock(&self.0);
        match *last {
            Some((at, count)) if now.saturating_duration_since(at) < SERVES => count,
            _ => last.insert((now, count())).1,
        }
    }
}

/// Whether there were any since then.
pub(crate) fn since(before: Option<u64>) -> bool {
    before.is_some_and(|before| count().is_some_and(|now| now > before))
}

/// Returns how much memory this machine, or the container around the referee, has, in MB; `None` if that is unknown.
pub fn machine_mb() -> Option<u64> {
    let text = read_to_string("/proc/meminfo").unwrap_or_default();
    let machine = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let machine = machine.and_then(|kib| kib.split_whitespace().next()?.parse().ok());
    // Of version 2 and of version 1. Without a limit the first is no number, and the second very large.
    let container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let container =
        container.iter().filter_map(|path| read_to_string(path).ok()?.trim().parse().ok());
    let all = machine.map(|kib: u64| kib * 1024).into_iter().chain(container);
    all.min().map(|bytes| bytes / 1_000_000)
}

/// Returns how many there were so far in the referee's own group, in which agents are that have none of their own; else on
/// the whole machine: there, others that exceed the limits of their own groups are counted, too.
fn count() -> Option<u64> {
    static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
        // The group at the top counts none.
        let own = memory_events().into_iter().find(|file| count_in(file).is_some());
        own.unwrap_or_else(|| PathBuf::from("/proc/vmstat"))
    });
    count_in(&FILE)
}

fn count_in(file: &Path) -> Option<u64> {
    let text = read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}
