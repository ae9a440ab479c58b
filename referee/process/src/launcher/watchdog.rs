//! Watches the memory and the number of processes of an agent's tree, if it has no control group.
//!
//! A check is quick: what each process has in memory, and how many threads. Only if that is too
//! much it is measured exactly, which takes up to a hundred times as long. Mapped files of a disk
//! don't count: the system frees their memory when it needs it.

use super::wire::{Bounds, Limit};
use nix::poll::PollTimeout;
use nix::sys::stat::stat;
use nix::unistd::Pid;
use std::fmt::{Display, Write as _};
use std::fs::{File, read_dir};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

/// The most that a tree can fill in a second, in KiB.
const FILLED_KIB_A_SECOND: u64 = 4 << 20;
/// The shortest and the longest pause between two checks.
const PAUSE: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(20));
/// Checks take at most one part in `PART` of the time,
const PART: u32 = 20;
/// but this is the longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(100);
/// How often open files are checked while none is in memory only; otherwise at each check.
const FILES_PERIOD: Duration = Duration::from_millis(50);
/// How many open files of a tree are checked.
const FILES_MAX: usize = 4096;
/// The longest `/proc` text about a process.
const TEXT_BYTES: usize = 64 * 1024;
/// Link targets of open files that are in memory only: made by `memfd_create`, or shared.
const IN_MEMORY: [&str; 3] = ["/memfd:", "/dev/shm/", "/SYSV"];

/// Watches one agent's tree.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// The tree is all descendants of this process.
    root: Pid,
    memory_kib: u64,
    processes: u64,
    /// When the next check is due; `None` while the tree is stopped.
    due: Option<Instant>,
    /// What the tree's open files held in memory at the last check, in KiB.
    held_kib: u64,
    files_due: Instant,
    // Buffers that are reused between checks.
    tree: Vec<i32>,
    path: String,
    text: Vec<u8>,
}

/// Memory in KiB.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    /// Private memory of the processes, including swap.
    private: u64,
    /// Memory shared between processes, without files of a disk.
    shared: u64,
    /// Page tables, which can exist without any page.
    tables: u64,
}

impl Watchdog {
    /// Watches all descendants of a process, which itself doesn't count.
    pub(super) fn new(root: Pid, bounds: &Bounds) -> Self {
        let now = Instant::now();
        Self {
            root,
            memory_kib: bounds.memory_mb.saturating_mul(1024),
            processes: bounds.processes,
            due: Some(now + PAUSE.0),
            held_kib: 0,
            files_due: now + FILES_PERIOD,
            tree: Vec::new(),
            path: String::new(),
            text: vec![0; TEXT_BYTES],
        }
    }

    /// Returns how long to wait for other events before [`Watchdog::look`].
    pub(super) fn timeout(&self) -> PollTimeout {
        self.due.map_or(PollTimeout::NONE, |due| {
            let rest = due.saturating_duration_since(Instant::now());
            // Rounded up: nothing is due earlier.
            PollTimeout::try_from(rest + Duration::from_micros(999)).unwrap_or(PollTimeout::ZERO)
        })
    }

    /// Pauses while the tree is stopped, or resumes.
    pub(super) fn pause(&mut self, still: bool) {
        self.due = (!still).then(Instant::now);
    }

    /// Checks if a check is due, and returns the first limit that is exceeded.
    pub(super) fn look(&mut self) -> Option<Limit> {
        let began = Instant::now();
        if self.due.is_none_or(|due| began < due) {
            return None;
        }
        let threads = self.find_tree();
        if threads > self.processes {
            return Some(Limit::Processes(threads));
        }
        if self.files_due <= began || self.held_kib > 0 {
            self.files_due = began + FILES_PERIOD;
            self.held_kib = self.held_in_memory();
        }
        let mut used = self.sum(Self::taken);
        if used > self.memory_kib {
            self.held_kib = self.held_in_memory();
            used = self.sum(Self::share);
        }
        if used > self.memory_kib {
            return Some(Limit::Memory(used));
        }
        let rest =
            Duration::from_micros((self.memory_kib - used) * 1_000_000 / FILLED_KIB_A_SECOND);
        let pause = rest.clamp(PAUSE.0, PAUSE.1).max(PART * began.elapsed());
        self.due = Some(Instant::now() + pause.min(PAUSE_MAX));
        None
    }

