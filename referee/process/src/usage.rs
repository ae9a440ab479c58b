//! What an agent's processes have used: CPU time, and time waiting for a core.

use crate::blocked_call::{Activity, BlockedCall};
use crate::files::head;
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::{Pid, SysconfVar, sysconf};
use referee_protocol::Nanos;
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::cell::OnceCell;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A clock that advances while the machine sleeps, and can't be set.
pub const UPTIME: ClockId = ClockId::CLOCK_BOOTTIME;

/// Whether [`Meters::is_asleep`] can be known.
pub const SEES_SLEEP: bool = true;

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
    /// The CPU time of processes for which no one waited, as far as the supervisor has seen it.
    lost: Option<File>,
    /// The kernel's counter of the CPU time of the whole tree, if there is one.
    counter: Option<File>,
}

impl Meters {
    /// Creates the meters of the process `agent`, whose supervisor had already reaped
    /// `reaped_before` of CPU time of others. `counters` are what came with
    /// [`Report::Started`](crate::launcher::Report::Started), in nanoseconds. `None` if the system has
    /// no such clock.
    pub fn of(
        agent: Pid,
        reaped_before: Nanos,
        mut counters: impl Iterator<Item = File>,
    ) -> Option<Self> {
        let (lost, counter) = (counters.next(), counters.next());
        let clock = clock_getcpuclockid(agent).ok()?;
        let schedule = File::open(format!("/proc/{agent}/schedstat")).ok();
        let supervisor = OnceCell::new();
        Some(Self { agent, supervisor, clock, schedule, reaped_before, lost, counter })
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

    /// Returns the system call in which the agent waits: one that reads its stdin if the main thread of one of its
    /// processes is in it, else that of its main thread, or of the process for which it waits. `None` if it runs, or
    /// isn't known.
    pub fn blocked_call(&self) -> Option<BlockedCall> {
        let tree = self.tree()?;
        let stdin = std::fs::read_link(format!("/proc/{}/fd/0", self.agent)).ok();
        let calls: Vec<(Pid, Pid, BlockedCall)> = tree
            .iter()
            .flat_map(|&pid| {
                let calls = BlockedCall::of_threads(pid, stdin.as_deref());
                calls.into_iter().map(move |(thread, call)| (pid, thread, call))
            })
            .collect();
        // Elsewhere a thread that only reads may wait while the main one hangs.
        let is_elsewhere = self.runs_in_any_thread();
        let decides = |thread| is_elsewhere || tree.contains(thread);
        let reads = calls.iter().find(|(_, thread, call)| call.reads_stdin && decides(thread));
        let main = calls.iter().find(|(_, thread, _)| *thread == self.agent);
        let awaits_child = main.is_some_and(|(_, _, call)| {
            call.name.starts_with("wait") || call.reads_pipe && tree.len() > 1
        });
        let child = || calls.iter().rfind(|(_, thread, _)| tree.contains(thread));
        let (pid, _, call) = reads.or(main.filter(|_| !awaits_child)).or_else(child)?;
        // Of a process that waits for more from the agent, only its name says something.
        let is_fed = awaits_child && call.reads_pipe;
        let call = if is_fed { main.map_or(call, |(_, _, call)| call) } else { call };
        let name = || proc_text(format!("/proc/{pid}/comm")).map(|name| name.trim_end().to_owned());
        let process = if *pid == self.agent { None } else { name() };
        Some(BlockedCall { process, ..call.clone() })
    }

    /// Whether it is of a language that runs a program in any thread: Java or Go.
    pub fn runs_in_any_thread(&self) -> bool {
        stack_signal(self.agent) == Some(Signal::QUIT)
    }

    /// Asks the agent's runtime to write where it is, to stderr or, as Java does, to stdout, and returns whether it is one
    /// that does so. It may end by that.
    pub fn ask_for_stack(&self) -> bool {
        let Some(signal) = stack_signal(self.agent) else { return false };
        let Some(pid) = rustix::process::Pid::from_raw(self.agent.as_raw()) else { return false };
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
        // The number belongs to the agent as long as its parent is the supervisor, which has not reaped it then.
        Ticks::of(self.agent).map(|ticks| ticks.parent) == self.supervisor()
            && pidfd_send_signal(&process, signal).is_ok()
    }

    /// Returns how many processes the agent's tree has, including its own.
    pub fn processes(&self) -> usize {
        self.tree().map_or(0, |tree| tree.len())
    }

    /// Whether the agent's main thread has child processes.
    pub fn has_children(&self) -> bool {
        !children_in(format!("/proc/{0}/task/{0}", self.agent).as_ref()).is_empty()
    }

    /// Returns what the processes of the tree, and its supervisor, do.
    pub fn activity(&self) -> Activity {
        let Some(supervisor) = self.supervisor() else { return Activity::Sleeps };
        let tree = tree_below(supervisor).into_iter().chain([supervisor]);
        match tree.map(activity_of).max() {
            Some(Activity::Sleeps) if children_of(supervisor).into_iter().any(has_ended) => {
                Activity::Waits
            }
            activity => activity.unwrap_or(Activity::Sleeps),
        }
    }

    /// Whether the agent's own process ends or has ended: none of its threads will run on.
    pub fn is_exiting(&self) -> bool {
        has_ended(self.agent)
    }

    /// Whether no thread of the tree runs or waits for a core or for the disk.
    pub fn is_asleep(&self) -> bool {
        // Its main thread is quick to look at, and usually the only one.
        let agent = PathBuf::from(format!("/proc/{}", self.agent));
        let sleeps = match state_in(&agent) {
            Some('D') => waits_for_child(&agent),
            Some('Z') => !self.is_exiting(),
            state => state == Some('S'),
        };
        let rests = |pid| activity_of(pid) == Activity::Sleeps;
        sleeps && self.tree().is_some_and(|tree| tree.into_iter().all(rests))
    }

    /// Returns the CPU time of the agent's own process, all threads: exact and quick.
    pub fn process_cpu(&self) -> Option<Nanos> {
        time_on(self.clock)
    }

    /// Returns the CPU time of the agent and all its descendants: the kernel's counter, the
    /// process's own clock or the sum over the tree, whichever is most. Only the counter has all the
    /// time of children that ended without their parent waiting for them; the sum has what was seen of
    /// it. Only the sum has that of programs which the agent may not read.
    pub fn tree_cpu(&self) -> Option<Nanos> {
        let own = self.process_cpu();
        // Once it has ended its supervisor can't be looked up.
        let knows_tree = own.is_some() || self.supervisor.get().is_some();
        own.max(if knows_tree { self.tree_sum() } else { None }).max(self.counted())
    }

    fn counted(&self) -> Option<Nanos> {
        let mut counter = self.counter.as_ref()?;
        let mut count = [0; 8];
        counter.read_exact(&mut count).ok()?;
        Some(Nanos(u64::from_ne_bytes(count)))
    }

    /// Returns how long the agent's main thread was ready to run and had no core.
    pub fn wait(&self) -> Option<Nanos> {
        let mut text = [0; 96];
        let count = self.schedule.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..count]).ok()?;
        text.split_whitespace().nth(1)?.parse().ok().map(Nanos)
    }

    /// Returns the most memory that the agent's process has had, in KiB, without files that it maps; of
    /// a tree the sum of its processes.
    pub fn peak_memory_kb(&self, whole: bool) -> Option<u64> {
        let peaks = self.measured(whole).into_iter().filter_map(|pid| {
            let text = proc_text(format!("/proc/{pid}/status"))?;
            Some(status_field(&text, "VmHWM:")?.saturating_sub(status_field(&text, "RssFile:")?))
        });
        peaks.reduce(u64::saturating_add)
    }

    /// Returns the agent's process and its descendants; `None` if they aren't known.
    pub fn tree(&self) -> Option<Vec<Pid>> {
        self.supervisor().map(tree_below)
    }

    /// Measures that peak anew; false if the system refuses.
    pub fn restart_peak_memory(&self, whole: bool) -> bool {
        // From the kernel's `proc(5)`: 5 resets the peak.
        let restart = |pid: Pid| std::fs::write(format!("/proc/{pid}/clear_refs"), "5").is_ok();
        self.measured(whole).into_iter().all(restart)
    }

    /// Returns the processes whose memory is measured: the whole tree, or the agent's own.
    fn measured(&self, whole: bool) -> Vec<Pid> {
        let tree = whole.then(|| self.tree()).flatten();
        tree.unwrap_or_else(|| vec![self.agent])
    }

    /// Sums the time of every process below the supervisor, from its own clock, with its reaped
    /// children and with what the supervisor itself reaped, and what no one reaped. Time of reaped
    /// children is known in clock ticks; without a counter it is rounded up.
    fn tree_sum(&self) -> Option<Nanos> {
        let rounding = if self.counter.is_none() { ROUNDED_TICKS } else { 0 };
        let (reaped, below) = time_below(self.supervisor()?, rounding)?;
        let mut lost = [0; 8];
        if let Some(file) = &self.lost {
            file.read_exact_at(&mut lost, 0).ok()?;
        }
        let lost = Nanos(u64::from_ne_bytes(lost));
        Some(reaped.since(self.reaped_before).plus(below).plus(lost))
    }
}

