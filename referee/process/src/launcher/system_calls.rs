//! The system calls that agents may make at level `confined` and above: what the C library and the
//! language runtimes of the samples call, and what belongs with it. `docs/sandbox.md` lists
//! the refused calls, and a test compares them.

/// System calls with their names in the C library.
pub(super) type Calls = &'static [(&'static str, libc::c_long)];

macro_rules! calls {
    ($($call:ident)*) => { &[$((stringify!($call), libc::$call)),*] };
}

/// Calls that are passed to the kernel, by topic, except with arguments that `seccomp.rs` refuses.
/// Any other call fails with `ENOSYS`, also one that only newer kernels have: libraries then use an
/// older call. So `clone3`, whose flags no filter can see, is `clone`.
/// Policies of memory (`mbind`) are not in it: nothing counts what they take. Nor are `splice`, `tee` and `sendfile`: one byte
/// of a file in a pipe or a socket holds up to 2 MiB of it, which counts as that byte.
/// `setresuid` and `setresgid` can set only what an agent has; `make` calls them before each command.
pub(super) const ALLOWED: &[(&str, Calls)] = &[
    (
        "input and output",
        calls![
            SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_preadv SYS_pwritev
            SYS_preadv2 SYS_pwritev2 SYS_lseek SYS_close SYS_close_range SYS_dup SYS_dup3 SYS_fcntl
            SYS_ioctl SYS_pipe2 SYS_copy_file_range SYS_fsync
            SYS_fdatasync SYS_ftruncate SYS_fadvise64 SYS_readahead SYS_flock
        ],
    ),
    (
        "waiting",
        calls![
            SYS_ppoll SYS_pselect6 SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2
            SYS_eventfd2 SYS_signalfd4 SYS_timerfd_create SYS_timerfd_settime SYS_timerfd_gettime
            SYS_inotify_rm_watch
        ],
    ),
    (
        "files",
        calls![
            SYS_openat SYS_newfstatat SYS_fstat SYS_statx SYS_statfs SYS_fstatfs
            SYS_faccessat SYS_faccessat2 SYS_readlinkat SYS_getdents64 SYS_getcwd SYS_chdir SYS_fchdir
            SYS_mkdirat SYS_mknodat SYS_linkat SYS_symlinkat SYS_unlinkat SYS_renameat SYS_renameat2
            SYS_truncate SYS_umask SYS_utimensat SYS_fgetxattr SYS_flistxattr
        ],
    ),
    (
        "memory",
        calls![
            SYS_brk SYS_mmap SYS_munmap SYS_mremap SYS_mprotect SYS_madvise SYS_msync SYS_mincore
            SYS_mlock SYS_mlock2 SYS_munlock SYS_mlockall SYS_munlockall SYS_memfd_create SYS_membarrier
            SYS_pkey_alloc SYS_pkey_free SYS_pkey_mprotect
        ],
    ),
    (
        "processes and threads",
        calls![
            SYS_clone SYS_execve SYS_execveat SYS_exit SYS_exit_group SYS_wait4 SYS_waitid
            SYS_set_tid_address SYS_set_robust_list SYS_get_robust_list SYS_futex SYS_futex_waitv
            SYS_rseq SYS_prctl SYS_pidfd_open SYS_getpid SYS_getppid SYS_gettid SYS_getpgid SYS_setpgid
            SYS_getsid SYS_getuid SYS_geteuid SYS_getgid SYS_getegid SYS_getresuid SYS_getresgid
            SYS_getgroups SYS_setresuid SYS_setresgid SYS_capget
        ],
    ),
    (
        "scheduling and limits",
        calls![
            SYS_sched_yield SYS_sched_getaffinity SYS_sched_getparam SYS_sched_setparam
            SYS_sched_getscheduler SYS_sched_setscheduler SYS_sched_getattr SYS_sched_setattr
            SYS_sched_get_priority_max SYS_sched_get_priority_min SYS_sched_rr_get_interval SYS_getcpu
            SYS_getpriority SYS_setpriority SYS_ioprio_get SYS_ioprio_set SYS_prlimit64 SYS_getrlimit
            SYS_setrlimit SYS_getrusage SYS_times
        ],
    ),
    (
        "signals",
        calls![
            SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_rt_sigpending SYS_rt_sigsuspend
            SYS_rt_sigtimedwait SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_sigaltstack
            SYS_restart_syscall SYS_kill SYS_tkill SYS_tgkill SYS_pidfd_send_signal
        ],
    ),
    (
        "time",
        calls![
            SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_nanosleep SYS_gettimeofday
            SYS_getitimer SYS_setitimer
        ],
    ),
    (
        "pairs of sockets",
        calls![
            SYS_socketpair SYS_sendto SYS_recvfrom SYS_recvmsg SYS_shutdown SYS_getsockname
            SYS_getpeername SYS_getsockopt SYS_setsockopt
        ],
    ),
    ("the machine", calls![SYS_uname SYS_sysinfo SYS_getrandom]),
    #[cfg(target_arch = "x86_64")]
    (
        "only on x86-64",
        calls![
            SYS_open SYS_creat SYS_stat SYS_lstat SYS_access SYS_readlink SYS_getdents SYS_mkdir
            SYS_rmdir SYS_mknod SYS_link SYS_symlink SYS_unlink SYS_rename SYS_poll SYS_select
            SYS_epoll_create SYS_epoll_wait SYS_eventfd SYS_signalfd SYS_pipe SYS_dup2 SYS_fork
            SYS_vfork SYS_arch_prctl SYS_getpgrp SYS_alarm SYS_pause SYS_time
        ],
    ),
];

