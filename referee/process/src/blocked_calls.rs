//! Reads from `/proc` in which system calls threads wait.

use crate::blocked_call::BlockedCall;
use crate::usage::{proc_text, threads_of};
use nix::unistd::Pid;
use std::path::{Path, PathBuf};

/// Calls in which programs wait, and which argument is their time limit, if they have one.
const CALLS: [(libc::c_long, &str, Option<usize>); 20] = [
    (libc::SYS_read, "read", None),
    (libc::SYS_readv, "readv", None),
    (libc::SYS_write, "write", None),
    (libc::SYS_writev, "writev", None),
    (libc::SYS_nanosleep, "nanosleep", None),
    (libc::SYS_clock_nanosleep, "clock_nanosleep", None),
    (libc::SYS_futex, "futex", Some(3)),
    (libc::SYS_wait4, "wait4", None),
    (libc::SYS_waitid, "waitid", None),
    (libc::SYS_ppoll, "ppoll", Some(2)),
    (libc::SYS_pselect6, "pselect6", Some(4)),
    (libc::SYS_epoll_pwait, "epoll_pwait", Some(3)),
    (libc::SYS_recvfrom, "recvfrom", None),
    (libc::SYS_recvmsg, "recvmsg", None),
    (libc::SYS_accept, "accept", None),
    (libc::SYS_accept4, "accept4", None),
    (libc::SYS_connect, "connect", None),
    (libc::SYS_flock, "flock", None),
    (libc::SYS_fcntl, "fcntl", None),
    (libc::SYS_rt_sigtimedwait, "rt_sigtimedwait", None),
];

/// Calls that only some machines have.
#[cfg(target_arch = "x86_64")]
const OLD_CALLS: [(libc::c_long, &str, Option<usize>); 4] = [
    (libc::SYS_poll, "poll", Some(2)),
    (libc::SYS_select, "select", Some(4)),
    (libc::SYS_epoll_wait, "epoll_wait", Some(3)),
    (libc::SYS_pause, "pause", None),
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CALLS: [(libc::c_long, &str, Option<usize>); 0] = [];

impl BlockedCall {
    /// Returns those of a process's threads that wait. `stdin` is what the agent reads.
    pub(crate) fn of_threads(pid: Pid, stdin: Option<&Path>) -> Vec<(Pid, Self)> {
        let call_of = |thread: PathBuf| {
            let id = thread.file_name()?.to_str()?.parse().ok()?;
            let text = proc_text(thread.join("syscall"))?;
            let mut call = Self::read(&text)?;
            if let (true, Some(file)) = (call.name.starts_with("read"), argument(&text, 0)) {
                let file = std::fs::read_link(format!("/proc/{pid}/fd/{file}")).ok();
                call.reads_stdin = file.is_some() && file.as_deref() == stdin;
                call.reads_pipe = !call.reads_stdin
                    && file.is_some_and(|it| it.to_string_lossy().starts_with("pipe:"));
            }
            Some((Pid::from_raw(id), call))
        };
        threads_of(pid).into_iter().filter_map(call_of).collect()
    }

    /// Reads a file `syscall` of `/proc`.
    fn read(text: &str) -> Option<Self> {
        let number: libc::c_long = text.split_whitespace().next()?.parse().ok()?;
        let mut calls = CALLS.iter().chain(&OLD_CALLS);
        let (_, name, limit) = calls.find(|(known, ..)| *known == number)?;
        // No limit is a null pointer or, of calls that count milliseconds, -1.
        let is_none = |limit: u64| match *name {
            "poll" | "epoll_wait" | "epoll_pwait" => {
                limit & u64::from(u32::MAX) == u64::from(u32::MAX)
            }
            _ => limit == 0,
        };
        let is_unlimited = limit.is_none_or(|at| argument(text, at).is_none_or(is_none));
        let (reads_stdin, reads_pipe, process) = (false, false, None);
        Some(Self { name, reads_stdin, reads_pipe, is_unlimited, process })
    }
}

/// Returns an argument in a file `syscall` of `/proc`.
fn argument(text: &str, at: usize) -> Option<u64> {
    let argument = text.split_whitespace().nth(1 + at)?;
    u64::from_str_radix(argument.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use crate::blocked_call::BlockedCall;

    #[test]
    fn what_a_thread_waits_for_is_read() {
        let text = |number: i64, arguments: &str| format!("{number} {arguments} 0x7ffd 0x7f01\n");
        let name = |text: &str| BlockedCall::read(text).map(|it| (it.name, it.is_unlimited));
        let none = "0x0 0x0 0x0 0x0 0x0 0x0";
        assert_eq!(name(&text(libc::SYS_read, none)), Some(("read", true)));
        assert_eq!(name(&text(libc::SYS_futex, none)), Some(("futex", true)));
        let limited = "0x1 0x0 0x0 0x7ffe 0x0 0x0";
        assert_eq!(name(&text(libc::SYS_futex, limited)), Some(("futex", false)));
        let forever = "0x3 0x7f 0x400 0xffffffff 0x0 0x8";
        assert_eq!(name(&text(libc::SYS_epoll_pwait, forever)), Some(("epoll_pwait", true)));
        let second = "0x3 0x7f 0x400 0x3e8 0x0 0x8";
        assert_eq!(name(&text(libc::SYS_epoll_pwait, second)), Some(("epoll_pwait", false)));
        assert_eq!(name("running\n"), None);
        assert_eq!(name(""), None);
    }
}
