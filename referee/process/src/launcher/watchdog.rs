//! Watches the memory and the number of processes of an agent's tree, if it has no control group.
//!
//! A tree that doesn't run can't take memory. So memory is checked after some of the tree's CPU time, and
//! nothing but the CPU clocks is read while it uses none.
//!
//! A check is quick: what each process has in memory, and how many threads. Only if that is too
//! much it is measured exactly, process by process, until the sum is known to be within the limit.
//! That takes up to a hundred times as long, and longer with many mappings, so it is done in steps, as is the look at
//! what the tree holds besides: between them the supervisor handles what else happens, above all commands to kill. What
//! takes too long to measure counts as too much. A process that
//! runs in its parent's memory, until it calls exec, doesn't count then. Mapped files
//! of a disk don't count: the system frees their memory when it needs it.

use super::held::{Held, HeldMemory, LOCKS_MAX, Look};
use super::sys;
use super::wire::Limit;
use crate::memory_kills::TreeMemory;
use crate::usage::{
    Ticks, bounded_tree_below, own_time, proc_text, status_field, this_thread_time, threads_of,
};
use nix::unistd::Pid;
use referee_protocol::{Limits, Nanos};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The most that a tree can fill in a second of CPU time, in KiB.
const FILLED_KIB_A_SECOND: u64 = 4 << 20;
/// The shortest and the longest pause between two checks.
const PAUSE: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(20));
/// Checks take at most one part in `PART` of the time,
const PART: u32 = 20;
/// but this is the longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(100);
/// How long one step of an exact measurement takes, and the last process of the step. The next step
/// follows after as long a pause.
const STEP: Duration = Duration::from_millis(5);
/// The most CPU time of this process that one measurement, or one look at what is held, takes. Those of a tree of a
/// hundred processes with a thousand mappings each take a part of it; only paths of megabytes, or as many mappings and files
/// as an agent can make, take more.
const COST_MAX: Duration =
    Duration::from_millis(if cfg!(debug_assertions) { 10_000 } else { 2000 });
/// So much more for each KiB that processes have: the kernel goes through the pages that each of them has, shared ones too,
/// which takes 60 to 110 ns a page.
const COST_A_KIB: Duration = Duration::from_nanos(if cfg!(debug_assertions) { 250 } else { 50 });
/// After this time, and as much CPU time of this process, the tree is stopped until a measurement is done: processes that
/// compete with this one would fill memory meanwhile.
const LONG: Duration = Duration::from_millis(50);
const LONG_COST: Duration = Duration::from_millis(if cfg!(debug_assertions) { 100 } else { 20 });
/// The same for counting the mappings of one process.
const COUNT_MAX: Duration = Duration::from_millis(100);
/// The most CPU time that a tree may use between two looks at its memory. Some ways fill it faster than
/// [`FILLED_KIB_A_SECOND`].
const USED_MAX: Duration = Duration::from_millis(40);

/// How many mappings take a KiB of the kernel's memory, at least: measured with Linux 6.18, one that was never used takes
/// 215 bytes, one with a page 450 in a process that was forked from another.
const MAPPINGS_A_KIB: u64 = 2;
/// The size of a page, of which a mapping has at least one, in KiB.
const PAGE_KIB: u64 = 4;

/// Watches one agent's tree.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// The tree is all descendants of this process.
    root: Pid,
    memory_kib: u64,
    processes: u64,
    /// When the next check may be due; `None` while the tree is stopped.
    due: Option<Instant>,
    /// The processes at the last check.
    tree: Vec<Pid>,
    /// The CPU time that they had used before it; `None` if they were not yet known then.
    used: Option<Nanos>,
    /// What they may have used when their memory is checked next.
    used_next: Option<Nanos>,
    /// What they had used when it was checked last.
    used_checked: Option<Nanos>,
    /// What the tree held in memory besides its processes' own, at the last check.
    held: Held,
    held_memory: HeldMemory,
    /// A look at that in progress.
    looking: Option<Looking>,
    /// An exact measurement in progress.
    exact: Option<Exact>,
    /// How long a step of either takes, and the most CPU time of all, and for each KiB of the processes.
    step: Duration,
    cost_max: Duration,
    cost_a_kib: Duration,
}

/// A look at what is held.
#[derive(Debug)]
struct Looking {
    look: Look,
    /// Its CPU time by now.
    cost: Duration,
    began: Instant,
    /// When to check next what the processes have.
    check_at: Instant,
}

