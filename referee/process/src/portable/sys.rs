//! System calls without a safe wrapper elsewhere, each in a small safe function.
//!
//! A supervisor has one thread when it forks.

use nix::errno::Errno;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::{ForkResult, Pid, fork};
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Forks this process, which has one thread.
pub(super) fn fork_self() -> nix::Result<ForkResult> {
    // SAFETY: with one thread, the child may do what any process may.
    #[expect(unsafe_code, reason = "std starts programs in no session of their own")]
    unsafe {
        fork()
    }
}

/// Ends a forked process without what its parent would do at its end.
pub(super) fn end_self() -> ! {
    // SAFETY: ends this process.
    #[expect(unsafe_code, reason = "nothing safe wraps it")]
    unsafe {
        libc::_exit(127)
    }
}

/// Ignores a signal or resets it to its default, here and in what this process executes.
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

/// Waits until a child has ended. Returns its status as `waitpid` would, and leaves the child to
/// [`reap`]: until then no other process gets its ID.
pub(super) fn await_end(child: Pid) -> nix::Result<i32> {
    let id = libc::id_t::try_from(child.as_raw()).map_err(|_| Errno::ECHILD)?;
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    loop {
        // SAFETY: a plain system call that writes to `info`, of which all zeros are a valid value.
        #[expect(unsafe_code, reason = "nix has no wrapper for it on every system")]
        let (result, code, status) = unsafe {
            let result =
                libc::waitid(libc::P_PID, id, info.as_mut_ptr(), libc::WEXITED | libc::WNOWAIT);
            let info = info.assume_init_ref();
            (result, info.si_code, info.si_status())
        };
        match Errno::result(result) {
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno),
            Ok(_) => {
                return Ok(if code == libc::CLD_EXITED { status << 8 } else { status & 0x7f });
            }
        }
    }
}

/// Waits for the end of a child and forgets it.
pub(super) fn reap(child: Pid) {
    while nix::sys::wait::waitpid(child, None) == Err(Errno::EINTR) {}
}

/// Returns the CPU time of a process that has not been reaped, in nanoseconds: of all its threads, and
/// of those of its children that have ended and that it has waited for.
#[cfg(target_os = "macos")]
pub(super) fn cpu_ns(process: Pid) -> Option<u64> {
    let mut used = MaybeUninit::<libc::rusage_info_v1>::zeroed();
    let mut scale = libc::mach_timebase_info { numer: 0, denom: 0 };
    // SAFETY: plain system calls that write to structures of the kind that they expect, of which all
    // zeros are a valid value.
    #[expect(unsafe_code, reason = "nothing safe wraps them")]
    let used = unsafe {
        if libc::proc_pid_rusage(process.as_raw(), libc::RUSAGE_INFO_V1, used.as_mut_ptr().cast())
            != 0
            || libc::mach_timebase_info(&raw mut scale) != 0
        {
            return None;
        }
        used.assume_init()
    };
    let ticks = used.ri_user_time
        + used.ri_system_time
        + used.ri_child_user_time
        + used.ri_child_system_time;
    // Times are in units of the machine's clock, which are not nanoseconds on all processors.
    let nanos = u128::from(ticks) * u128::from(scale.numer) / u128::from(scale.denom.max(1));
    u64::try_from(nanos).ok()
}

/// Returns the CPU time of a process that has not been reaped, in nanoseconds: of all its threads.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub(super) fn cpu_ns(process: Pid) -> Option<u64> {
    let clock = nix::time::clock_getcpuclockid(process).ok()?;
    let time = nix::time::clock_gettime(clock).ok()?;
    let (seconds, nanos) =
        (u64::try_from(time.tv_sec()).ok()?, u64::try_from(time.tv_nsec()).ok()?);
    Some(seconds * 1_000_000_000 + nanos)
}

/// Other systems don't tell one process the CPU time of another.
#[cfg(not(any(target_os = "macos", target_os = "linux", target_os = "freebsd")))]
pub(super) fn cpu_ns(_: Pid) -> Option<u64> {
    None
}
