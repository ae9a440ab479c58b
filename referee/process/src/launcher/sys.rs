//! System calls without a safe wrapper elsewhere, each in a small safe function.
//!
//! The launcher, supervisors and inits are single-threaded and rely on it when they fork.

use nix::NixPath;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, open, openat2};
use nix::sched::{CloneFlags, clone};
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::sys::stat::Mode;
use nix::unistd::{ForkResult, Pid, fork, write};
use std::ffi::{CStr, c_char, c_long};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;

/// Makes a system call whose arguments, up to six, are numbers. Allocates no memory.
pub(super) fn call<const N: usize>(number: c_long, given: [c_long; N]) -> nix::Result<c_long> {
    let mut all = [0; 6];
    all[..N].copy_from_slice(&given);
    // SAFETY: callers pass no addresses.
    #[expect(unsafe_code, reason = "nothing safe wraps these calls")]
    Errno::result(unsafe { libc::syscall(number, all[0], all[1], all[2], all[3], all[4], all[5]) })
}

/// The error number of an I/O error; an invalid path that never reached the system is `EINVAL`.
pub(super) fn number(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EINVAL, Errno::from_raw)
}

/// Forks this process, which is single-threaded.
pub(super) fn fork_self() -> nix::Result<ForkResult> {
    // SAFETY: with one thread, the child may do what any process may.
    #[expect(unsafe_code, reason = "a supervisor is a fork of the launcher")]
    unsafe {
        fork()
    }
}

/// Starts `child` in a copy of this process, in new namespaces; returns its process ID.
pub(super) fn clone_into(
    namespaces: CloneFlags,
    stack: &mut [u8],
    child: impl FnMut() -> isize,
) -> nix::Result<Pid> {
    // SAFETY: the memory is copied, as by a fork, and this process has one thread.
    #[expect(unsafe_code, reason = "fork can't make namespaces")]
    unsafe {
        clone(Box::new(child), stack, namespaces, Some(libc::SIGCHLD))
    }
}

/// Starts `child` in a new process that shares this one's memory, while this one is suspended until
/// the child calls exec or ends. The child may only make system calls and must not allocate.
pub(super) fn clone_within(stack: &mut [u8], child: impl FnMut() -> isize) -> nix::Result<Pid> {
    let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
    // SAFETY: this process has one thread, which is suspended until the new one has left its
    // memory; until then the new one makes system calls only, on its own stack.
    #[expect(unsafe_code, reason = "three times as quick as a fork: there is nothing to copy")]
    unsafe {
        clone(Box::new(child), stack, flags, Some(libc::SIGCHLD))
    }
}

/// Resets all signals to their defaults, except SIGPIPE: writing to a closed pipe or socket fails.
pub(super) fn default_signals() {
    /// The highest signal number.
    const LAST: libc::c_int = 64;
    for number in (1..=LAST).filter(|&number| number != libc::SIGPIPE) {
        // SAFETY: installs no handler. Signals that can't be changed are refused.
        #[expect(unsafe_code, reason = "nix doesn't know the signals for real time")]
        unsafe {
            libc::signal(number, libc::SIG_DFL);
        }
    }
}

/// Ignores a signal or resets it to its default, here and in what this process executes. If SIGCHLD
/// is ignored, the system reaps children that end.
pub(super) fn ignore_signal(which: Signal, ignored: bool) -> nix::Result<()> {
    let handler = if ignored { SigHandler::SigIgn } else { SigHandler::SigDfl };
    // SAFETY: installs no handler.
    #[expect(unsafe_code, reason = "nix marks it unsafe for the sake of handlers")]
    unsafe { signal(which, handler) }.map(drop)
}

