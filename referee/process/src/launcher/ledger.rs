//! CPU time of an agent's processes that have ended and for which no one has waited. The kernel adds a
//! process's time to that of its parent only when it is waited for, and a parent that ignores SIGCHLD
//! waits for no one.
//!
//! So the tree is looked at again and again, and the time that each of its processes has used is noted. When
//! processes are gone, what they had used must be in the time of waited-for children that those have
//! who are left, which includes all that was waited for further below. What isn't there is lost, and counts
//! here, with the time since the last look, for which nothing is known. Nothing is ever counted twice: what is
//! seen of a process is never more than what is waited for.
//!
//! The kernel's counter has the time of these processes too, to the nanosecond, and follows all programs that the agent
//! may read. So the time for which nothing is known, which is long on a busy machine, counts only without a counter,
//! and once a program that it doesn't follow has been seen.

use super::sys::number;
use crate::usage::{ROUNDED_TICKS, Ticks, ends, own_time, threads_of, tick_ns, tree_below};
use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::Pid;
use std::fs::{File, metadata};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::thread::available_parallelism;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The shortest pause between two looks, and what chance adds to it: programs must not know when the
/// next one is.
const PAUSE: Duration = Duration::from_millis(3);
const CHANCE_NS: u32 = 4_000_000;
/// Looks take at most one part in `PART` of the time.
const PART: u32 = 20;

/// Watches one agent's tree.
#[derive(Debug)]
pub(super) struct Ledger {
    /// The tree is all descendants of this process, which waits for all its children.
    root: Pid,
    /// What the root had waited for before.
    before: Ticks,
    /// The processes at the last look, those furthest down last.
    seen: Vec<Seen>,
    looked: Instant,
    /// When the next look is due; `None` while the tree is stopped.
    due: Option<Instant>,
    account: Account,
    /// Whether the kernel's counter has the time of all that was seen.
    is_counted: bool,
    /// The time that is lost, in nanoseconds; the referee reads it.
    file: File,
}

/// A process at the last look.
#[derive(Clone, Copy, Debug)]
struct Seen {
    pid: Pid,
    /// When it was started, which no later process with its number has in common with it.
    started: u64,
    used_ns: u64,
    /// Whether it runs a program that the agent may not read.
    is_hidden: bool,
}

/// The sums, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// What processes that are gone had used when they were seen last.
    gone: u64,
    /// The time between the last looks at lost processes and the next.
    unseen: u64,
    /// How much of `gone` is known to be lost.
    excess: u64,
    /// By how much `gone` was more than what was waited for at the last look, which may have missed
    /// something, and the time before it for which nothing is known.
    last: (u64, u64),
}

/// What changed between two looks.
struct Change {
    /// How many processes are gone, and what they had used.
    gone: u64,
    gone_ns: u64,
    elapsed_ns: u64,
    /// The time of waited-for children, at most.
    waited_ns: u64,
}

impl Ledger {
    /// Watches all descendants of a process, which itself doesn't count. `is_counted` says whether the kernel has a
    /// counter for them.
    pub(super) fn begin(root: Pid, is_counted: bool) -> nix::Result<Self> {
        let file = File::from(memfd_create(c"lost", MFdFlags::MFD_CLOEXEC)?);
        let before = Ticks::of(root).ok_or(Errno::ESRCH)?;
        file.write_at(&[0; 8], 0).map_err(|error| number(&error))?;
        let (seen, now, account) = (Vec::new(), Instant::now(), Account::default());
        Ok(Self { root, before, seen, looked: now, due: Some(now), account, is_counted, file })
    }

    /// Returns how long to wait for other events before [`Ledger::look`].
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Pauses while the tree is stopped, or resumes.
    pub(super) fn pause(&mut self, stopped: bool) {
        if !stopped && self.due.is_none() {
            // No one has used anything meanwhile.
            self.looked = Instant::now();
        }
        self.due = (!stopped).then(|| self.due.unwrap_or_else(Instant::now));
    }