    /// Finds the processes, at most one more than allowed; returns how many threads they have.
    fn find_tree(&mut self) -> u64 {
        self.tree.clear();
        self.find_children(self.root.as_raw());
        let mut threads = 0;
        let mut next = 0;
        while let Some(&pid) = self.tree.get(next)
            && threads <= self.processes
        {
            threads += self.find_children(pid);
            next += 1;
        }
        threads
    }

    /// Adds a process's children to the tree; returns how many threads it has.
    fn find_children(&mut self, pid: i32) -> u64 {
        // The folder has a link per thread, and two more.
        self.set_path(pid, "task");
        let threads = stat(self.path.as_str()).map_or(0, |it| it.st_nlink.saturating_sub(2));
        if threads <= 1 {
            self.read_children(pid, pid);
        } else if let Ok(entries) = read_dir(&self.path) {
            for entry in entries.flatten() {
                self.read_children(pid, entry.file_name().display());
            }
        }
        threads
    }

    fn read_children(&mut self, pid: i32, thread: impl Display) {
        self.set_path(pid, format_args!("task/{thread}/children"));
        let Some(text) = read(&self.path, &mut self.text) else { return };
        self.tree.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }

    /// Sets the path to that of a thread other than the first.
    fn set_path_of_thread(&mut self, pid: i32, file: &str) -> Option<()> {
        let threads = read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
        let mut names = threads.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
        let thread = names.find(|&thread| thread != pid)?;
        self.set_path(pid, format_args!("task/{thread}/{file}"));
        Some(())
    }

    fn set_path(&mut self, pid: i32, file: impl Display) {
        self.path.clear();
        write!(self.path, "/proc/{pid}/{file}").ok();
    }

    /// Returns what the whole tree has, in KiB. A process that is gone by now has nothing.
    fn sum(&mut self, of: impl Fn(&mut Self, i32) -> Option<Used>) -> u64 {
        let mut sum = Used::default();
        for index in 0..self.tree.len() {
            let used = of(self, self.tree[index]).unwrap_or_default();
            sum = Used {
                private: sum.private + used.private,
                shared: sum.shared + used.shared,
                tables: sum.tables + used.tables,
            };
        }
        // Some open files are mapped too, and it is unknown which.
        sum.private + sum.tables + sum.shared.max(self.held_kib)
    }

    /// Reads what a process has in memory, with everything that it shares.
    fn taken(&mut self, pid: i32) -> Option<Used> {
        self.set_path(pid, "status");
        self.status().or_else(|| {
            // A process whose first thread has ended still has its memory.
            self.set_path_of_thread(pid, "status")?;
            self.status()
        })
    }

    /// Reads the file whose path has been set.
    fn status(&mut self) -> Option<Used> {
        let text = read(&self.path, &mut self.text)?;
        let [private, swapped, tables, shared] =
            ["RssAnon:", "VmSwap:", "VmPTE:", "RssShmem:"].map(|name| field(text, name));
        let private = private? + swapped.unwrap_or(0);
        Some(Used { private, shared: shared?, tables: tables.unwrap_or(0) })
    }

    /// Reads the same with only its part of what it shares, unless the process has forbidden that.
    fn share(&mut self, pid: i32) -> Option<Used> {
        let taken = self.taken(pid)?;
        self.set_path(pid, "smaps_rollup");
        let shares = read(&self.path, &mut self.text).and_then(|text| {
            let [private, swapped, shared] =
                ["Pss_Anon:", "SwapPss:", "Pss_Shmem:"].map(|name| field(text, name));
            let private = private? + swapped.unwrap_or(0);
            Some(Used { private, shared: shared?, tables: taken.tables })
        });
        Some(shares.unwrap_or(taken))
    }