/// An exact measurement.
#[derive(Debug)]
struct Exact {
    /// What is not yet measured, with its upper bounds; those that have most come last.
    rest: Vec<(Pid, Used)>,
    /// The sum of what is.
    measured: Used,
    began: Instant,
    /// Its CPU time by now.
    cost: Duration,
}

/// Memory of a process in KiB.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    /// Private memory, including swap.
    private: u64,
    /// Memory shared with other processes, without files of a disk.
    shared: u64,
    /// Page tables, which can exist without any page.
    tables: u64,
    /// The kernel's lists of its mappings, at most: counting them takes long.
    mappings: u64,
}

impl Watchdog {
    /// Watches all descendants of a process, which itself doesn't count. Whether the system limits their
    /// number too decides how soon they are counted first.
    pub(super) fn new(root: Pid, limits: &Limits, are_limited: bool) -> Self {
        let now = Instant::now();
        let first =
            if are_limited { time_to_fill(limits.memory_mb.saturating_mul(1024)) } else { PAUSE.0 };
        Self {
            root,
            memory_kib: limits.memory_mb.saturating_mul(1024),
            processes: limits.processes,
            due: Some(now + first.clamp(PAUSE.0, PAUSE.1)),
            tree: Vec::new(),
            used: None,
            used_next: None,
            used_checked: None,
            held: Held::default(),
            held_memory: HeldMemory::default(),
            looking: None,
            exact: None,
            step: STEP,
            cost_max: COST_MAX,
            cost_a_kib: COST_A_KIB,
        }
    }

    /// Returns how long to wait for other events before [`Watchdog::check`].
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Whether the tree is to be stopped until a measurement is done.
    pub(super) fn wants_stop(&self) -> bool {
        let looking = self.looking.as_ref().map(|it| (it.began, it.cost));
        let exact = self.exact.as_ref().map(|it| (it.began, it.cost));
        looking.into_iter().chain(exact).any(|(began, cost)| is_long(began, cost))
    }

    /// Pauses while the tree is stopped, or resumes.
    pub(super) fn pause(&mut self, stopped: bool) {
        self.due = (!stopped).then(|| self.due.unwrap_or_else(Instant::now));
    }

    /// Checks if a check is due, and returns the first limit that is exceeded.
    pub(super) fn check(&mut self) -> Option<Limit> {
        let began = Instant::now();
        if self.due.is_none_or(|due| began < due) {
            return None;
        }
        if let Some(exact) = self.exact.take() {
            return self.measure(exact, began);
        }
        if let Some(looking) = self.looking.take() {
            return self.look_on(looking, began);
        }
        // Unknown once one of them has ended.
        let used =
            self.tree.iter().map(|&pid| own_time(pid)).reduce(|a, b| Some(a?.plus(b?))).flatten();
        let was_idle = used.is_some() && used == self.used;
        if was_idle && used == self.used_checked {
            self.pause_for(PAUSE.1, began);
            return None;
        }
        let tree = match self.list() {
            Ok(tree) => tree,
            Err(limit) => return Some(limit),
        };
        // What a new process has used before isn't known.
        self.used = used.filter(|_| tree == self.tree);
        let left = self.used_next.zip(self.used).map_or(0, |(next, used)| next.since(used).0);
        // What the tree took before it stopped running is checked, too.
        if left > 0 && !was_idle {
            self.pause_for(Duration::from_nanos(left), began);
            return None;
        }
        self.used_checked = self.used;
        self.tree.clone_from(&tree);
        let look = self.held_memory.begin(&tree);
        let check_at = began + PAUSE.1;
        self.look_on(Looking { look, cost: Duration::ZERO, began, check_at }, began)
    }

    /// Lists the tree, unless it has too many threads.
    fn list(&self) -> Result<Vec<Pid>, Limit> {
        let (tree, threads) = bounded_tree_below(self.root, self.processes);
        // How many they were when this was seen depends on when it was seen.
        let limit = || Limit::Processes(self.processes.saturating_add(1));
        if threads > self.processes { Err(limit()) } else { Ok(tree) }
    }