    /// Looks at the tree if that is due.
    pub(super) fn look(&mut self) {
        let began = Instant::now();
        if self.due.is_none_or(|due| began < due) {
            return;
        }
        self.look_now();
        let chance =
            SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos();
        let pause = PAUSE + Duration::from_nanos((chance % CHANCE_NS).into());
        self.due = Some(Instant::now() + pause.max(PART * began.elapsed()));
    }

    fn look_now(&mut self) {
        let now = Instant::now();
        let (mut left, mut gone, mut gone_ns) = (Vec::new(), 0, 0);
        for pid in tree_below(self.root) {
            left.extend(Seen::of(pid));
        }
        for seen in &self.seen {
            if left.iter().any(|it: &Seen| it.is(seen)) {
                continue;
            }
            // It may have got another parent during the look.
            let there = Seen::of(seen.pid).filter(|it| it.is(seen));
            if there.is_none() {
                (gone, gone_ns) = (gone + 1, gone_ns + seen.used_ns);
            }
            left.extend(there);
        }
        // Children before their parents: one that is gone meanwhile is found with its parent.
        let waited = left.iter().rev().filter_map(|it| Ticks::of(it.pid));
        let rounded = |has_reaped| if has_reaped { ROUNDED_TICKS } else { 0 };
        let ticks: u64 = waited.map(|ticks| ticks.reaped + rounded(ticks.has_reaped())).sum();
        let Some(root) = Ticks::of(self.root) else { return };
        let by_root = root.reaped - self.before.reaped + rounded(root.faults > self.before.faults);
        let elapsed_ns = u64::try_from((now - self.looked).as_nanos()).unwrap_or(u64::MAX);
        let change = Change { gone, gone_ns, elapsed_ns, waited_ns: (ticks + by_root) * tick_ns() };
        let appears = self.is_counted && left.iter().any(|it| it.is_hidden);
        self.is_counted &= !appears;
        (self.seen, self.looked) = (left, now);
        if self.account.add(&change) || appears {
            // The file is in memory.
            self.file.write_at(&self.lost().to_ne_bytes(), 0).ok();
        }
    }

    /// The time that is lost.
    fn lost(&self) -> u64 {
        self.account.excess + if self.is_counted { 0 } else { self.account.unseen }
    }
}

impl AsFd for Ledger {
    /// Returns the file with the time that is lost.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Seen {
    fn of(pid: Pid) -> Option<Self> {
        let started = Ticks::of(pid)?.started;
        Some(Self { pid, started, used_ns: own_time(pid)?.0, is_hidden: is_hidden(pid) })
    }

    fn is(&self, other: &Self) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }
}

impl Account {
    /// Adds what changed; returns whether more is lost.
    fn add(&mut self, change: &Change) -> bool {
        self.gone += change.gone_ns;
        let cores = available_parallelism().map_or(1, |count| count.get() as u64);
        let now = self.gone.saturating_sub(change.waited_ns);
        let unseen = change.elapsed_ns * change.gone.min(cores);
        let (before, unseen_before) = std::mem::replace(&mut self.last, (now, unseen));
        let excess = now.min(before);
        if excess <= self.excess {
            return false;
        }
        self.excess = excess;
        self.unseen += unseen_before;
        true
    }
}

/// Whether a process runs a program that its user may not read: then its files in /proc belong to another user, and
/// only its folder to its own. So do those of a thread that ends, which has no program any more. The counter doesn't
/// follow it.
fn is_hidden(pid: Pid) -> bool {
    let owner = |path: &Path| Some(metadata(path).ok()?.uid());
    threads_of(pid)
        .iter()
        .any(|thread| owner(&thread.join("stat")) != owner(thread) && !ends(thread))
}

#[cfg(test)]
mod tests {
    use super::{Account, Change, Ledger, ends, is_hidden, threads_of};
    use nix::unistd::Pid;
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::fs::FileExt;
    use std::process::{Command, Stdio};

    const MS: u64 = 1_000_000;

