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
use crate::cores::online;
use crate::memory_kills::TreeMemory;
use crate::usage::{
    Ticks, bounded_tree_below, own_time, proc_text, state_in, status_field, this_thread_time,
    threads_of, waits_for_child,
};
use nix::unistd::Pid;
use referee_protocol::{Limits, Nanos};
use std::collections::{HashMap, HashSet};
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
/// What a process gives back may be less than this without others having to wait, in KiB.
const LESS_KIB: u64 = 16 << 10;
/// How long they wait at most.
const ENDS_MAX: Duration = Duration::from_secs(2);
/// The most CPU time of this process for counting the mappings of one.
const COUNT_MAX: Duration = Duration::from_millis(100);
/// The most CPU time that a tree may use between two looks at its memory. Some ways fill it faster than
/// [`FILLED_KIB_A_SECOND`].
const USED_MAX: Duration = Duration::from_millis(40);

/// What a mapping takes of the kernel's memory, in bytes: measured with Linux 6.18, one that was never used takes 215, one
/// with a page 450 in a process that was forked from another.
const MAPPING_BYTES: u64 = 512;
/// What it takes more for each process from which its own was forked, one after the other, and that still runs.
const ANCESTOR_BYTES: u64 = 64;
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
    /// What each process had at the last check.
    had: HashMap<Pid, Had>,
    /// Since when the tree waits until processes have given back their memory.
    waits: Option<Instant>,
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

/// What a process had, in KiB.
#[derive(Clone, Copy, Debug, Default)]
struct Had {
    kib: u64,
    /// What it had before, and may be about to give back.
    leaves: u64,
}