    /// Continues a look at what is held for one step. What the processes have is checked at its end, and meanwhile.
    fn look_on(&mut self, mut looking: Looking, began: Instant) -> Option<Limit> {
        let before = this_thread_time();
        let until = began + self.step;
        if let Some(held) = self.held_memory.go_on(&mut looking.look, self.memory_kib, until) {
            self.held = held;
            return self.check_own(began);
        }
        looking.cost += this_thread_time().saturating_sub(before);
        if self.costs_too_much(looking.cost) {
            return Some(self.too_much());
        }
        // A tree that is stopped takes nothing more.
        let is_stopped = is_long(looking.began, looking.cost);
        let is_due = !is_stopped && began >= looking.check_at;
        let found = looking.look.held;
        self.looking = Some(looking);
        if !is_due {
            // Commands come first, but nothing else.
            self.due = Some(Instant::now());
            return None;
        }
        if found.files + found.buffers > self.held.files + self.held.buffers {
            self.held = found;
        }
        let tree = match self.list() {
            Ok(tree) => tree,
            Err(limit) => return Some(limit),
        };
        if tree != self.tree {
            // What new processes hold is looked at next.
            (self.tree, self.used, self.used_checked) = (tree, None, None);
        }
        self.check_own(began)
    }

    /// Checks what the processes have, with what was held when that was known last.
    fn check_own(&mut self, began: Instant) -> Option<Limit> {
        let mut used = self.sum(self.tree.iter().filter_map(|&pid| taken(pid)));
        if used > self.memory_kib {
            let mut rest = with_own_memory(&self.tree);
            used = self.sum(rest.iter().map(|(_, used)| *used));
            if used > self.memory_kib {
                rest.sort_by_key(|(_, used)| used.private + used.shared);
                let measured = Used::default();
                let exact = Exact { rest, measured, began, cost: Duration::ZERO };
                return self.measure(exact, began);
            }
        }
        self.pause_until_next(used, began);
        None
    }

    /// Whether a measurement has taken too much, and not because the processes have much memory.
    fn costs_too_much(&self, cost: Duration) -> bool {
        let most = self.cost_max;
        let kib = |pid: &Pid| taken(*pid).map_or(0, |used| used.private + used.shared);
        let kib_of_all = || self.tree.iter().map(kib).sum::<u64>();
        let more =
            || self.cost_a_kib.saturating_mul(u32::try_from(kib_of_all()).unwrap_or(u32::MAX));
        cost > most && cost > most + more()
    }

    /// Returns the limit for what takes too long to measure.
    fn too_much(&self) -> Limit {
        Limit::Memory(self.memory_kib.saturating_add(1))
    }

    /// Continues an exact measurement for one step.
    fn measure(&mut self, mut exact: Exact, began: Instant) -> Option<Limit> {
        let before = this_thread_time();
        loop {
            // A process that is gone by now has nothing.
            let used = exact.rest.pop().and_then(|(pid, _)| share(pid));
            exact.measured.add(used.unwrap_or_default());
            let measured = self.sum([exact.measured]);
            if measured > self.memory_kib {
                return Some(Limit::Memory(measured));
            }
            let bounds = exact.rest.iter().map(|(_, used)| *used);
            let most = self.sum(bounds.chain([exact.measured]));
            if most <= self.memory_kib {
                self.pause_until_next(most, began);
                return None;
            }
            if began.elapsed() >= self.step {
                exact.cost += this_thread_time().saturating_sub(before);
                if self.costs_too_much(exact.cost) {
                    return Some(self.too_much());
                }
                self.due = Some(Instant::now() + began.elapsed());
                self.exact = Some(exact);
                return None;
            }
        }
    }

    /// Sets when the next check is due, after one that began at this time and found so much, or the next step of a look.
    fn pause_until_next(&mut self, used: u64, began: Instant) {
        let rest = time_to_fill(self.memory_kib - used);
        self.pause_for(rest, began);
        if let Some((looking, due)) = self.looking.as_mut().zip(self.due.as_mut()) {
            looking.check_at = std::mem::replace(due, Instant::now());
        }
        let rest = rest.clamp(PAUSE.0, USED_MAX);
        self.used_next = self.used.map(|used| used.plus(rest.into()));
    }

    /// Pauses for about this long after a check that began at this time.
    fn pause_for(&mut self, pause: Duration, began: Instant) {
        let pause = pause.clamp(PAUSE.0, PAUSE.1).max(PART * began.elapsed()).min(PAUSE_MAX);
        self.due = Some(Instant::now() + pause);
    }

    /// Returns what all have together, in KiB.
    fn sum(&self, all: impl IntoIterator<Item = Used>) -> u64 {
        let mut sum = Used::default();
        for used in all {
            sum.add(used);
        }
        let Held { files, buffers, locks } = self.held;
        let locks = (self.memory_kib / LOCKS_MAX + 1).saturating_mul(locks);
        // Some files are mapped too, and it is unknown how much of them.
        let memory = sum.private + sum.tables + sum.mappings + sum.shared.max(files) + buffers;
        memory.saturating_add(locks)
    }
}