    fn change(gone: u64, used_ms: u64, reaped_ms: u64) -> Change {
        Change { gone, gone_ns: used_ms * MS, elapsed_ns: 5 * MS, waited_ns: reaped_ms * MS }
    }

    #[test]
    fn what_was_waited_for_is_not_lost() {
        let mut account = Account::default();
        for turn in 1..=20 {
            // Each child has used 30 ms, 25 of which were seen.
            assert!(!account.add(&change(1, 25, 30 * turn)));
            // A look may miss that for a moment.
            assert!(!account.add(&change(0, 0, 0)));
            assert!(!account.add(&change(0, 0, 30 * turn)));
        }
        assert_eq!((account.excess, account.unseen), (0, 0));
    }

    #[test]
    fn what_was_not_waited_for_is_lost_with_the_time_that_was_not_seen() {
        let mut account = Account::default();
        for turn in 1..=20 {
            assert!(!account.add(&change(1, 3, 0)));
            assert!(account.add(&change(0, 0, 0)));
            assert_eq!((account.excess, account.unseen), (turn * 3 * MS, turn * 5 * MS));
        }
        // Some are waited for: what is certain is what is more than these.
        let mut account = Account::default();
        assert!(!account.add(&change(1, 20, 30)));
        assert!(!account.add(&change(1, 20, 30)));
        assert!(account.add(&change(0, 0, 30)));
        assert_eq!((account.excess, account.unseen), (10 * MS, 5 * MS));
    }

    /// Runs ten children one after the other, each for 20 ms of CPU time, and looks before each ends;
    /// returns what is lost, in nanoseconds, and how much of that was seen. `None` without Python.
    fn lost(waits: bool, is_counted: bool) -> Option<(u64, u64)> {
        let handler = if waits { "SIG_DFL" } else { "SIG_IGN" };
        let script = format!(
            "import os, signal, sys, time\n\
             signal.signal(signal.SIGCHLD, signal.{handler})\n\
             for _ in range(10):\n \
              if os.fork() == 0:\n  \
               while time.process_time() < 0.02: pass\n  \
               print(flush=True)\n  \
               os.read(0, 1)\n  \
               os._exit(0)\n \
              try: os.wait()\n \
              except ChildProcessError: pass\n\
             print(flush=True)\nos.read(0, 1)"
        );
        // The shell is the root, and waits for its child.
        let mut root = Command::new("sh");
        root.args(["-c", "python3 -c \"$1\"; :", "sh", &script]);
        let mut root = root.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(root.id()).unwrap());
        let mut ledger = Ledger::begin(pid, is_counted).unwrap();
        let mut stdin = root.stdin.take().unwrap();
        let mut lines = 0;
        for line in BufReader::new(root.stdout.take().unwrap()).lines() {
            line.unwrap();
            lines += 1;
            ledger.look_now();
            ledger.look_now();
            stdin.write_all(b"x").unwrap();
        }
        root.wait().unwrap();
        let mut bytes = [0; 8];
        ledger.file.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(u64::from_ne_bytes(bytes), ledger.lost());
        (lines == 11).then_some((ledger.lost(), ledger.account.excess))
    }

    /// Its files belong to root, as those of a program that its user may not read.
    #[test]
    fn a_process_that_has_ended_is_not_hidden() {
        let mut ended = Command::new("true").spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(ended.id()).unwrap());
        while !threads_of(pid).iter().all(|thread| ends(thread)) {
            assert!(!is_hidden(pid));
        }
        assert!(!is_hidden(pid));
        ended.wait().unwrap();
    }

    #[test]
    fn a_tree_is_watched() {
        let Some((ignored, seen)) = lost(false, false) else { return };
        assert!(ignored >= 200 * MS && ignored > seen, "{seen} of {ignored}");
        // Where the kernel counts, the time that a busy machine takes is no one's.
        let (ignored, seen) = lost(false, true).unwrap();
        assert_eq!(ignored, seen);
        assert_eq!(lost(true, false), Some((0, 0)));
    }
}
