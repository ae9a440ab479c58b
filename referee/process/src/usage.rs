//! What an agent's processes have used: CPU time, and time waiting for a core.

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::{Pid, SysconfVar, sysconf};
use referee_protocol::Nanos;
use std::cell::OnceCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Measures one agent's processes.
#[derive(Debug)]
pub struct Meters {
    agent: Pid,
    /// The ancestor of all that the agent starts. Looked up on first use, which must be while the
    /// agent runs.
    supervisor: OnceCell<Option<Pid>>,
    clock: ClockId,
    /// `/proc/PID/schedstat` of the agent's process.
    schedule: Option<File>,
    /// CPU time of earlier agents that the supervisor had already reaped.
    reaped_before: Nanos,
}

impl Meters {
    /// Creates the meters of the process `agent`, whose supervisor had already reaped
    /// `reaped_before` of CPU time of others. `None` if the system has no such clock.
    pub fn of(agent: Pid, reaped_before: Nanos) -> Option<Self> {
        let clock = clock_getcpuclockid(agent).ok()?;
        let schedule = File::open(format!("/proc/{agent}/schedstat")).ok();
        Some(Self { agent, supervisor: OnceCell::new(), clock, schedule, reaped_before })
    }

    fn supervisor(&self) -> Option<Pid> {
        *self.supervisor.get_or_init(|| Ticks::of(self.agent).map(|ticks| ticks.parent))
    }

    /// Returns the agent's process ID.
    pub fn process_id(&self) -> i32 {
        self.agent.as_raw()
    }

    /// Whether the agent is a single process with a single thread that blocks on reading stdin, and
    /// so can't write anything before it reads more. False if unknown.
    pub fn awaits_input(&self) -> bool {
        let process = format!("/proc/{}", self.agent);
        let threads = std::fs::read_dir(format!("{process}/task")).map_or(0, Iterator::count);
        let call = std::fs::read_to_string(format!("{process}/syscall")).unwrap_or_default();
        let mut words = call.split_whitespace();
        let reads = words.next().is_some_and(|number| number == libc::SYS_read.to_string());
        reads && words.next() == Some("0x0") && threads == 1 && self.processes() == 1
    }

    /// Returns how many processes the agent's tree has, including its own.
    pub fn processes(&self) -> usize {
        self.supervisor().map_or(0, |supervisor| tree_below(supervisor).len())
    }

    /// Whether a process of the tree runs, waits for a core or for the disk, or has ended and its
    /// supervisor has not reported that yet. A sleeping process isn't busy.
    pub fn is_busy(&self) -> bool {
        let Some(supervisor) = self.supervisor() else { return false };
        let has_ended = |&pid: &Pid| state_in(format!("/proc/{pid}").as_ref()) == Some('Z');
        tree_below(supervisor).into_iter().chain([supervisor]).any(runs)
            || children_of(supervisor).iter().any(has_ended)
    }

    /// Returns the CPU time of the agent's own process, all threads: exact and quick.
    pub fn process_cpu(&self) -> Option<Nanos> {
        let time = clock_gettime(self.clock).ok()?;
        let seconds = u64::try_from(time.tv_sec()).ok()?;
        let nanos = u64::try_from(time.tv_nsec()).ok()?;
        Some(Nanos(seconds * 1_000_000_000 + nanos))
    }

    /// Returns the CPU time of the agent and all its descendants: the process's own clock, or the coarser sum
    /// over the tree if that is more. Neither has the time of children that a process reaped
    /// without waiting for them.
    pub fn tree_cpu(&self) -> Option<Nanos> {
        self.process_cpu().max(self.tree_ticks())
    }

    /// Returns how long the agent's main thread was ready to run and had no core.
    pub fn wait(&self) -> Option<Nanos> {
        let mut text = [0; 96];
        let count = self.schedule.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..count]).ok()?;
        text.split_whitespace().nth(1)?.parse().ok().map(Nanos)
    }

    /// Sums the time of every process below the supervisor with its reaped children, and of what the
    /// supervisor itself reaped, from `/proc`.
    fn tree_ticks(&self) -> Option<Nanos> {
        let supervisor = self.supervisor()?;
        let reaped = Ticks::of(supervisor)?.reaped;
        let processes = tree_below(supervisor).into_iter().filter_map(Ticks::of);
        let ticks: u64 = processes.map(|process| process.own + process.reaped).sum();
        let per_second = sysconf(SysconfVar::CLK_TCK).ok()??;
        let tick = 1_000_000_000 / u64::try_from(per_second).ok()?.max(1);
        Some(Nanos((reaped * tick).saturating_sub(self.reaped_before.0) + ticks * tick))
    }
}

/// Fields of `/proc/PID/stat`, in clock ticks.
struct Ticks {
    parent: Pid,
    own: u64,
    reaped: u64,
}

impl Ticks {
    fn of(pid: Pid) -> Option<Self> {
        let text = proc_text(format!("/proc/{pid}/stat"))?;
        // The program's name is in brackets and may contain anything; the fields after it don't.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        let parent = fields.get(1)?.parse().ok()?;
        let (own, reaped) = (number(11)? + number(12)?, number(13)? + number(14)?);
        Some(Self { parent: Pid::from_raw(parent), own, reaped })
    }
}

/// Returns all descendants of a process, breadth first.
pub(crate) fn tree_below(pid: Pid) -> Vec<Pid> {
    bounded_tree_below(pid, u64::MAX).0
}

/// Returns the descendants of a process, breadth first, and how many threads they have. Stops when there
/// are more than `most` threads.
pub(crate) fn bounded_tree_below(pid: Pid, most: u64) -> (Vec<Pid>, u64) {
    let mut pids = children_of(pid);
    let (mut threads, mut next) = (0, 0);
    while let Some(&pid) = pids.get(next)
        && threads <= most
    {
        let own = threads_of(pid);
        threads += own.len() as u64;
        pids.extend(own.iter().flat_map(|thread| children_in(thread)));
        next += 1;
    }
    (pids, threads)
}

/// Whether one of its threads runs, or waits for a core or for the disk.
fn runs(pid: Pid) -> bool {
    let mut states = threads_of(pid).into_iter().filter_map(|thread| state_in(&thread));
    states.any(|state| matches!(state, 'R' | 'D'))
}

/// Returns the state letter in the `stat` file of a folder in /proc.
fn state_in(folder: &Path) -> Option<char> {
    let text = proc_text(folder.join("stat"))?;
    text.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Returns the folders of a process's threads.
pub(crate) fn threads_of(pid: Pid) -> Vec<PathBuf> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
    threads.into_iter().flatten().flatten().map(|thread| thread.path()).collect()
}

/// Returns a process's children, from the lists of all its threads.
pub(crate) fn children_of(pid: Pid) -> Vec<Pid> {
    threads_of(pid).iter().flat_map(|thread| children_in(thread)).collect()
}

/// Reads the list of a thread's children.
fn children_in(thread: &Path) -> Vec<Pid> {
    let list = proc_text(thread.join("children")).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw).collect()
}

/// Reads a file of `/proc`. The name of a process in it need not be UTF-8.
pub(crate) fn proc_text(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