/// Returns the signal at which a runtime writes its stack: Python when it is interrupted, Java and Go at SIGQUIT.
fn stack_signal(pid: Pid) -> Option<Signal> {
    let link = PathBuf::from(format!("/proc/{pid}/exe"));
    let program = std::fs::read_link(&link).ok()?;
    let name = program.file_name()?.to_str()?;
    if name.starts_with("python") || name.starts_with("pypy") {
        return Some(Signal::INT);
    }
    if name == "java" {
        return Some(Signal::QUIT);
    }
    // The note of Go's linker, which is near the beginning of the file. Other programs would only end. Opened by the
    // link, which leads to the very file: its name may be any other's by now.
    let start = head(&link, 8192)?;
    let note = b"\x04\0\0\0Go\0\0";
    start.windows(note.len()).any(|bytes| bytes == note).then_some(Signal::QUIT)
}

/// Returns the time of the children that a process has reaped, in whole clock ticks, and that of all
/// its descendants with what they have reaped, each with so many ticks more.
pub(crate) fn time_below(root: Pid, rounding: u64) -> Option<(Nanos, Nanos)> {
    let tick = tick_ns();
    let reaped = Ticks::of(root)?.reaped * tick;
    let processes = tree_below(root).into_iter().map(|pid| {
        let own = own_time(pid).unwrap_or_default();
        let ticks = Ticks::of(pid).filter(Ticks::has_reaped);
        own.0 + ticks.map_or(0, |ticks| (ticks.reaped + rounding) * tick)
    });
    Some((Nanos(reaped), Nanos(processes.sum())))
}