impl Used {
    fn add(&mut self, other: Self) {
        self.private += other.private;
        self.shared += other.shared;
        self.tables += other.tables;
        self.mappings += other.mappings;
    }
}

/// Whether a measurement that began then and took so much CPU time is a long one.
fn is_long(began: Instant, cost: Duration) -> bool {
    began.elapsed() >= LONG && cost >= LONG_COST
}

/// Returns how much CPU time it takes to fill so many KiB, at least.
fn time_to_fill(kib: u64) -> Duration {
    Duration::from_micros(kib.saturating_mul(1_000_000) / FILLED_KIB_A_SECOND)
}

/// Returns what all these processes have in memory, in KiB. What they share counts for each.
pub(crate) fn memory_of(tree: &[Pid]) -> TreeMemory {
    let (mut sum, mut largest_kb) = (Used::default(), 0);
    for (_, used) in with_own_memory(tree) {
        sum.add(used);
        largest_kb = largest_kb.max(used.private + used.shared + used.tables);
    }
    let held = held_by(tree);
    let kb = sum.private + sum.tables + sum.shared.max(held.files) + held.buffers;
    TreeMemory { kb, largest_kb }
}

/// Returns what these processes hold, as far as that is found in time.
fn held_by(tree: &[Pid]) -> Held {
    let mut memory = HeldMemory::default();
    let mut look = memory.begin(tree);
    let until = Instant::now() + COST_MAX;
    memory.go_on(&mut look, u64::MAX, until).unwrap_or(look.held)
}

/// Returns the `/proc` folders of a process and of its threads: a process whose first thread has ended
/// still has its memory and its files, which only the folders of other threads show.
pub(super) fn folders_of(pid: Pid) -> impl Iterator<Item = PathBuf> {
    let threads = std::iter::once(pid).flat_map(threads_of);
    std::iter::once(PathBuf::from(format!("/proc/{pid}"))).chain(threads)
}

/// Reads what these processes have, each memory once: without those that run in that of their parent.
fn with_own_memory(tree: &[Pid]) -> Vec<(Pid, Used)> {
    let (mut own, mut counted) = (Vec::new(), HashSet::new());
    for &pid in tree {
        let parent = Ticks::of(pid).map(|ticks| ticks.parent);
        // What isn't its parent's now never will be, so it is measured afterwards. Two first threads that have
        // ended have the same: none.
        let is_parents = parent.is_some_and(|parent| {
            counted.contains(&parent) && sys::same_memory(parent, pid) && first_has(pid).is_some()
        });
        if is_parents {
            counted.insert(pid);
        } else if let Some(used) = taken(pid) {
            counted.insert(pid);
            own.push((pid, used));
        }
    }
    own
}

/// Reads what a process has in memory, with everything that it shares.
fn taken(pid: Pid) -> Option<Used> {
    folders_of(pid).find_map(|folder| taken_in(&folder))
}

/// Reads the same, unless its first thread has ended.
fn first_has(pid: Pid) -> Option<Used> {
    taken_in(format!("/proc/{pid}").as_ref())
}

fn taken_in(folder: &Path) -> Option<Used> {
    let text = proc_text(folder.join("status"))?;
    let number = |name| status_field(&text, name);
    Some(Used {
        private: number("RssAnon:")? + number("VmSwap:").unwrap_or(0),
        shared: number("RssShmem:")?,
        tables: number("VmPTE:").unwrap_or(0),
        mappings: number("VmSize:").unwrap_or(0) / PAGE_KIB / MAPPINGS_A_KIB,
    })
}

/// Reads the same with only its part of what it shares and the mappings that it has, unless the process has forbidden
/// that.
fn share(pid: Pid) -> Option<Used> {
    let mut taken = taken(pid)?;
    if let Some(count) = mappings(pid) {
        taken.mappings = count / MAPPINGS_A_KIB;
    }
    let shares = proc_text(format!("/proc/{pid}/smaps_rollup")).and_then(|text| {
        let private =
            status_field(&text, "Pss_Anon:")? + status_field(&text, "SwapPss:").unwrap_or(0);
        Some(Used { private, shared: status_field(&text, "Pss_Shmem:")?, ..taken })
    });
    Some(shares.unwrap_or(taken))
}