/// They fail with `EOPNOTSUPP`, as on file systems that don't have them.
pub(super) const UNSUPPORTED: &[(&str, Calls)] = &[
    // It would fill the disk at once, file by file, before anything can count that. The C library's `posix_fallocate`
    // then writes instead.
    ("room for files", calls![SYS_fallocate]),
    // Landlock lets a user read those of files that it may not open, and set those of all its files.
    ("attributes by path", calls![SYS_getxattr SYS_lgetxattr SYS_listxattr SYS_llistxattr]),
    // Those of a file in memory are in the kernel's, without a bound, and nothing counts them.
    (
        "setting attributes",
        calls![
            SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr
            SYS_fremovexattr
        ],
    ),
];

/// Calls that ordinary programs try and can do without. They fail with `EPERM`, as in a container.
pub(super) const REFUSED: &[(&str, Calls)] = &[
    // A pair of sockets is already connected, and a named one could be found by others.
    ("sockets", calls![SYS_socket SYS_bind SYS_connect SYS_listen]),
    // A file that is under way is in no process, so nothing counts what it holds.
    ("passing open files", calls![SYS_sendmsg]),
    ("other processes", calls![SYS_ptrace]),
    // Where the system divides cores among sessions, each would get as much as a whole agent, and one in
    // the background would no longer be there.
    ("sessions", calls![SYS_setsid]),
    // They outlive a process, and are not accounted to it.
    ("shared memory and messages", calls![SYS_shmget SYS_msgget SYS_semget SYS_mq_open]),
    // It would show what others do with their files.
    ("watching files", calls![SYS_inotify_add_watch]),
    // Timers send any signal: a stopped process could have itself continued.
    ("timers", calls![SYS_timer_create]),
    // The referee has chosen the core.
    ("cores", calls![SYS_sched_setaffinity]),
];

/// What a build needs to reach other machines, if it may.
pub(super) const NETWORK: Calls =
    calls![SYS_socket SYS_bind SYS_connect SYS_sendmsg SYS_sendmmsg SYS_recvmmsg];

/// All processes of a user together may have few of them. Not refused in its own namespaces, each of which has
/// a limit of its own.
#[cfg(target_arch = "x86_64")]
pub(super) const WATCHERS: Calls = calls![SYS_inotify_init1 SYS_inotify_init];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const WATCHERS: Calls = calls![SYS_inotify_init1];

/// Modes and owners of files. Landlock lets a user change those of all its files, the opponents' included. Not refused if
/// the agent sees those in read-only mounts.
pub(super) const MODES: Calls = calls![SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat];

/// The same with older numbers.
#[cfg(target_arch = "x86_64")]
pub(super) const OLD_MODES: Calls =
    calls![SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const OLD_MODES: Calls = &[];