/// An exact measurement.
#[derive(Debug)]
struct Exact {
    /// Whether it is the second one, because processes began or ended during the first: what these share with others then
    /// counts for nobody, or too often. The tree is stopped meanwhile.
    is_again: bool,
    /// What is not yet measured, with its upper bounds; those that have most come last. Empty if the tree is to be listed
    /// first.
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
            had: HashMap::new(),
            waits: None,
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
        if self.waits.is_some() || self.exact.as_ref().is_some_and(|it| it.is_again) {
            return true;
        }
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
        let was_idle = used.is_some() && used == self.used && self.waits.is_none();
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
        let next = self.used_next.filter(|_| self.waits.is_none()).zip(self.used);
        let left = next.map_or(0, |(next, used)| next.since(used).0);
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
            return self.list_again().err().or_else(|| self.check_own(began));
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
        self.list_again().err().or_else(|| self.check_own(began))
    }

    /// Lists the tree during a look or a measurement, and returns whether it is another one.
    fn list_again(&mut self) -> Result<bool, Limit> {
        let tree = self.list()?;
        let has_changed = tree != self.tree;
        if has_changed {
            // What new processes hold is looked at next.
            (self.tree, self.used, self.used_checked) = (tree, None, None);
        }
        Ok(has_changed)
    }

    /// Checks what the processes have, with what was held when that was known last.
    fn check_own(&mut self, began: Instant) -> Option<Limit> {
        let each: Vec<_> =
            self.tree.iter().map(|&pid| (pid, taken(pid, self.tree.len()))).collect();
        let mut used = self.sum(each.iter().filter_map(|(_, used)| *used));
        let left = self.left_by_ending(&each);
        let is_too_much = left > 0 && used.saturating_add(left) > self.memory_kib;
        self.waits = is_too_much.then(|| self.waits.unwrap_or(began));
        if self.waits.is_some_and(|since| since.elapsed() >= ENDS_MAX) {
            // These have had the time; what others leave from now on counts.
            self.had.values_mut().for_each(|had| had.leaves = 0);
            self.waits = None;
        }
        if used > self.memory_kib {
            let rest = unmeasured(&self.tree);
            used = self.sum(rest.iter().map(|(_, used)| *used));
            if used > self.memory_kib {
                let (measured, cost) = (Used::default(), Duration::ZERO);
                let exact = Exact { is_again: false, rest, measured, began, cost };
                return self.measure(exact, began);
            }
        }
        self.pause_until_next(used, began);
        None
    }

    /// Returns what processes had that end now, or that execute another program: it isn't seen any more long before it is
    /// given back, and that takes as long as others let them wait for a core. What they shared isn't known, so it is no
    /// reason for a fault.
    fn left_by_ending(&mut self, each: &[(Pid, Option<Used>)]) -> u64 {
        let mut had = HashMap::new();
        for &(pid, used) in each {
            let before = self.had.get(&pid).copied().unwrap_or_default();
            let kib = used.map_or(0, |used| used.private + used.shared + used.tables);
            let less = before.kib.saturating_sub(kib);
            let leaves = before.leaves + if less < LESS_KIB { 0 } else { less };
            // Who was stopped, sleeps or has ended has given it back.
            let leaves = if leaves > 0 && is_at_work(pid) { leaves } else { 0 };
            had.insert(pid, Had { kib, leaves });
        }
        self.had = had;
        self.had.values().map(|had| had.leaves).sum()
    }

    /// Whether a measurement has taken too much, and not because the processes have much memory.
    fn costs_too_much(&self, cost: Duration) -> bool {
        let most = self.cost_max;
        let kib = |pid: &Pid| taken(*pid, 1).map_or(0, |used| used.private + used.shared);
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
        if exact.rest.is_empty() {
            if let Err(limit) = self.list_again() {
                return Some(limit);
            }
            exact.rest = unmeasured(&self.tree);
        }
        loop {
            // A process that is gone by now has nothing.
            let used = exact.rest.pop().and_then(|(pid, _)| share(pid, self.tree.len()));
            exact.measured.add(used.unwrap_or_default());
            let measured = self.sum([exact.measured]);
            let bounds = exact.rest.iter().map(|(_, used)| *used);
            let most = self.sum(bounds.chain([exact.measured]));
            let is_known = measured > self.memory_kib || most <= self.memory_kib;
            let is_long = began.elapsed() >= self.step;
            if is_known || is_long {
                exact.cost += this_thread_time().saturating_sub(before);
            }
            if is_known {
                match self.list_again() {
                    Err(limit) => return Some(limit),
                    Ok(true) if !exact.is_again => {
                        let (rest, measured) = (Vec::new(), Used::default());
                        self.exact = Some(Exact { is_again: true, rest, measured, ..exact });
                        // It takes a moment until all are stopped.
                        self.due = Some(Instant::now() + PAUSE.0);
                        return None;
                    }
                    Ok(_) if measured > self.memory_kib => return Some(Limit::Memory(measured)),
                    Ok(_) => {
                        self.pause_until_next(most, began);
                        return None;
                    }
                }
            }
            if is_long {
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

/// Whether a thread of a process runs, or waits for a core or the disk.
fn is_at_work(pid: Pid) -> bool {
    threads_of(pid).iter().any(|it| match state_in(it) {
        Some('R') => true,
        Some('D') => !waits_for_child(it),
        _ => false,
    })
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

/// Returns what is to be measured of these processes, with its upper bounds; those that have most come last.
fn unmeasured(tree: &[Pid]) -> Vec<(Pid, Used)> {
    let mut all = with_own_memory(tree);
    all.sort_by_key(|(_, used)| used.private + used.shared);
    all
}

/// Reads what these processes have, each memory once: without those that run in that of their parent.
fn with_own_memory(tree: &[Pid]) -> Vec<(Pid, Used)> {
    let (mut own, mut counted) = (Vec::new(), HashSet::new());
    for &pid in tree {
        let parent = Ticks::of(pid).map(|ticks| ticks.parent);
        // What isn't its parent's now never will be, so it is measured afterwards. Two first threads that have
        // ended have the same: none.
        let is_parents = parent.is_some_and(|parent| {
            let first_has = || taken_in(format!("/proc/{pid}").as_ref(), 1);
            counted.contains(&parent) && sys::same_memory(parent, pid) && first_has().is_some()
        });
        if is_parents {
            counted.insert(pid);
        } else if let Some(used) = taken(pid, tree.len()) {
            counted.insert(pid);
            own.push((pid, used));
        }
    }
    own
}

/// Reads what a process of so many has in memory, with everything that it shares.
fn taken(pid: Pid, processes: usize) -> Option<Used> {
    folders_of(pid).find_map(|folder| taken_in(&folder, processes))
}

fn taken_in(folder: &Path, processes: usize) -> Option<Used> {
    let text = proc_text(folder.join("status"))?;
    let number = |name| status_field(&text, name);
    Some(Used {
        private: number("RssAnon:")? + number("VmSwap:").unwrap_or(0),
        shared: number("RssShmem:")?,
        tables: number("VmPTE:").unwrap_or(0),
        mappings: kib_of_mappings(number("VmSize:").unwrap_or(0) / PAGE_KIB, processes),
    })
}

/// Returns what so many mappings take, in KiB. Which process was forked from which isn't known of those without a parent.
fn kib_of_mappings(count: u64, processes: usize) -> u64 {
    count.saturating_mul(MAPPING_BYTES + ANCESTOR_BYTES * (processes as u64 - 1)) / 1024
}

/// Reads the same with only its part of what it shares and the mappings that it has, unless the process has forbidden
/// that.
fn share(pid: Pid, processes: usize) -> Option<Used> {
    let mut taken = taken(pid, processes)?;
    if let Some(count) = mappings(pid) {
        taken.mappings = kib_of_mappings(count, processes);
    }
    let shares = proc_text(format!("/proc/{pid}/smaps_rollup")).and_then(|text| {
        let number = |name| status_field(&text, name);
        let swapped = number("Swap:").unwrap_or(0);
        let private = number("Pss_Anon:")? + number("SwapPss:").unwrap_or(0);
        // The arguments of a program that is being started are in no mapping yet.
        let known = number("Anonymous:")? + swapped;
        let started = |taken: &Used| taken.private.saturating_sub(known);
        let started = if started(&taken) > inexact_kib() {
            // What it has given back meanwhile doesn't count.
            self::taken(pid, processes).map_or(0, |now| started(&now).min(started(&taken)))
        } else {
            0
        };
        Some(Used { private: private + started, shared: number("Pss_Shmem:")?, ..taken })
    });
    // One that has ended meanwhile has nothing any more.
    let mappings = taken.mappings;
    shares.or_else(|| self::taken(pid, processes).map(|now| Used { mappings, ..now }))
}

/// By how much the kernel's count of a process's pages may be wrong, in KiB: each core counts some before it adds them up.
fn inexact_kib() -> u64 {
    let cores = online() as u64;
    cores * (2 * cores).max(32) * PAGE_KIB
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
mod tests;