/// Takes ownership of file descriptors that have just been received.
pub(super) fn received(fds: Vec<RawFd>) -> impl Iterator<Item = OwnedFd> {
    // SAFETY: the kernel has just made these descriptors for this process.
    #[expect(unsafe_code, reason = "received descriptors come as numbers")]
    fds.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Executes a program; returns only with an error. Both lists are null-terminated.
pub(super) fn execute(
    file: &CStr,
    arguments: &[*const c_char],
    environment: &[*const c_char],
) -> Errno {
    debug_assert!(arguments.last().is_some_and(|last| last.is_null()));
    debug_assert!(environment.last().is_some_and(|last| last.is_null()));
    // SAFETY: the lists are null-terminated, and the strings that they point to are borrowed with
    // them by the only caller, which made them from `CString`s that it holds.
    #[expect(unsafe_code, reason = "nix's own takes memory")]
    unsafe {
        libc::execve(file.as_ptr(), arguments.as_ptr(), environment.as_ptr());
    }
    Errno::last()
}

/// Schedules agents in batches: they share a core in longer slices, and the referee, which is not
/// in a batch, runs as soon as an answer arrives. Where processes share cores one by one, it has more of them than all
/// those of an agent, so that it can always stop these.
pub(super) fn batch_scheduling() {
    schedule(libc::SCHED_BATCH);
    priority(10);
}

/// Gives agents a small part of a core that others want, so that they end at some time.
pub(super) fn low_scheduling() {
    batch_scheduling();
    priority(19);
    session_priority(b"10");
}

/// Gives the calling thread a small part of a core that others want.
pub(super) fn low_priority() {
    priority(10);
}

fn priority(nice: libc::c_int) {
    // SAFETY: a plain system call on this thread. If it is refused, it has more.
    #[expect(unsafe_code, reason = "nix has no wrapper for it")]
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, nice);
    }
}

/// Lets agents run only when nothing else wants to.
pub(super) fn idle_scheduling() {
    schedule(libc::SCHED_IDLE);
    session_priority(b"19");
}

/// Where the system schedules by session, a priority counts only within the session, which has one of its own.
fn session_priority(nice: &[u8]) {
    if let Ok(file) =
        open(c"/proc/self/autogroup", OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty())
    {
        write(&file, nice).ok();
    }
}

/// Has a process of an agent, by its file `oom_score_adj`, and all that it starts, killed before the referee and
/// everything else where memory runs out. Allocates no memory.
pub(super) fn have_killed_first(adjustment: &CStr) {
    /// The kernel's maximum. Raising it needs no right.
    const FIRST: &[u8] = b"1000";
    // If it is refused, the kernel chooses as among ordinary programs.
    if let Ok(file) = open(adjustment, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty()) {
        write(&file, FIRST).ok();
    }
}

fn schedule(policy: libc::c_int) {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: a plain system call on this process with a structure that lives through it. If it is
    // refused, everything still works with a little more jitter.
    #[expect(unsafe_code, reason = "nix has no wrapper for it")]
    unsafe {
        libc::sched_setscheduler(0, policy, &raw const parameters);
    }
}

/// The highest file descriptor, for `close_range`.
const LAST_FD: c_long = -1;

