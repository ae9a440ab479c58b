//! System calls that no agent needs, refused with `EPERM` so that a runtime that tries one
//! continues. The list follows what container engines refuse, and adds calls that reach other
//! processes of the same user.

use nix::errno::Errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Built<T> = Result<T, seccompiler::BackendError>;

/// Refused with any arguments.
const REFUSED: &[i64] = &[
    // Connecting to others: a pair of sockets is allowed.
    libc::SYS_socket,
    // Accessing other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Keys can outlive a process, and could once remove a Landlock domain (CVE-2024-42318).
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Messages and memory that outlive a process and are not accounted to it.
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    libc::SYS_memfd_secret,
    // Large parts of the kernel that no game needs.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_fanotify_init,
    // Useless without `socket`: a socket pair is already connected, and a named socket can be found
    // by others.
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_listen,
    // Timers send any signal: a stopped process could have itself continued.
    libc::SYS_timer_create,
    // Watching what others do with their files.
    libc::SYS_inotify_add_watch,
    // Moving other processes' memory.
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Other views of the file system, and ways around paths.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_unshare,
    libc::SYS_setns,
    // Leaving the core that the referee has chosen.
    libc::SYS_sched_setaffinity,
    // Changing the machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
];

/// New namespaces, each with its own bit in `clone`'s flags; new time namespaces only by `unshare`.
const NEW_NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
];

/// Typing into a terminal. The kernel looks at 32 bits (CVE-2019-10063). `TIOCSTI`, `TIOCLINUX`.
const TYPING: &[u64] = &[0x5412, 0x541c];

/// Like [`FILE_SIGNALS`], by other means: `FIOSETOWN`, `SIOCSPGRP`, `FIOASYNC`.
const SOCKET_SIGNALS: &[u64] = &[0x8901, 0x8902, 0x5452];

/// Attributes of open files: `FS_IOC_SETFLAGS`, the same for 32 bits, `FS_IOC_FSSETXATTR`.
const FILE_FLAGS: &[u64] = &[0x4008_6602, 0x4004_6602, 0x401c_5820];

/// Kinds of sockets that can send to any address: `SOCK_DGRAM`, `SOCK_RAW`.
const UNCONNECTED: &[u64] = &[2, 3];

/// Signals sent to others through a file (CVE-2026-72183): `F_SETOWN`, `F_SETSIG`, `F_SETOWN_EX`;
/// and watching or delaying what others do with one: `F_NOTIFY`, `F_SETLEASE`.
const FILE_SIGNALS: &[u64] = &[8, 10, 15, 1026, 1024];

/// Refused unless the argument at an index has this value: calls that change another process of the
/// same user, its limits or its share of the machine. 0 is the caller itself.
const OWN_ONLY: &[(i64, &[(u8, u64)])] = &[
    (libc::SYS_prlimit64, &[(0, 0)]),
    // `PRIO_PROCESS`.
    (libc::SYS_setpriority, &[(0, 0), (1, 0)]),
    // `IOPRIO_WHO_PROCESS`.
    (libc::SYS_ioprio_set, &[(0, 1), (1, 0)]),
    (libc::SYS_sched_setscheduler, &[(0, 0)]),
    (libc::SYS_sched_setparam, &[(0, 0)]),
    (libc::SYS_sched_setattr, &[(0, 0)]),
];

/// Modes, owners and attributes of files. Landlock lets a user change those of all its files, the
/// opponents' included. Not needed if the agent sees those in read-only mounts.
const ATTRIBUTES: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
];
/// The numbers of newer calls are the same on all architectures.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;

/// The same with older numbers.
#[cfg(target_arch = "x86_64")]
const OLD_ATTRIBUTES: &[i64] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_ATTRIBUTES: &[i64] = &[];

/// The compiled filters, all of which are to be applied.
#[derive(Clone, Debug)]
pub(super) struct Filters(Vec<BpfProgram>);

impl Filters {
    /// Compiles the filters for this machine, for agents with or without their own mounts. Fails if
    /// this program has a bug or the architecture is not supported.
    pub(super) fn compile(own_mounts: bool) -> nix::Result<Self> {
        let programs = refusals(own_mounts).and_then(|refused| {
            // A library that knows only `clone3` falls back to `clone`, whose flags can be
            // filtered.
            let newer = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
            Ok(vec![program(refused, Errno::EPERM)?, program(newer, Errno::ENOSYS)?])
        });
        let mut programs = programs.map_err(|_| Errno::ENOTSUP)?;
        programs.extend(other_numbers());
        Ok(Self(programs))
    }