/// Returns the length of a clock tick in nanoseconds.
pub(crate) fn tick_ns() -> u64 {
    let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten();
    1_000_000_000 / per_second.and_then(|count| u64::try_from(count).ok()).unwrap_or(100).max(1)
}

/// Returns the CPU time of a process, without its children; `None` if it has ended.
pub(crate) fn own_time(pid: Pid) -> Option<Nanos> {
    clock_getcpuclockid(pid).ok().and_then(time_on)
}

/// Returns the CPU time of the calling thread.
pub(crate) fn this_thread_time() -> Duration {
    let time = time_on(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap_or_default();
    Duration::from_nanos(time.0)
}

/// Returns the time on a clock.
fn time_on(clock: ClockId) -> Option<Nanos> {
    let time = clock_gettime(clock).ok()?;
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    let nanos = u64::try_from(time.tv_nsec()).ok()?;
    Some(Nanos(seconds * 1_000_000_000 + nanos))
}

/// How much longer than shown the time of reaped children may be, which is the sum of two numbers
/// of whole ticks.
pub(crate) const ROUNDED_TICKS: u64 = 2;

/// Fields of `/proc/PID/stat`, in clock ticks.
#[derive(Debug)]
pub(crate) struct Ticks {
    pub(crate) parent: Pid,
    pub(crate) reaped: u64,
    /// The page faults of children that have been reaped.
    pub(crate) faults: u64,
    /// When the process was started.
    pub(crate) started: u64,
}

impl Ticks {
    pub(crate) fn of(pid: Pid) -> Option<Self> {
        let text = proc_text(format!("/proc/{pid}/stat"))?;
        // The program's name is in brackets and may contain anything; the fields after it don't.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        let parent = fields.get(1)?.parse().ok()?;
        Some(Self {
            parent: Pid::from_raw(parent),
            reaped: number(13)? + number(14)?,
            faults: number(8)? + number(10)?,
            started: number(19)?,
        })
    }

    /// Whether any child has been reaped, however short its time: no process runs without a page fault.
    pub(crate) fn has_reaped(&self) -> bool {
        self.faults > 0
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

/// Returns what the threads of a process do.
fn activity_of(pid: Pid) -> Activity {
    let activity = |thread: &PathBuf| match state_in(thread) {
        Some('R') => Activity::Runs,
        Some('D') if !waits_for_child(thread) => Activity::Waits,
        _ => Activity::Sleeps,
    };
    threads_of(pid).iter().map(activity).max().unwrap_or(Activity::Sleeps)
}

/// Whether all threads of a process end or have ended. Its first one may have ended long before the others.
pub(crate) fn has_ended(pid: Pid) -> bool {
    threads_of(pid).iter().all(|thread| ends(thread))
}

/// Whether a thread that seems to wait for the disk waits until its child ends or executes a program, as after `vfork`.
/// The child may sleep as long as it likes.
pub(crate) fn waits_for_child(thread: &Path) -> bool {
    let Some(text) = proc_text(thread.join("syscall")) else { return false };
    let number = text.split(' ').next().and_then(|number| number.parse().ok());
    number.is_some_and(|number: libc::c_long| FORKS.contains(&number))
}

/// The system calls that may wait so.
#[cfg(target_arch = "x86_64")]
const FORKS: [libc::c_long; 3] = [libc::SYS_vfork, libc::SYS_clone, libc::SYS_clone3];
#[cfg(not(target_arch = "x86_64"))]
const FORKS: [libc::c_long; 2] = [libc::SYS_clone, libc::SYS_clone3];

/// Returns the state letters of a process's threads.
pub(crate) fn states_of(pid: Pid) -> impl Iterator<Item = char> {
    threads_of(pid).into_iter().filter_map(|thread| state_in(&thread))
}

/// Returns the state letter in the `stat` file of a folder in /proc.
pub(crate) fn state_in(folder: &Path) -> Option<char> {
    let text = proc_text(folder.join("stat"))?;
    text.rsplit_once(')')?.1.trim_start().chars().next()
}

/// A thread with this flag, of the kernel's `sched.h`, is ending. It has the flag before its files are
/// closed.
const PF_EXITING: u64 = 0x4;

/// Whether a thread ends or has ended, by its folder in /proc.
pub(crate) fn ends(thread: &Path) -> bool {
    flags_in(thread).is_none_or(|flags| flags & PF_EXITING != 0)
}

/// Returns the flags in the `stat` file of a folder in /proc.
fn flags_in(folder: &Path) -> Option<u64> {
    let text = proc_text(folder.join("stat"))?;
    text.rsplit_once(')')?.1.split_whitespace().nth(6)?.parse().ok()
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

/// Returns the number in the line of a file of `/proc` that starts with this name.
pub(crate) fn status_field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Reads a file of `/proc`. The name of a process in it need not be UTF-8.
pub(crate) fn proc_text(path: impl AsRef<Path>) -> Option<String> {
    // With `take`, the size isn't looked up. These files have none.
    let mut bytes = Vec::with_capacity(4096);
    File::open(path).ok()?.take(u64::MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Activity, Duration, Meters, Pid, ROUNDED_TICKS};
    use referee_protocol::Nanos;
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    /// A process whose child has 40 children of a millisecond, one after the other. It writes its
    /// process ID, what it and they have used, and what its parent had reaped before, in
    /// nanoseconds.
    const SHORT_CHILDREN: &str = "import os, resource, sys, time\n\
        def reaped():\n \
         used = resource.getrusage(resource.RUSAGE_CHILDREN)\n \
         return int(1e9 * (used.ru_utime + used.ru_stime))\n\
        before = reaped()\n\
        if os.fork() != 0: os.wait(); sys.exit()\n\
        for _ in range(40):\n \
         if os.fork() == 0:\n  \
          while time.process_time() < 0.001: pass\n  \
          os._exit(0)\n \
         os.wait()\n\
        print(os.getpid(), time.process_time_ns() + reaped(), before, flush=True)\n\
        sys.stdin.read()";

    /// An agent whose child doesn't end would keep its match from ending, as if it waited for the disk.
    #[test]
    fn who_waits_for_a_child_after_vfork_sleeps() {
        const VFORK: &str = "import ctypes, os, sys\n\
            if os.fork() != 0: os.wait(); sys.exit()\n\
            print(os.getpid(), flush=True)\n\
            ctypes.CDLL(None).vfork()\n\
            os.read(0, 1)\n\
            os._exit(0)";
        let mut command = Command::new("python3");
        command.args(["-c", VFORK]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut supervisor) = command.spawn() else { return };
        let mut line = String::new();
        BufReader::new(supervisor.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let agent = Pid::from_raw(line.trim().parse().unwrap());
        let meters = Meters::of(agent, Nanos(0), std::iter::empty()).unwrap();
        let waits = || super::state_in(format!("/proc/{agent}").as_ref()) == Some('D');
        while !(waits() && meters.has_children()) {
            std::thread::yield_now();
        }
        // Its child reaches its call soon.
        let sleeps = (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            meters.activity() == Activity::Sleeps
        });
        assert!(sleeps);
        assert!(waits() && meters.is_asleep());
        drop(supervisor.stdin.take());
        supervisor.wait().unwrap();
    }

    /// It would keep its match from ending, as if its end had not been reported yet.
    #[test]
    fn whose_first_thread_has_ended_may_sleep() {
        const FIRST_ENDS: &str = "import ctypes, os, sys, threading\n\
            if os.fork() != 0: os.wait(); sys.exit()\n\
            print(os.getpid(), flush=True)\n\
            threading.Thread(target=lambda: (os.read(0, 1), os._exit(0))).start()\n\
            ctypes.CDLL(None).syscall(60, 0)";
        let mut command = Command::new("python3");
        command.args(["-c", FIRST_ENDS]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut supervisor) = command.spawn() else { return };
        let mut line = String::new();
        BufReader::new(supervisor.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let agent = Pid::from_raw(line.trim().parse().unwrap());
        let meters = Meters::of(agent, Nanos(0), std::iter::empty()).unwrap();
        let sleeps = (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            super::state_in(format!("/proc/{agent}").as_ref()) == Some('Z')
                && meters.activity() == Activity::Sleeps
        });
        assert!(sleeps && !meters.is_exiting());
        assert!(meters.is_asleep());
        drop(supervisor.stdin.take());
        supervisor.wait().unwrap();
    }

    /// The agent decides what has that name.
    #[test]
    fn a_program_is_not_opened_by_its_name() {
        let folder = crate::work_folder::create().unwrap();
        let program = folder.path().join("x");
        std::fs::copy("/bin/cat", &program).unwrap();
        let mut agent = Command::new(&program).stdin(Stdio::piped()).spawn().unwrap();
        std::fs::remove_file(&program).unwrap();
        let mode = nix::sys::stat::Mode::S_IRWXU;
        nix::unistd::mkfifo(&folder.path().join("x (deleted)"), mode).unwrap();
        let pid = Pid::from_raw(i32::try_from(agent.id()).unwrap());
        let (answer, answered) = std::sync::mpsc::channel();
        std::thread::spawn(move || answer.send(super::stack_signal(pid)));
        assert_eq!(answered.recv_timeout(Duration::from_secs(20)), Ok(None));
        drop(agent.stdin.take());
        agent.wait().unwrap();
    }

    #[test]
    fn time_of_short_children_is_rounded_up_by_less_than_two_ticks() {
        let mut command = Command::new("python3");
        command.args(["-c", SHORT_CHILDREN]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut supervisor) = command.spawn() else { return };
        let mut line = String::new();
        BufReader::new(supervisor.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let numbers: Vec<u64> = line.split_whitespace().map(|it| it.parse().unwrap()).collect();
        let [pid, used, before] = numbers[..] else { panic!("{line}") };
        let agent = Pid::from_raw(i32::try_from(pid).unwrap());
        let meters = Meters::of(agent, Nanos(before), std::iter::empty()).unwrap();
        let Nanos(counted) = meters.tree_cpu().unwrap();
        drop(supervisor.stdin.take());
        supervisor.wait().unwrap();
        // `getrusage` itself is cut to microseconds, and the agent went on to wait for its input.
        let error_us = counted.saturating_sub(used) / 1000;
        writeln!(std::io::stderr(), "counted {error_us} us too much of {} us", used / 1000)
            .unwrap();
        assert!(counted + 2000 >= used, "{counted} of {used}");
        assert!(error_us < ROUNDED_TICKS * 10_000 + 2000, "{error_us}");
    }
}