    /// Returns what the tree's open files hold in memory, mapped or not, in KiB; each counts once.
    fn held_in_memory(&mut self) -> u64 {
        let mut files: Vec<(u64, u64, u64)> = Vec::new();
        for index in 0..self.tree.len() {
            let pid = self.tree[index];
            let entries = |path: &str| read_dir(path).into_iter().flatten().flatten().peekable();
            self.set_path(pid, "fd");
            let mut entries_of = entries(&self.path);
            if entries_of.peek().is_none() && self.set_path_of_thread(pid, "fd").is_some() {
                entries_of = entries(&self.path);
            }
            for entry in entries_of.take(FILES_MAX.saturating_sub(files.len())) {
                let path = entry.path();
                let in_memory = std::fs::read_link(&path).is_ok_and(|link| {
                    let link = link.to_string_lossy();
                    IN_MEMORY.iter().any(|start| link.starts_with(start))
                });
                if in_memory && let Ok(file) = std::fs::metadata(&path) {
                    files.push((file.dev(), file.ino(), file.blocks() / 2));
                }
            }
        }
        files.sort_unstable();
        files.dedup_by_key(|(device, inode, _)| (*device, *inode));
        files.iter().map(|(_, _, kib)| kib).sum()
    }
}

/// Reads a short file of `/proc`.
fn read<'a>(path: &str, into: &'a mut [u8]) -> Option<&'a str> {
    let mut file = File::open(path).ok()?;
    let mut count = 0;
    // A long one comes in pieces.
    loop {
        match file.read(&mut into[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    std::str::from_utf8(&into[..count]).ok()
}

/// The number in the line that starts with this name.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Limit, Watchdog};
    use nix::unistd::Pid;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};
    use std::time::Instant;

    /// Another thread has the memory.
    const FIRST_THREAD_ENDS: &str = "import ctypes, threading, time; x = bytearray(60 * MB); threading.Thread(target=lambda: \
         (os.write(w, b'.'), sys.stdin.read(), os._exit(0))).start(); \
         ctypes.CDLL(None).syscall(60, 0)";

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

        fn look(&self, memory_mb: u64, processes: u64) -> Option<Limit> {
            let bounds = Bounds { files: 64, memory_mb, processes, work_mb: 1 };
            let root = Pid::from_raw(i32::try_from(self.0.id()).unwrap());
            let mut watchdog = Watchdog::new(root, &bounds);
            watchdog.pause(false);
            watchdog.files_due = Instant::now();
            watchdog.look()
        }

        /// Returns how much of its children's memory is seen, in MiB.
        fn seen_mb(&self) -> u64 {
            match self.look(1, 100) {
                Some(Limit::Memory(kib)) => kib / 1024,
                other => panic!("{other:?}"),
            }
        }
    }

    impl Drop for Parent {
        fn drop(&mut self) {
            // Its children end too: they share its stdin.
            drop(self.0.stdin.take());
            self.0.wait().ok();
        }
    }

    #[test]
    fn memory_of_any_kind_is_seen_once() {
        for (children, before, after, least, most) in [
            (1, "", "x = bytearray(60 * MB)", 60, 90),
            (3, "", "x = bytearray(20 * MB)", 60, 100),
            // Inherited, unwritten memory counts once.
            (3, "x = bytearray(60 * MB)", "pass", 40, 80),
            (2, "x = mmap.mmap(-1, 60 * MB); x[:] = bytes(60 * MB)", "len(x[:])", 35, 100),
            (1, "", "x = mmap.mmap(-1, 60 * MB); x[:] = bytes(60 * MB)", 60, 90),
            (1, "", "f = os.memfd_create('x'); os.write(f, bytes(60 * MB))", 60, 90),
            (1, "", FIRST_THREAD_ENDS, 60, 90),
            (3, "f = os.memfd_create('x'); os.write(f, bytes(60 * MB))", "pass", 60, 100),
        ] {
            let Some(parent) = Parent::of(children, before, after) else { return };
            let seen = parent.seen_mb();
            assert!((least..=most).contains(&seen), "{before} {after}: {seen} MiB");
            assert_eq!(parent.look(most + 1, 100), None, "{before} {after}");
        }
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
            assert_eq!(parent.look(1000, count - 1), Some(Limit::Processes(count)));
            assert_eq!(parent.look(1000, count), None);
        }
    }

    #[test]
    fn who_stands_still_is_left_alone() {
        let bounds = Bounds { files: 64, memory_mb: 1, processes: 0, work_mb: 1 };
        let mut watchdog = Watchdog::new(nix::unistd::getppid(), &bounds);
        watchdog.pause(true);
        assert_eq!(watchdog.look(), None);
        assert!(watchdog.timeout().is_none());
        watchdog.pause(false);
        assert!(matches!(watchdog.look(), Some(Limit::Processes(1..))));
    }
}
