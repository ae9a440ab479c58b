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
const NAMED: &str = "import ctypes; ctypes.CDLL(None).prctl(15, b'\\xff'); x = bytearray(60 * MB)";

/// It and its children have 60,000 mappings each, of which none has a page.
const MAPPED: &str =
    "maps = [mmap.mmap(-1, 4096, mmap.MAP_PRIVATE, it % 2 + 1) for it in range(60_000)]";

/// Of 30 processes each is the child of the one before, with 2000 mappings in which the first has written.
const CHAIN: &str = "maps = [mmap.mmap(-1, 4096, mmap.MAP_PRIVATE, it % 2 * 4 + 3) for it in range(2000)]\n\
     for it in maps: it[0] = 1; it.madvise(mmap.MADV_DONTNEED)\nr, w = os.pipe()\nn = 30\n\
     while n and os.fork() == 0: n -= 1\nif n < 30: n or os.write(w, b'.'); sys.stdin.read(); os._exit(0)\nos.read(r, 1)";

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
        watchdog.sum(own.filter_map(|(pid, _)| share(pid, tree.len()))) / 1024
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
        (1, CHAIN, "pass", 140, 240),
        (1, "", EXECUTED, 60, 90),
        (1, "", NAMED_PIPES, 60, 90),
        (1, "", &pipes_in_memory, 60, 90),
        (1, "", "x = [open('/proc/self/fdinfo/0') for _ in range(4)]", 64, 90),
        (1, "", "x = [open('/proc/self/stat') for _ in range(9)]", 1, 30),
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
    // So do files that are under way, of which nobody knows what they hold.
    let sent = |count: usize| {
        format!(
            "import socket; a, b = socket.socketpair(); socket.send_fds(a, [b'.'], [0] * {count})"
        )
    };
    let Some(parent) = Parent::of(1, "", &sent(5)) else { return };
    assert!(matches!(parent.check(200, 100), Some(Limit::Memory(_))));
    let Some(parent) = Parent::of(1, "", &sent(1)) else { return };
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
    let maps = "maps = [mmap.mmap(-1, 4096, mmap.MAP_PRIVATE, it % 2 + 1) for it in range(2000)]";
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
    let mut watchdog = Watchdog { cost_max: free, cost_a_kib: Duration::from_secs(1), ..begin() };
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
