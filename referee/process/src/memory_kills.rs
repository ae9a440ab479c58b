//! Processes that the system killed because the machine, or a control group around the referee, had no
//! memory left. That is no fault of theirs: the system chooses whom it kills.

use crate::lock::lock;
use std::fs::read_to_string;
use std::sync::Mutex;
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

/// Returns how many there were since the machine was started.
fn count() -> Option<u64> {
    let text = read_to_string("/proc/vmstat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}