/// Counts the mappings of a process; `None` if that takes too long.
fn mappings(pid: Pid) -> Option<u64> {
    let mut maps = File::open(format!("/proc/{pid}/maps")).ok()?;
    let (mut piece, mut count) = ([0; 16 << 10], 0);
    let before = this_thread_time();
    while this_thread_time().saturating_sub(before) < COUNT_MAX {
        match maps.read(&mut piece).ok()? {
            0 => return Some(count),
            read => count += piece[..read].split(|&byte| byte == b'\n').count() as u64 - 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{
        LONG, LONG_COST, Limit, Limits, PAUSE, Watchdog, bounded_tree_below, held_by, share,
        with_own_memory,
    };
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    /// Another thread has the memory.
    const FIRST_THREAD_ENDS: &str = "import ctypes, threading, time; x = bytearray(60 * MB); threading.Thread(target=lambda: \
         (os.write(w, b'.'), sys.stdin.read(), os._exit(0))).start(); \
         ctypes.CDLL(None).syscall(60, 0)";

    /// The same in two processes, each of which has memory of its own.
    const BOTH_FIRST_THREADS_END: &str = "import ctypes, threading; ready, done = os.pipe(); other = os.fork(); \
         x = bytearray(60 * MB); threading.Thread(target=lambda: \
         (os.write(w, os.read(ready, 1)) if other else os.write(done, b'.'), sys.stdin.read(), os._exit(0))).start(); \
         ctypes.CDLL(None).syscall(60, 0)";

    /// A child runs in its memory, as between `vfork` and `exec`, for as long as the test.
    const SHARED_WITH_CHILD: &str = "import ctypes, glob, threading, time; x = bytearray(60 * MB); \
         libc = ctypes.CDLL(None); stack = ctypes.create_string_buffer(1 << 16); \
         top = ctypes.c_void_p(ctypes.addressof(stack) + (1 << 15) & ~15); \
         threading.Thread(target=libc.clone, daemon=True, args=(ctypes.cast(libc.pause, ctypes.c_void_p), top, \
         0x4100 | 17, None)).start(); \
         [time.sleep(0.01) for _ in iter(lambda: any(open(it).read() for it in \
         glob.glob('/proc/self/task/*/children')), True)]";

    /// Its name is not UTF-8.
    const NAMED: &str =
        "import ctypes; ctypes.CDLL(None).prctl(15, b'\\xff'); x = bytearray(60 * MB)";

    /// It and its children have 60,000 mappings each, of which none has a page.
    const MAPPED: &str =
        "maps = [mmap.mmap(-1, 4096, mmap.MAP_PRIVATE, it % 2 + 1) for it in range(60_000)]";

    /// It maps a page of a file of 60 MiB, and closes the file.
    const CLOSED: &str = "import ctypes; f = os.memfd_create('x'); os.write(f, bytes(60 * MB)); \
         ctypes.CDLL(None).mmap(None, ctypes.c_size_t(4096), 1, 1, f, ctypes.c_long(0)); os.close(f)";

    /// The same, and it closes all others too.
    const NO_FILES: &str = "import ctypes, signal; f = os.memfd_create('x'); os.write(f, bytes(60 * MB)); \
         ctypes.CDLL(None).mmap(None, ctypes.c_size_t(4096), 1, 1, f, ctypes.c_long(0)); \
         [os.close(it) for it in (0, 1, 2, f)]; os.write(w, b'.'); os.closerange(0, 256); signal.pause()";

    /// It gives 60 MiB back, but the file that they are of stays mapped.
    const GIVEN_BACK: &str =
        "x = mmap.mmap(-1, 60 * MB); x[:] = bytes(60 * MB); x.madvise(mmap.MADV_DONTNEED)";

    /// The same, with a name of its own in the list of mappings (`PR_SET_VMA_ANON_NAME`).
    const NAMED_MAPPING: &str = "import ctypes; x = mmap.mmap(-1, 60 * MB); x[:] = bytes(60 * MB); \
         where = ctypes.addressof(ctypes.c_char.from_buffer(x)); libc = ctypes.CDLL(None); \
         libc.prctl(0x53564d41, ctypes.c_ulong(0), ctypes.c_ulong(where), ctypes.c_ulong(60 * MB), b'heap'); \
         libc.madvise(ctypes.c_ulong(where), ctypes.c_ulong(60 * MB), 4)";

    /// It executes a file of 60 MiB in memory, a program that copies itself, unmaps all of the file, writes a byte to file 9,
    /// and sleeps.
    #[cfg(target_arch = "x86_64")]
    const EXECUTED: &str = "f = os.memfd_create('x'); os.write(f, bytes.fromhex('\
         7f454c4602010100000000000000000002003e0001000000780040000000000040000000000000000000000000000000\
         000000004000380001000000000000000100000007000000780000000000000078004000000000007800400000000000\
         660000000000000066000000000000000100000000000000b80900000031ffbe00100000ba0700000041ba2200000049\
         c7c0ffffffff4531c90f054889c7488d3509000000b930000000f3a4ffe0b80b000000bf00004000be000001000f05b8\
         01000000bf09000000488d7424ffba010000000f05b8220000000f05ebf7\
         ')); os.write(f, bytes(60 * MB)); r, end = os.pipe(); os.dup2(end, 9); \
         os.fork() or os.execve(f, ['x'], {}); os.read(r, 1); os.close(f); os.close(r)";
    #[cfg(not(target_arch = "x86_64"))]
    const EXECUTED: &str = CLOSED;

    /// It has pipes with names in which 60 MiB fit.
    const NAMED_PIPES: &str = "import fcntl, tempfile; d = tempfile.mkdtemp(); n = [f'{d}/{it}' for it in range(60)]; \
         [fcntl.fcntl(os.open(it, os.O_RDWR), 1031, MB) for it in n if os.mkfifo(it) is None]; \
         [os.unlink(it) for it in n]; os.rmdir(d)";

    /// It has a lock on every other byte.
    const LOCKED: &str = "import fcntl, struct; files = [os.memfd_create('x') for _ in range(6)]; \
         [fcntl.fcntl(f, fcntl.F_SETLK, struct.pack('@hhqqi4x', fcntl.F_WRLCK, 0, 2 * it, 1, 0)) \
         for f in files for it in range(1000)]";

    /// A process with children; ready when it has written a line.
    struct Parent(Child);

    impl Parent {
        /// Runs `before` itself, and `after` in each child; `None` without Python.
        fn of(children: usize, before: &str, after: &str) -> Option<Self> {
            let script = format!(
                "import mmap, os, sys\nMB = 1 << 20\n{before}\nfor _ in range({children}):\n \
                 r, w = os.pipe()\n if os.fork() == 0:\n  {after}\n  os.write(w, b'.')\n  \
                 sys.stdin.read()\n  os._exit(0)\n os.read(r, 1)\n\
                 print('ready', flush=True)\nsys.stdin.read()\n\
                 for _ in range({children}): os.wait()"
            );
            let mut command = Command::new("python3");
            command.args(["-c", &script]).stdout(Stdio::piped()).stdin(Stdio::piped());
            let mut parent = Self(command.spawn().ok()?);
            let stdout = parent.0.stdout.take().unwrap();
            assert_eq!(BufReader::new(stdout).lines().next().unwrap().unwrap(), "ready");
            Some(parent)
        }

        fn check(&self, memory_mb: u64, processes: u64) -> Option<Limit> {
            let limits = Limits { memory_mb, processes, ..Limits::default() };
            let root = Pid::from_raw(i32::try_from(self.0.id()).unwrap());
            let mut watchdog = Watchdog::new(root, &limits, false);
            watchdog.due = Some(Instant::now());
            let mut found = watchdog.check();
            while watchdog.exact.is_some() || watchdog.looking.is_some() {
                watchdog.due = Some(Instant::now());
                found = watchdog.check();
            }
            found
        }

        /// Returns how much of its children's memory is seen, in MiB.
        fn seen_mb(&self) -> u64 {
            assert!(matches!(self.check(1, 100), Some(Limit::Memory(1024..))));
            let root = Pid::from_raw(i32::try_from(self.0.id()).unwrap());
            let mut watchdog = Watchdog::new(root, &Limits::default(), false);
            let (tree, _) = bounded_tree_below(root, 100);
            watchdog.held = held_by(&tree);
            let own = with_own_memory(&tree).into_iter();
            watchdog.sum(own.filter_map(|(pid, _)| share(pid))) / 1024
        }
    }

    impl Drop for Parent {
        fn drop(&mut self) {
            let root = Pid::from_raw(i32::try_from(self.0.id()).unwrap());
            for pid in bounded_tree_below(root, 100).0 {
                kill(pid, Signal::SIGKILL).ok();
            }
            drop(self.0.stdin.take());
            self.0.wait().ok();
        }
    }

    #[test]
    fn memory_of_any_kind_is_seen_once() {
        let pipes_in_memory = NAMED_PIPES.replace("mkdtemp()", "mkdtemp(dir='/dev/shm')");
        for (children, before, after, least, most) in [
            (1, "", "x = bytearray(60 * MB)", 60, 90),
            (3, "", "x = bytearray(20 * MB)", 60, 100),
            // Inherited, unwritten memory counts once.
            (3, "x = bytearray(60 * MB)", "pass", 40, 80),
            (2, "x = mmap.mmap(-1, 60 * MB); x[:] = bytes(60 * MB)", "len(x[:])", 35, 100),
            (1, "", "x = mmap.mmap(-1, 60 * MB); x[:] = bytes(60 * MB)", 60, 90),
            (1, "", "f = os.memfd_create('x'); os.write(f, bytes(60 * MB))", 60, 90),
            (1, "", FIRST_THREAD_ENDS, 60, 90),
            (1, "", BOTH_FIRST_THREADS_END, 120, 160),
            (1, "", SHARED_WITH_CHILD, 60, 90),
            (1, "", NAMED, 60, 90),
            (2, MAPPED, "pass", 60, 90),
            (1, "", EXECUTED, 60, 90),
            (1, "", NAMED_PIPES, 60, 90),
            (1, "", &pipes_in_memory, 60, 90),
            (3, "f = os.memfd_create('x'); os.write(f, bytes(60 * MB))", "pass", 60, 100),
        ] {
            let Some(parent) = Parent::of(children, before, after) else { return };
            let seen = parent.seen_mb();
            assert!((least..=most).contains(&seen), "{before} {after}: {seen} MiB");
            assert_eq!(parent.check(most + 1, 100), None, "{before} {after}");
        }
    }

    #[test]
    fn what_is_mapped_and_never_used_does_not_count() {
        let sparse = "x = mmap.mmap(-1, 600 * MB); x[0] = 1";
        let Some(parent) = Parent::of(1, "", sparse) else { return };
        assert!(parent.seen_mb() < 50);
    }

    /// Only root sees how much memory a file holds that nobody has open.
    #[test]
    fn files_that_are_only_mapped_count_whole_and_for_others_as_much_as_was_seen() {
        let is_root = nix::unistd::geteuid().is_root();
        for after in [CLOSED, NO_FILES, GIVEN_BACK, NAMED_MAPPING] {
            let Some(parent) = Parent::of(1, "", after) else { return };
            let seen = parent.seen_mb();
            assert_eq!((60..=90).contains(&seen), is_root, "{after}: {seen} MiB");
        }
    }

    #[test]
    fn locks_on_files_use_up_memory() {
        let Some(parent) = Parent::of(2, "", LOCKED) else { return };
        // There are 12,000, of which 10,000 use up any memory.
        for memory_mb in [200, 2000, 2_000_000] {
            assert!(matches!(parent.check(memory_mb, 100), Some(Limit::Memory(_))), "{memory_mb}");
        }
        let Some(parent) = Parent::of(1, "", LOCKED) else { return };
        assert_eq!(parent.check(200, 100), None);
    }

    #[test]
    fn an_exact_measurement_is_done_in_steps_and_only_as_far_as_needed() {
        let Some(parent) = Parent::of(4, "x = bytearray(60 * MB)", "pass") else { return };
        let limits = Limits { memory_mb: 150, ..Limits::default() };
        let root = Pid::from_raw(i32::try_from(parent.0.id()).unwrap());
        let mut watchdog = Watchdog { step: Duration::ZERO, ..Watchdog::new(root, &limits, false) };
        let mut left = Vec::new();
        loop {
            watchdog.due = Some(Instant::now());
            assert_eq!(watchdog.check(), None);
            left.extend(watchdog.exact.as_ref().map(|exact| exact.rest.len()));
            if watchdog.exact.is_none() && watchdog.looking.is_none() {
                break;
            }
        }
        // Two with their whole and two with their part of the same memory would be too much. A long look has it measured
        // several times.
        assert!(!left.is_empty() && left.chunks(2).all(|left| left == [3, 2]), "{left:?}");
    }

    /// The agent decides how long it takes: commands to stop it or to kill it would wait.
    #[test]
    fn a_look_is_done_in_steps_and_what_takes_too_long_is_too_much() {
        let maps =
            "maps = [mmap.mmap(-1, 4096, mmap.MAP_PRIVATE, it % 2 + 1) for it in range(2000)]";
        let Some(parent) = Parent::of(1, "", maps) else { return };
        let limits = Limits { memory_mb: 150, ..Limits::default() };
        let root = Pid::from_raw(i32::try_from(parent.0.id()).unwrap());
        let begin = || Watchdog { step: Duration::ZERO, ..Watchdog::new(root, &limits, false) };
        let check = |watchdog: &mut Watchdog| {
            watchdog.due = Some(Instant::now());
            watchdog.check()
        };
        let (mut watchdog, mut steps) = (begin(), 1);
        assert_eq!(check(&mut watchdog), None);
        while watchdog.looking.is_some() {
            assert_eq!(check(&mut watchdog), None);
            steps += 1;
        }
        assert!(steps > 2000 / 64, "{steps}");
        // What the processes have is seen meanwhile.
        let mut watchdog = begin();
        assert_eq!(check(&mut watchdog), None);
        watchdog.memory_kib = 1024;
        std::thread::sleep(PAUSE.1);
        let found = (0..10).find_map(|_| check(&mut watchdog));
        assert!(matches!(found, Some(Limit::Memory(1025..))), "{found:?}");
        let free = Duration::ZERO;
        let mut watchdog = Watchdog { cost_max: free, cost_a_kib: free, ..begin() };
        assert_eq!(check(&mut watchdog), Some(Limit::Memory((150 << 10) + 1)));
        // Long ones are made while the tree is stopped.
        let mut watchdog = begin();
        assert_eq!(check(&mut watchdog), None);
        assert!(!watchdog.wants_stop());
        let looking = watchdog.looking.as_mut().unwrap();
        (looking.began, looking.cost) = (looking.began.checked_sub(LONG).unwrap(), LONG_COST);
        assert!(watchdog.wants_stop());
        while watchdog.looking.is_some() {
            assert_eq!(check(&mut watchdog), None);
        }
        assert!(!watchdog.wants_stop());
        // Who has much memory may be looked at for long.
        let mut watchdog =
            Watchdog { cost_max: free, cost_a_kib: Duration::from_secs(1), ..begin() };
        assert_eq!(check(&mut watchdog), None);
    }

    #[test]
    fn files_of_a_disk_do_not_count() {
        let place = tempfile::NamedTempFile::new_in("/var/tmp").unwrap();
        std::fs::write(place.path(), vec![1; 60 << 20]).unwrap();
        let map = format!(
            "x = mmap.mmap(os.open('{}', os.O_RDONLY), 0, prot=mmap.PROT_READ); sum(x[::4096])",
            place.path().display()
        );
        let Some(parent) = Parent::of(1, "", &map) else { return };
        assert!(parent.seen_mb() < 50);
    }

    #[test]
    fn threads_count_as_processes() {
        let threads = "import threading, time; [threading.Thread(target=time.sleep, args=[600], \
                       daemon=True).start() for _ in range(4)]";
        for (children, after, count) in [(3, "pass", 3), (1, threads, 5), (2, threads, 10)] {
            let Some(parent) = Parent::of(children, "", after) else { return };
            assert_eq!(parent.check(1000, count - 1), Some(Limit::Processes(count)));
            assert_eq!(parent.check(1000, count), None);
        }
    }

    #[test]
    fn memory_is_examined_again_only_after_some_cpu_time() {
        let Some(parent) = Parent::of(1, "", "x = bytearray(60 * MB)") else { return };
        let root = Pid::from_raw(i32::try_from(parent.0.id()).unwrap());
        let whole = Watchdog::new(root, &Limits::default(), false);
        let mut watchdog = Watchdog { step: Duration::from_secs(9), ..whole };
        let check = |watchdog: &mut Watchdog| {
            watchdog.due = Some(Instant::now());
            watchdog.check()
        };
        // The first finds the processes, the second what they use; on a busy machine they may still run.
        let mut before = None;
        while before.is_none() || before != watchdog.used || before != watchdog.used_checked {
            before = watchdog.used;
            assert_eq!(check(&mut watchdog), None);
            std::thread::sleep(Duration::from_millis(20));
        }
        watchdog.memory_kib = 1024;
        assert_eq!(check(&mut watchdog), None);
        // It took memory since, and sleeps now.
        watchdog.used_next = watchdog.used.map(|used| used.plus(Duration::from_secs(1).into()));
        watchdog.used_checked = None;
        assert!(matches!(check(&mut watchdog), Some(Limit::Memory(1025..))));
        watchdog.used_next = watchdog.used;
        watchdog.used = None;
        assert!(matches!(check(&mut watchdog), Some(Limit::Memory(1025..))));
    }

    #[test]
    fn a_stopped_tree_is_not_checked() {
        let limits = Limits { processes: 0, ..Limits::default() };
        let mut watchdog = Watchdog::new(nix::unistd::getppid(), &limits, false);
        watchdog.pause(true);
        assert_eq!(watchdog.check(), None);
        assert!(watchdog.timeout().is_none());
        watchdog.pause(false);
        assert!(matches!(watchdog.check(), Some(Limit::Processes(1..))));
    }
}