/// Makes a counter of CPU time, in nanoseconds, of every program that this process or its children
/// start from now on: from its exec on, with all threads and descendants, also those whose end is
/// reported to no one. It does not count a program whose file its user may not read. Fails where
/// the system reserves such counters.
pub(super) fn count_descendants() -> nix::Result<OwnedFd> {
    /// `perf_event_attr` in its first version.
    #[repr(C)]
    struct Attributes {
        kind: u32,
        size: u32,
        config: u64,
        unused: [u64; 3],
        flags: u64,
        more_unused: [u64; 2],
    }
    /// `PERF_TYPE_SOFTWARE`, `PERF_COUNT_SW_TASK_CLOCK`.
    const TASK_CLOCK: (u32, u64) = (1, 1);
    /// `disabled`, `inherit`, `exclude_kernel`, `exclude_hv` and `enable_on_exec`. This clock counts
    /// time in the kernel nevertheless; ordinary users have to exclude it.
    const FLAGS: u64 = 1 | 1 << 1 | 1 << 5 | 1 << 6 | 1 << 12;
    /// `PERF_FLAG_FD_CLOEXEC`.
    const CLOSE_ON_EXEC: c_long = 8;
    let size = u32::try_from(size_of::<Attributes>()).map_err(|_| Errno::EINVAL)?;
    let (kind, config) = TASK_CLOCK;
    let attributes =
        Attributes { kind, size, config, unused: [0; 3], flags: FLAGS, more_unused: [0; 2] };
    // SAFETY: a plain system call with a structure of the size that it names; what it returns is
    // new.
    #[expect(unsafe_code, reason = "nix has no wrapper for it")]
    unsafe {
        let (own, any_core, no_group) = (0, -1, -1);
        let asked = &raw const attributes;
        let number = libc::SYS_perf_event_open;
        let fd = libc::syscall(number, asked, own, any_core, no_group, CLOSE_ON_EXEC);
        let fd = RawFd::try_from(Errno::result(fd)?).map_err(|_| Errno::EBADF)?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Returns a handle on a process.
pub(super) fn process_handle(process: Pid) -> nix::Result<OwnedFd> {
    let fd = call(libc::SYS_pidfd_open, [process.as_raw().into(), 0, 0, 0])?;
    Ok(new_file(fd))
}

/// Whether a link in `/proc` leads to a pipe. Asks no server about what is on another machine, which may not answer.
pub(super) fn is_pipe(link: &Path) -> bool {
    let flags = rustix::fs::AtFlags::STATX_DONT_SYNC;
    let about = rustix::fs::statx(rustix::fs::CWD, link, flags, rustix::fs::StatxFlags::TYPE);
    about.is_ok_and(|it| rustix::fs::FileType::from_raw_mode(it.stx_mode.into()).is_fifo())
}

/// Takes a copy of a file that another process has open, under this number.
pub(super) fn take_file(process: BorrowedFd<'_>, number: RawFd) -> nix::Result<OwnedFd> {
    let fd = call(libc::SYS_pidfd_getfd, [process.as_raw_fd().into(), number.into(), 0, 0])?;
    Ok(new_file(fd))
}

/// Whether two processes run in the same memory, as a new one does until it calls exec if `vfork` or
/// `posix_spawn` has made it. False if the first thread of either has ended, or if that can't be known.
pub(super) fn same_memory(one: Pid, other: Pid) -> bool {
    /// `KCMP_VM`.
    const MEMORY: c_long = 1;
    let (one, other) = (c_long::from(one.as_raw()), c_long::from(other.as_raw()));
    call(libc::SYS_kcmp, [one, other, MEMORY, 0]) == Ok(0)
}

/// Takes ownership of the file descriptor that a system call has just made.
fn new_file(fd: c_long) -> OwnedFd {
    let fd = RawFd::try_from(fd).expect("file descriptors have 32 bits");
    // SAFETY: the kernel has just made it for this process.
    #[expect(unsafe_code, reason = "results of system calls are numbers")]
    unsafe {
        OwnedFd::from_raw_fd(fd)
    }
}

/// What a socket holds, in bytes.
pub(super) struct SocketMemory {
    /// Data that it has received or sent, which has not been read yet, with the kernel's own data.
    pub(super) taken: u64,
    /// How much it may send.
    pub(super) room: u64,
}

/// Measures what a socket holds.
pub(super) fn socket_memory(socket: BorrowedFd<'_>) -> nix::Result<SocketMemory> {
    /// `SK_MEMINFO_RMEM_ALLOC`, `SK_MEMINFO_WMEM_ALLOC`, `SK_MEMINFO_OPTMEM`; `SK_MEMINFO_SNDBUF`.
    const TAKEN: [usize; 3] = [0, 2, 6];
    const ROOM: usize = 3;
    let mut numbers = [0_u32; 16];
    let mut length = libc::socklen_t::try_from(size_of_val(&numbers)).map_err(|_| Errno::EINVAL)?;
    // SAFETY: writes at most `length` bytes, and how many, to variables that live through the call.
    #[expect(unsafe_code, reason = "nix doesn't know this option")]
    Errno::result(unsafe {
        let (into, length) = (numbers.as_mut_ptr().cast(), &raw mut length);
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MEMINFO, into, length)
    })?;
    let taken = TAKEN.iter().map(|&at| u64::from(numbers[at])).sum();
    Ok(SocketMemory { taken, room: numbers[ROOM].into() })
}

/// Marks all files but stdin, stdout and stderr to be closed by exec.
pub(super) fn close_other_files() {
    call(libc::SYS_close_range, [3, LAST_FD, libc::CLOSE_RANGE_CLOEXEC.into(), 0]).ok();
}

/// Closes all file descriptors but these, for a process that never returns to code that owned others.
pub(super) fn close_all_but(kept: &mut [RawFd]) {
    kept.sort_unstable();
    let mut first = 0;
    for number in kept.iter().map(|&fd| c_long::from(fd)) {
        if first < number {
            call(libc::SYS_close_range, [first, number - 1, 0, 0]).ok();
        }
        first = number + 1;
    }
    call(libc::SYS_close_range, [first, LAST_FD, 0, 0]).ok();
}

/// A child that has ended.
pub(super) enum Ended {
    /// Its process ID, its status as returned by `waitpid`, and the most memory that it or one of its
    /// children has had, in KiB.
    One(Pid, i32, u64),
    /// No child has ended yet, and it was not waited for.
    NotYet,
    /// There are no children.
    NoneLeft,
}

/// Reaps the next child that has ended, of every kind: what an agent clones need not announce its
/// end by SIGCHLD. With `wait`, blocks until a child ends.
pub(super) fn next_ended(wait: bool) -> Ended {
    let flags = if wait { libc::__WALL } else { libc::WNOHANG | libc::__WALL };
    loop {
        let mut status = 0;
        let mut used = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: a plain system call that writes to `status` and `used`, which may be all zeros.
        #[expect(unsafe_code, reason = "nix's own fails on signals that it doesn't know")]
        let (pid, used) = unsafe {
            (libc::wait4(-1, &raw mut status, flags, used.as_mut_ptr()), used.assume_init())
        };
        match pid {
            0 => return Ended::NotYet,
            -1 if Errno::last() == Errno::EINTR => {}
            -1 => return Ended::NoneLeft,
            _ => {
                let peak = u64::try_from(used.ru_maxrss).unwrap_or(0);
                return Ended::One(Pid::from_raw(pid), status, peak);
            }
        }
    }
}

/// The argument of `landlock_add_rule`, packed as in the kernel.
#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

/// Adds a folder, by its file descriptor, to a Landlock ruleset. Allocates no memory.
pub(super) fn landlock_allow(
    ruleset: BorrowedFd<'_>,
    folder: BorrowedFd<'_>,
    allowed: u64,
) -> nix::Result<()> {
    /// `LANDLOCK_RULE_PATH_BENEATH`.
    const PATH_BENEATH: libc::c_int = 1;
    let rule = PathBeneath { allowed, parent: folder.as_raw_fd() };
    // SAFETY: a plain system call with a structure that lives through it.
    #[expect(unsafe_code, reason = "there is no wrapper that takes no memory")]
    let result = unsafe {
        let (ruleset, rule) = (ruleset.as_raw_fd(), &raw const rule);
        libc::syscall(libc::SYS_landlock_add_rule, ruleset, PATH_BENEATH, rule, 0)
    };
    Errno::result(result).map(drop)
}

/// Puts this process into a Landlock domain. Allocates no memory and closes nothing.
pub(super) fn landlock_enter(ruleset: BorrowedFd<'_>) -> nix::Result<()> {
    call(libc::SYS_landlock_restrict_self, [ruleset.as_raw_fd().into(), 0, 0, 0]).map(drop)
}

/// Changes user and group for good, without what libraries do for threads.
pub(super) fn become_user(user: u32) -> nix::Result<()> {
    let user = c_long::from(user);
    call(libc::SYS_setresgid, [user, user, user, 0])?;
    call(libc::SYS_setresuid, [user, user, user, 0]).map(drop)
}

/// Drops the bounding set: no program that this process executes can have any capability. Needs the
/// right to do so.
pub(super) fn drop_bounding_set() -> nix::Result<()> {
    for capability in 0..64 {
        match call(libc::SYS_prctl, [libc::PR_CAPBSET_DROP.into(), capability, 0, 0]) {
            Ok(_) => {}
            // One more than this kernel has.
            Err(Errno::EINVAL) => return Ok(()),
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Drops the capabilities that programs get without asking for them, as a service may have one.
pub(super) fn clear_ambient_set() -> nix::Result<()> {
    let clear = libc::PR_CAP_AMBIENT_CLEAR_ALL.into();
    match call(libc::SYS_prctl, [libc::PR_CAP_AMBIENT.into(), clear, 0, 0]) {
        // This kernel has none.
        Err(Errno::EINVAL) => Ok(()),
        done => done.map(drop),
    }
}

/// Returns a detached, read-only mount of a path, with everything mounted below.
pub(super) fn clone_mount(path: &Path) -> nix::Result<OwnedFd> {
    let mount = clone_tree(open_readable(path)?.as_fd(), Path::new(""))?;
    read_only(mount.as_fd())?;
    Ok(mount)
}

/// Opens a path that an agent may read, as a place. Such a path is canonical, so a link in it was put there later, by
/// someone who may not be allowed to read what it leads to: it is not followed. The kernel's own files have links.
pub(super) fn open_readable(path: &Path) -> nix::Result<OwnedFd> {
    let how = OpenHow::new().flags(OFlag::O_PATH | OFlag::O_CLOEXEC);
    let is_kernel = ["/proc", "/sys"].iter().any(|it| path.starts_with(it));
    let resolve = if is_kernel { ResolveFlag::empty() } else { ResolveFlag::RESOLVE_NO_SYMLINKS };
    openat2(AT_FDCWD, path, how.resolve(resolve))
}

/// Returns a detached copy of what is mounted at a path and below, as writable as it is there.
pub(super) fn clone_writable_mount(path: &Path) -> nix::Result<OwnedFd> {
    clone_tree(AT_FDCWD, path)
}

/// The same for a path relative to a folder; the empty path is the folder or file itself.
fn clone_tree(at: BorrowedFd<'_>, path: &Path) -> nix::Result<OwnedFd> {
    /// `OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH`.
    const FLAGS: libc::c_int = 1 | libc::O_CLOEXEC | 0x8000 | libc::AT_EMPTY_PATH;
    // SAFETY: a plain system call with a string that lives through it; what it returns is new.
    #[expect(unsafe_code, reason = "nix has no wrapper for it")]
    path.with_nix_path(|path| unsafe {
        let fd = libc::syscall(libc::SYS_open_tree, at.as_raw_fd(), path.as_ptr(), FLAGS);
        let fd = RawFd::try_from(Errno::result(fd)?).map_err(|_| Errno::EBADF)?;
        Ok(OwnedFd::from_raw_fd(fd))
    })?
}

/// Makes a mount and those below it read-only: what Landlock allows in a private folder it also
/// allows in everything mounted there.
pub(super) fn read_only(mount: BorrowedFd<'_>) -> nix::Result<()> {
    /// `AT_EMPTY_PATH | AT_RECURSIVE`.
    const FLAGS: libc::c_int = 0x1000 | 0x8000;
    let change = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: a plain system call with a string and a structure of the given size that live through
    // it.
    #[expect(unsafe_code, reason = "nix has no wrapper for it")]
    let result = unsafe {
        let (fd, empty) = (mount.as_raw_fd(), c"".as_ptr());
        let size = size_of::<libc::mount_attr>();
        libc::syscall(libc::SYS_mount_setattr, fd, empty, FLAGS, &raw const change, size)
    };
    Errno::result(result).map(drop)
}

/// Attaches a detached mount at a path.
pub(super) fn place_mount(mount: BorrowedFd<'_>, path: &Path) -> nix::Result<()> {
    /// `MOVE_MOUNT_F_EMPTY_PATH`.
    const FLAGS: libc::c_int = 4;
    // SAFETY: a plain system call with strings that live through it.
    #[expect(unsafe_code, reason = "nix has no wrapper for it")]
    let result = path.with_nix_path(|path| unsafe {
        let (fd, empty) = (mount.as_raw_fd(), c"".as_ptr());
        libc::syscall(libc::SYS_move_mount, fd, empty, libc::AT_FDCWD, path.as_ptr(), FLAGS)
    })?;
    Errno::result(result).map(drop)
}

#[cfg(test)]
mod tests {
    use super::count_descendants;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::process::Command;

    /// Each of 50 children uses 2 ms, and its parent isn't informed of its end.
    const UNREPORTED: &str = "import os, signal, time\n\
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n\
        for _ in range(50):\n \
         if os.fork() == 0:\n  \
          while time.process_time() < 0.002: pass\n  \
          os._exit(0)\n \
         try: os.wait()\n \
         except ChildProcessError: pass";

    #[test]
    fn children_whose_end_is_reported_to_no_one_are_counted() {
        let counter = match count_descendants() {
            Ok(counter) => counter,
            Err(errno) => return writeln!(std::io::stderr(), "not tested: {errno}").unwrap(),
        };
        let Ok(status) = Command::new("python3").args(["-c", UNREPORTED]).status() else { return };
        assert!(status.success());
        let mut count = [0; 8];
        File::from(counter).read_exact(&mut count).unwrap();
        let counted_us = u64::from_ne_bytes(count) / 1000;
        writeln!(std::io::stderr(), "counted {counted_us} us for 100000 us").unwrap();
        assert!(counted_us >= 100_000, "{counted_us}");
    }
}