    /// Applies them for good. Allocates no memory.
    pub(super) fn apply(&self) -> nix::Result<()> {
        self.0.iter().try_for_each(|program| apply_filter(program).map_err(|_| Errno::last()))
    }
}

fn program(rules: Rules, errno: Errno) -> Built<BpfProgram> {
    let refuse = SeccompAction::Errno(errno as u32);
    // A call with another architecture's numbers kills the process.
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()
}

fn refusals(own_mounts: bool) -> Built<Rules> {
    use SeccompCmpArgLen::{Dword, Qword};
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let mut rules: Rules = REFUSED.iter().map(|&number| (number, Vec::new())).collect();
    let rule = |place, length, relation, value| {
        SeccompRule::new(vec![SeccompCondition::new(place, length, relation, value)?])
    };
    let namespaces = NEW_NAMESPACES.iter().map(|&flag| {
        let bits = u64::from(flag.cast_unsigned());
        rule(0, Qword, MaskedEq(bits), bits)
    });
    rules.insert(libc::SYS_clone, namespaces.collect::<Built<_>>()?);
    let is = |&value: &u64| rule(1, Dword, Eq, value);
    let typing = TYPING.iter().chain(SOCKET_SIGNALS).chain(FILE_FLAGS);
    rules.insert(libc::SYS_ioctl, typing.map(is).collect::<Built<_>>()?);
    rules.insert(libc::SYS_fcntl, FILE_SIGNALS.iter().map(is).collect::<Built<_>>()?);
    let is_not = |&(place, value)| rule(place, Dword, Ne, value);
    // Only pairs of sockets that can reach no one else.
    let kinds = UNCONNECTED.iter().map(|&kind| rule(1, Dword, MaskedEq(0xf), kind));
    let pairs = kinds.chain([is_not(&(0, 1))]);
    rules.insert(libc::SYS_socketpair, pairs.collect::<Built<_>>()?);
    // A process that can't be inspected can't be measured (`PR_SET_DUMPABLE`, 0).
    let hidden = [(0, 4), (1, 0)];
    let hidden = hidden.map(|(place, value)| SeccompCondition::new(place, Dword, Eq, value));
    let hidden = SeccompRule::new(hidden.into_iter().collect::<Built<_>>()?)?;
    rules.insert(libc::SYS_prctl, vec![hidden]);
    for (call, own) in OWN_ONLY {
        rules.insert(*call, own.iter().map(is_not).collect::<Built<_>>()?);
    }
    if !own_mounts {
        let attributes = ATTRIBUTES.iter().chain(OLD_ATTRIBUTES);
        rules.extend(attributes.map(|&call| (call, Vec::new())));
        // Without a path it only sets the times of an open file.
        rules.insert(libc::SYS_utimensat, vec![rule(1, Qword, Ne, 0)?]);
    }
    Ok(rules)
}

/// On x86-64 a kernel may know all calls by second numbers, those of x32: they are refused.
#[cfg(target_arch = "x86_64")]
fn other_numbers() -> Option<BpfProgram> {
    use seccompiler::sock_filter;
    /// `__X32_SYSCALL_BIT`.
    const SECOND_NUMBERS: u32 = 0x4000_0000;
    let instruction =
        |code: u32, jt, jf, k| u16::try_from(code).ok().map(|code| sock_filter { code, jt, jf, k });
    Some(vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)?,
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, SECOND_NUMBERS)?,
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_KILL_PROCESS)?,
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW)?,
    ])
}

#[cfg(not(target_arch = "x86_64"))]
fn other_numbers() -> Option<BpfProgram> {
    None
}

#[cfg(test)]
mod tests {
    use super::{ATTRIBUTES, Filters, OLD_ATTRIBUTES, OWN_ONLY, REFUSED, refusals};

    /// The kernel's maximum (`BPF_MAXINSNS`).
    const INSTRUCTIONS_MAX: usize = 4096;

    #[test]
    fn filters_can_be_made_for_this_machine() {
        for own_mounts in [true, false] {
            let Filters(programs) = Filters::compile(own_mounts).unwrap();
            assert!(programs.len() >= 2);
            assert!(programs.iter().all(|it| !it.is_empty() && it.len() <= INSTRUCTIONS_MAX));
        }
    }

    #[test]
    fn no_rule_takes_the_place_of_another() {
        let attributes = ATTRIBUTES.len() + OLD_ATTRIBUTES.len();
        // Those of `clone`, `ioctl`, `fcntl`, `socketpair` and `prctl`; `utimensat` goes with the
        // attributes.
        let always = REFUSED.len() + OWN_ONLY.len() + 5;
        assert_eq!(refusals(true).unwrap().len(), always);
        assert_eq!(refusals(false).unwrap().len(), always + attributes + 1);
    }
}
