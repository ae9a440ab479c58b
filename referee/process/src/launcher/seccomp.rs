//! The filters of system calls: those that are not listed in `system_calls.rs` fail with `ENOSYS`, and
//! some fail with `EPERM`, all of them or with some arguments, so that a runtime that tries one
//! continues.
//!
//! The kernel runs a filter once for each number and remembers the calls that are allowed with any
//! arguments, so the order of the lists doesn't matter: `read`, `write` and waiting cost the same as
//! without a list.

use super::system_calls::{
    ALLOWED, Calls, MODES, NETWORK, OLD_MODES, REFUSED, UNSUPPORTED, WATCHERS,
};
use nix::errno::Errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};
use std::collections::{BTreeMap, BTreeSet};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Built<T> = Result<T, seccompiler::BackendError>;

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

/// Advice to the kernel to drop what it keeps of a file, which every later match would notice: `POSIX_FADV_DONTNEED`.
const DROP_FILE: u64 = 4;
/// The same for what is mapped: `MADV_COLD`, `MADV_PAGEOUT`.
const DROP_MAPPED: &[u64] = &[20, 21];
/// Calls whose last argument may ask whether the kernel keeps something of a file (`RWF_NOWAIT`), or that it doesn't
/// (`RWF_DONTCACHE`).
const WITH_FLAGS: &[i64] = &[libc::SYS_preadv2, libc::SYS_pwritev2];

/// Typing into a terminal. The kernel looks at 32 bits (CVE-2019-10063). `TIOCSTI`, `TIOCLINUX`.
const TYPING: &[u64] = &[0x5412, 0x541c];

/// Like [`FILE_SIGNALS`], by other means: `FIOASYNC`.
const ASYNC: u64 = 0x5452;

/// The second byte of the requests of `ioctl` that are passed to the kernel: those of terminals, pipes and all files.
/// Others set what stays with a file in the next match (`FS_IOC_SETVERSION`, `FS_IOC_SETFLAGS`), allocate the disk
/// (`FS_IOC_RESVSP`) or have signals sent (`FIOSETOWN`).
const REQUESTS: u64 = 0x5400;
/// But for these: `FICLONE`, `FICLONERANGE`, `FS_IOC_FIEMAP`, `FS_IOC_GETFLAGS`, with which tools copy files.
const OTHER_REQUESTS: &[u64] = &[0x4004_9409, 0x4020_940d, 0xc020_660b, 0x8008_6601];

/// Kinds of sockets that can send to any address: `SOCK_DGRAM`, `SOCK_RAW`. Rust's library starts programs with a pair of
/// `SOCK_SEQPACKET`.
const UNCONNECTED: &[u64] = &[2, 3];

/// The kinds of addresses that a build with the network reaches. Libraries ask the kernel for its own by the last one.
const REACHABLE: [libc::c_int; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The settings of sockets that a program may change: `SO_REUSEADDR`, `SO_KEEPALIVE`, `SO_LINGER`, `SO_PASSCRED`,
/// `SO_RCVLOWAT`, and time limits with their old and new numbers. Others enlarge a socket's buffers, or put filters into
/// the kernel: those take memory that nothing counts, and which starts of other agents need.
const SOCKET_SETTINGS: &[u64] = &[2, 9, 13, 16, 18, 20, 21, 66, 67];

/// Settings of a process that it may not change: `PR_SET_SECCOMP`, since nothing counts the memory of filters, and
/// `PR_SCHED_CORE`, which keeps others off the core.
const PROCESS_SETTINGS: &[u64] = &[22, 62];
/// From this number on they are of newer kernels, such as `PR_FUTEX_HASH`, by which a process takes as much of the kernel's
/// memory as it likes.
const SETTINGS: u64 = 67;
/// But for these, with large numbers: `PR_SET_VMA` and `PR_SET_PTRACER`.
const LATER_SETTINGS: &[u64] = &[0x5356_4d41, 0x5961_6d61];

/// Modes that no file gets, as bits and their values: those by which whoever executes it acts as the agent's user or group
/// (`S_ISUID`, `S_ISGID`), and that by which its user executes it but doesn't read it: the kernel's counter of CPU time
/// doesn't follow such a program.
const REFUSED_MODES: [(u64, u64); 3] = [(0o4000, 0o4000), (0o2000, 0o2000), (0o500, 0o100)];
/// What `umask` may not take from files that are made later: that their user reads them.
const REFUSED_MASK: u64 = 0o400;
/// The calls that give a file a mode, and the place of that.
const WITH_MODE: &[(i64, u8)] = &[
    (libc::SYS_mkdirat, 2),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];
/// The same for those that are in [`MODES`].
const CHANGES_MODE: &[(i64, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
];
/// The same for those that have a mode only if their flags, which are before it, say that they make a file: `O_CREAT`,
/// `O_TMPFILE`. `openat2` has both in a structure, which no filter sees.
const OPENS: &[(i64, u8)] = &[
    (libc::SYS_openat, 3),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2),
];

/// Calls that fail unless an agent has its own namespaces.
const CONFINED_ONLY: &[Calls] = &[MODES, OLD_MODES, WATCHERS];

/// Signals sent to others through a file (CVE-2026-72183): `F_SETOWN`, `F_SETSIG`, `F_SETOWN_EX`;
/// and watching or delaying what others do with one: `F_NOTIFY`, `F_SETLEASE`.
const FILE_SIGNALS: &[u64] = &[8, 10, 15, 1026, 1024];

/// From this number on `fcntl` sets what stays with a file in the next match (`F_SET_RW_HINT`), or is of newer kernels.
const FILE_SETTINGS: u64 = 1036;

/// Locks that belong to an open file, which a mapping keeps when no process has it open, so that nobody can count them:
/// `F_OFD_SETLK`, `F_OFD_SETLKW`.
const FILE_LOCKS: &[u64] = &[37, 38];

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

/// What is still needed when most of the filters are in force: to make the agent's session, to enter a
/// Landlock domain and to apply the last filter, which refuses these.
const ENTRY: [libc::c_long; 4] = [
    libc::SYS_setsid,
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_restrict_self,
    libc::SYS_seccomp,
];

/// The compiled filters, all of which are to be applied. The kernel compiles them again each time, so
/// processes that start many agents apply most of them once.
#[derive(Clone, Debug)]
pub(super) struct Filters {
    first: [BpfProgram; 2],
    last: BpfProgram,
}

impl Filters {
    /// Compiles the filters for this machine, for agents with or without their own mounts and the network. Fails if
    /// this program has a bug or the architecture is not supported.
    pub(super) fn compile(own_mounts: bool, network: bool) -> nix::Result<Self> {
        let refuse = SeccompAction::Errno(Errno::EPERM as u32);
        let some = some_refused(own_mounts, network)
            .and_then(|some| program(some, SeccompAction::Allow, refuse));
        let fails = |errno: Errno| libc::SECCOMP_RET_ERRNO | errno as u32;
        let (known, refused) = (all_known(), refused(own_mounts));
        let is_of_network = |number| network && NETWORK.iter().any(|&(_, it)| it == number);
        let result_of = |number| match number {
            _ if is_of_network(number) => libc::SECCOMP_RET_ALLOW,
            _ if refused.contains(&number) => fails(Errno::EPERM),
            _ if is_unsupported(number) => fails(Errno::EOPNOTSUPP),
            _ if known.contains(&number) => libc::SECCOMP_RET_ALLOW,
            // Libraries then continue with an older call.
            _ => fails(Errno::ENOSYS),
        };
        let is_entry = |number| ENTRY.contains(&number);
        let unless = |allowed: bool, number| {
            if allowed { libc::SECCOMP_RET_ALLOW } else { result_of(number) }
        };
        let list = by_number(|number| unless(is_entry(number), number));
        let rest = by_number(|number| unless(!is_entry(number), number));
        some.map(|some| Self { first: [some, list], last: rest }).map_err(|_| Errno::ENOTSUP)
    }

    /// Applies all but the last for good. Allocates no memory.
    pub(super) fn begin(&self) -> nix::Result<()> {
        self.first.iter().try_for_each(apply)
    }

    /// Applies the last for good. Allocates no memory.
    pub(super) fn finish(&self) -> nix::Result<()> {
        apply(&self.last)
    }
}

fn apply(program: &BpfProgram) -> nix::Result<()> {
    /// The kernel's own, for no memory left to compile a filter into (`net.core.bpf_jit_limit`).
    const ENOTSUPP: i32 = 524;
    apply_filter(program).map_err(|_| match Errno::last_raw() {
        ENOTSUPP => Errno::ENOMEM,
        number => Errno::from_raw(number),
    })
}

/// Compiles rules: what happens to calls that none of them matches, and to those that one matches.
fn program(rules: Rules, other: SeccompAction, matched: SeccompAction) -> Built<BpfProgram> {
    // A call with another architecture's numbers kills the process.
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, other, matched, arch)?.try_into()
}

/// The numbers of all listed calls.
fn all_known() -> BTreeSet<libc::c_long> {
    let groups = ALLOWED.iter().chain(REFUSED).map(|(_, calls)| *calls);
    groups.chain(CONFINED_ONLY.iter().copied()).flatten().map(|&(_, number)| number).collect()
}

/// Returns the numbers of all calls that fail with any arguments.
fn refused(own_mounts: bool) -> BTreeSet<libc::c_long> {
    let more: &[Calls] = if own_mounts { &[] } else { CONFINED_ONLY };
    let calls = REFUSED.iter().map(|(_, calls)| calls).chain(more).copied().flatten();
    calls.map(|&(_, number)| number).collect()
}

/// Whether a call fails as if a file system didn't have it.
fn is_unsupported(number: libc::c_long) -> bool {
    UNSUPPORTED.iter().flat_map(|(_, calls)| *calls).any(|&(_, it)| it == number)
}

/// Above the numbers of all calls of any kernel yet, with space for those to come.
const NUMBERS: libc::c_long = 600;

/// Compiles a filter that only looks at the number of the call; those above [`NUMBERS`] have the result of
/// the last. The number is found by binary search, since the kernel runs the filter once for each number
/// when it is applied, at every start of an agent: with the one comparison after the other that
/// `seccompiler` makes, that took 0.4 ms.
fn by_number(result_of: impl Fn(libc::c_long) -> u32) -> BpfProgram {
    #[cfg(target_arch = "x86_64")]
    const ARCH: u32 = 0xC000_003E;
    #[cfg(target_arch = "aarch64")]
    const ARCH: u32 = 0xC000_00B7;
    // Where the number and the architecture are in what a filter examines (`seccomp_data`).
    let (number, arch) = (load(0), load(4));
    let is_arch = jump(libc::BPF_JEQ, ARCH, (1, 0));
    let mut program = vec![arch, is_arch, give(libc::SECCOMP_RET_KILL_PROCESS), number];
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in 0..=NUMBERS {
        let result = result_of(number);
        if ranges.last().is_none_or(|(_, before)| *before != result) {
            ranges.push((u32::try_from(number).unwrap_or(u32::MAX), result));
        }
    }
    search(&ranges, &mut program);
    program
}

/// Adds the search among ranges of numbers, given by their first number and their result.
fn search(ranges: &[(u32, u32)], program: &mut BpfProgram) {
    if let [(_, result)] = ranges {
        return program.push(give(*result));
    }
    let (below, above) = ranges.split_at(ranges.len() / 2);
    let at = program.len();
    program.push(jump(libc::BPF_JGE, above[0].0, (1, 0)));
    // A conditional jump reaches 255 instructions, this one any number.
    program.push(jump(libc::BPF_JA, 0, (0, 0)));
    search(above, program);
    let skipped = u32::try_from(program.len() - at - 2).unwrap_or(u32::MAX);
    program[at + 1] = jump(libc::BPF_JA, skipped, (0, 0));
    search(below, program);
}

/// Loads 32 bits of what is examined.
fn load(offset: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, (0, 0), offset)
}

/// Jumps over these many instructions if the comparison is true, and if it is false.
fn jump(comparison: u32, with: u32, over: (u8, u8)) -> sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_K | comparison, over, with)
}

/// Ends the filter with this result.
fn give(result: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, (0, 0), result)
}

fn instruction(code: u32, (jt, jf): (u8, u8), k: u32) -> sock_filter {
    let code = u16::try_from(code).expect("these codes have 8 bits");
    sock_filter { code, jt, jf, k }
}

/// Returns the arguments with which calls fail.
fn some_refused(own_mounts: bool, network: bool) -> Built<Rules> {
    use SeccompCmpArgLen::{Dword, Qword};
    use SeccompCmpOp::{Eq, Ge, MaskedEq, Ne};
    let mut rules = Rules::new();
    let rule = |place, length, relation, value| {
        SeccompRule::new(vec![SeccompCondition::new(place, length, relation, value)?])
    };
    let bits = |flags: libc::c_int| u64::from(flags.cast_unsigned());
    let namespaces =
        NEW_NAMESPACES.iter().map(|&flag| rule(0, Qword, MaskedEq(bits(flag)), bits(flag)));
    // A thread with open files of its own, which are not found in its process. Threads of libraries share them.
    let (thread, files) = (bits(libc::CLONE_THREAD), bits(libc::CLONE_FILES));
    let apart = rule(0, Qword, MaskedEq(thread | files), thread);
    rules.insert(libc::SYS_clone, namespaces.chain([apart]).collect::<Built<_>>()?);
    // The same by a thread that closes some.
    let unshare = u64::from(libc::CLOSE_RANGE_UNSHARE);
    rules.insert(libc::SYS_close_range, vec![rule(2, Dword, MaskedEq(unshare), unshare)?]);
    let is = |&value: &u64| rule(1, Dword, Eq, value);
    let files = FILE_SIGNALS.iter().chain(FILE_LOCKS).map(is);
    let files = files.chain([rule(1, Dword, Ge, FILE_SETTINGS)]);
    rules.insert(libc::SYS_fcntl, files.collect::<Built<_>>()?);
    let is_not = |&(place, value)| rule(place, Dword, Ne, value);
    // Only pairs of sockets that can reach no one else.
    let kinds = UNCONNECTED.iter().map(|&kind| rule(1, Dword, MaskedEq(0xf), kind));
    let pairs = kinds.chain([is_not(&(0, 1))]);
    rules.insert(libc::SYS_socketpair, pairs.collect::<Built<_>>()?);
    let all = |conditions: Vec<_>| {
        let conditions = conditions
            .into_iter()
            .map(|(place, relation, value)| SeccompCondition::new(place, Dword, relation, value));
        SeccompRule::new(conditions.collect::<Built<_>>()?)
    };
    // Each differs in one of its bits.
    let others = (8..16).map(|place| {
        let bit = 1 << place;
        let others = OTHER_REQUESTS.iter().map(|&request| (1, Ne, request));
        all([(1, MaskedEq(bit), !REQUESTS & bit)].into_iter().chain(others).collect())
    });
    let requests = TYPING.iter().chain([&ASYNC]).map(is).chain(others);
    rules.insert(libc::SYS_ioctl, requests.collect::<Built<_>>()?);
    // `SOL_SOCKET`: pairs have no others.
    let others = SOCKET_SETTINGS.iter().map(|&setting| (2, Ne, setting));
    let others = all([(1, Eq, 1)].into_iter().chain(others).collect())?;
    if network {
        // Programs of this machine, such as the user's session, would act for it.
        let others = REACHABLE.map(|family| (0, Ne, u64::from(family.cast_unsigned())));
        // Of the kernel's own only that of addresses and routes.
        let netlink = u64::from(libc::AF_NETLINK.cast_unsigned());
        let of_kernel = all(vec![(0, Eq, netlink), (2, Ne, 0)])?;
        rules.insert(libc::SYS_socket, vec![all(others.to_vec())?, of_kernel]);
    } else {
        rules.insert(libc::SYS_setsockopt, vec![others]);
    }
    // A process that can't be inspected can't be measured (`PR_SET_DUMPABLE`, 0).
    let hidden = all(vec![(0, Eq, 4), (1, Eq, 0)])?;
    let newer = LATER_SETTINGS.iter().map(|&setting| (0, Ne, setting));
    let newer = all([(0, Ge, SETTINGS)].into_iter().chain(newer).collect())?;
    let settings = PROCESS_SETTINGS.iter().map(|&setting| rule(0, Dword, Eq, setting));
    let settings = settings.chain([Ok(hidden), Ok(newer)]);
    rules.insert(libc::SYS_prctl, settings.collect::<Built<_>>()?);
    rules.insert(libc::SYS_fadvise64, vec![rule(3, Dword, Eq, DROP_FILE)?]);
    let dropped = DROP_MAPPED.iter().map(|&advice| rule(2, Dword, Eq, advice));
    rules.insert(libc::SYS_madvise, dropped.collect::<Built<_>>()?);
    for call in WITH_FLAGS {
        rules.insert(*call, vec![rule(5, Dword, Ne, 0)?]);
    }
    for (call, own) in OWN_ONLY {
        rules.insert(*call, own.iter().map(is_not).collect::<Built<_>>()?);
    }
    let with_mode = WITH_MODE.iter().chain(if own_mounts { CHANGES_MODE } else { &[] });
    for &(call, mode) in with_mode {
        let modes =
            REFUSED_MODES.iter().map(|&(mask, bits)| rule(mode, Dword, MaskedEq(mask), bits));
        rules.insert(call, modes.collect::<Built<_>>()?);
    }
    rules.insert(libc::SYS_umask, vec![rule(0, Dword, MaskedEq(REFUSED_MASK), REFUSED_MASK)?]);
    // What `O_TMPFILE` has beside `O_DIRECTORY`.
    let makes = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY].map(bits);
    for &(call, mode) in OPENS {
        let each = makes.iter().flat_map(|&flag| REFUSED_MODES.map(|mode| (flag, mode)));
        let each = each.map(|(flag, (mask, bits))| {
            all(vec![(mode - 1, MaskedEq(flag), flag), (mode, MaskedEq(mask), bits)])
        });
        rules.insert(call, each.collect::<Built<_>>()?);
    }
    if !own_mounts {
        // Without a path it only sets the times of an open file.
        rules.insert(libc::SYS_utimensat, vec![rule(1, Qword, Ne, 0)?]);
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::{ALLOWED, CONFINED_ONLY, REFUSED, SOCKET_SETTINGS, UNSUPPORTED, WATCHERS};
    use super::{CHANGES_MODE, OPENS, WITH_MODE};
    use super::{Filters, NUMBERS, OWN_ONLY, WITH_FLAGS, all_known, is_unsupported, some_refused};
    use crate::launcher::sys::call;
    use nix::errno::Errno;
    use nix::sys::prctl::set_no_new_privs;

    /// The kernel's maximum (`BPF_MAXINSNS`).
    const INSTRUCTIONS_MAX: usize = 4096;

    /// `uretprobe` and `uprobe` of x86-64: the kernel filters neither, and ends a process that calls
    /// one outside of the code that it has put there.
    const NEVER_FILTERED: [libc::c_long; 2] = [335, 336];

    fn all_refused() -> impl Iterator<Item = &'static (&'static str, libc::c_long)> {
        REFUSED.iter().flat_map(|(_, calls)| *calls)
    }

    fn confined_only() -> impl Iterator<Item = &'static (&'static str, libc::c_long)> {
        CONFINED_ONLY.iter().copied().flatten()
    }

    #[test]
    fn filters_can_be_made_for_this_machine() {
        for own_mounts in [true, false] {
            let Filters { first: [some, all], last } = Filters::compile(own_mounts, false).unwrap();
            let fits = |it: &Vec<_>| !it.is_empty() && it.len() <= INSTRUCTIONS_MAX;
            assert!([some, all, last].iter().all(fits));
        }
    }

    #[test]
    fn no_rule_takes_the_place_of_another() {
        let (refused, more) = (all_refused().count(), confined_only().count());
        let allowed: usize = ALLOWED.iter().map(|(_, calls)| calls.len()).sum();
        assert_eq!(all_known().len(), allowed + refused + more);
        // Those of `clone`, `close_range`, `ioctl`, `fcntl`, `socketpair`, `setsockopt`, `prctl`, `fadvise64`, `madvise` and
        // `umask`; `utimensat` goes with the attributes.
        let always = [WITH_MODE, OPENS].map(<[_]>::len).iter().sum::<usize>()
            + OWN_ONLY.len()
            + WITH_FLAGS.len()
            + 10;
        let changes = CHANGES_MODE.len();
        for (own_mounts, all, some) in [(true, refused, changes), (false, refused + more, 1)] {
            let refused = super::refused(own_mounts);
            let some_refused = some_refused(own_mounts, false).unwrap();
            assert_eq!((refused.len(), some_refused.len()), (all, always + some));
            assert!(some_refused.keys().all(|number| !refused.contains(number)));
        }
    }

    /// Runs this in a thread of its own behind the filters, which apply to one thread.
    fn behind_filters(own_mounts: bool, attempt: impl FnOnce() + Send + 'static) {
        let filters = Filters::compile(own_mounts, false).unwrap();
        let filtered = move || {
            set_no_new_privs().unwrap();
            filters.begin().unwrap();
            filters.finish().unwrap();
            attempt();
        };
        std::thread::spawn(filtered).join().unwrap();
    }

    /// Every number that isn't allowed is tried, those included that no kernel has yet.
    #[test]
    fn what_is_not_allowed_is_refused() {
        let known = all_known();
        behind_filters(false, move || {
            let result = |number| call(number, [-1; 4]).map_err(|errno| (number, errno));
            let unknown = (0..NUMBERS).filter(|number| !known.contains(number));
            for &(name, number) in UNSUPPORTED.iter().flat_map(|(_, calls)| *calls) {
                assert_eq!(result(number), Err((number, Errno::EOPNOTSUPP)), "{name}");
            }
            for number in unknown
                .filter(|number| !is_unsupported(*number) && !NEVER_FILTERED.contains(number))
            {
                assert_eq!(result(number), Err((number, Errno::ENOSYS)));
            }
            for &(name, number) in all_refused().chain(confined_only()) {
                assert_eq!(result(number), Err((number, Errno::EPERM)), "{name}");
            }
        });
    }

    #[test]
    fn nothing_that_is_set_stays_with_a_file() {
        behind_filters(true, || {
            let result = |number, command| call(number, [-1, command, 0, 0]).unwrap_err();
            // `F_SET_RW_HINT`, `F_SET_FILE_RW_HINT` and those of newer kernels.
            for command in 1036..1100 {
                assert_eq!(result(libc::SYS_fcntl, command), Errno::EPERM, "{command}");
            }
            assert_eq!(result(libc::SYS_fcntl, libc::F_GET_SEALS.into()), Errno::EBADF);
            // `FS_IOC_SETVERSION` and its older number, `FS_IOC_SETFLAGS` for 64 and 32 bits, `FS_IOC_FSSETXATTR`,
            // `FS_IOC_RESVSP`, `FS_IOC_RESVSP64`, `FS_IOC_ZERO_RANGE`, `FS_IOC_ADD_ENCRYPTION_KEY`, `FS_IOC_ENABLE_VERITY`,
            // `FIOSETOWN`, `SIOCSPGRP`, `FIOASYNC`, `TIOCSTI`, `FIBMAP`.
            for request in [
                0x4008_7602,
                0x4008_6604,
                0x4008_6602,
                0x4004_6602,
                0x401c_5820,
                0x4030_5828,
                0x4030_582a,
                0x4030_5839,
                0xc050_6617,
                0x4080_6685,
                0x8901,
                0x8902,
                0x5452,
                0x5412,
                1,
            ] {
                assert_eq!(result(libc::SYS_ioctl, request), Errno::EPERM, "{request:x}");
            }
            // `TCGETS`, `TIOCGWINSZ`, `FIONREAD`, `FIOCLEX`, `FIONBIO`, `TCGETS2`, `FICLONE`, `FS_IOC_GETFLAGS`.
            for request in
                [0x5401, 0x5413, 0x541b, 0x5451, 0x5421, 0x802c_542a, 0x4004_9409, 0x8008_6601]
            {
                assert_eq!(result(libc::SYS_ioctl, request), Errno::EBADF, "{request:x}");
            }
        });
    }

    #[test]
    fn a_build_with_the_network_reaches_other_machines_alone() {
        for own_mounts in [true, false] {
            let filters = Filters::compile(own_mounts, true).unwrap();
            let attempt = move || {
                set_no_new_privs().unwrap();
                filters.begin().unwrap();
                filters.finish().unwrap();
                // `SOCK_STREAM`, and no such kind.
                let socket = |family: libc::c_int, kind| {
                    call(libc::SYS_socket, [family.into(), kind, 0, 0]).map(drop)
                };
                for family in [libc::AF_INET, libc::AF_INET6] {
                    assert_eq!(socket(family, 15), Err(Errno::EINVAL));
                }
                // `NETLINK_NETFILTER`.
                let netlink = i64::from(libc::AF_NETLINK);
                let of_filters = call(libc::SYS_socket, [netlink, 3, 12, 0]);
                assert_eq!(of_filters, Err(Errno::EPERM));
                for family in [libc::AF_UNIX, libc::AF_VSOCK, libc::AF_ALG, libc::AF_PACKET] {
                    assert_eq!(socket(family, 1), Err(Errno::EPERM), "{family}");
                }
                assert_eq!(call(libc::SYS_connect, [-1; 4]), Err(Errno::EBADF));
                assert_eq!(call(libc::SYS_ptrace, [-1; 4]), Err(Errno::EPERM));
                let modes = call(libc::SYS_fchmod, [-1, 0o4755, 0, 0]);
                assert_eq!(modes, Err(Errno::EPERM));
            };
            std::thread::spawn(attempt).join().unwrap();
        }
    }

    /// Any user of the machine could execute it as the agent's user, or the counter would not follow it.
    #[test]
    fn no_file_makes_others_act_as_the_agents_user_or_is_only_executed() {
        behind_filters(true, || {
            let result = |number, place: u8, mode: i64, flags: Option<libc::c_int>| {
                let mut arguments = [-1; 4];
                arguments[usize::from(place)] = mode;
                if let Some(flags) = flags {
                    arguments[usize::from(place) - 1] = flags.into();
                }
                call(number, arguments).unwrap_err()
            };
            let all = WITH_MODE.iter().chain(CHANGES_MODE).map(|call| (call, None));
            let makes = [libc::O_CREAT, libc::O_TMPFILE].map(Some);
            let opens = OPENS.iter().flat_map(|call| makes.map(|flags| (call, flags)));
            for (&(number, place), flags) in all.chain(opens) {
                for mode in [0o4755, 0o2755, 0o6000, 0o111, 0o355] {
                    assert_eq!(result(number, place, mode, flags), Errno::EPERM, "{number}");
                }
                for mode in [0o1755, 0o500, 0o011] {
                    assert_ne!(result(number, place, mode, flags), Errno::EPERM, "{number}");
                }
            }
            for &(number, place) in OPENS {
                assert_ne!(result(number, place, 0o4755, Some(0)), Errno::EPERM, "{number}");
            }
            assert_eq!(call(libc::SYS_openat2, [-1; 4]), Err(Errno::ENOSYS));
            assert_eq!(call(libc::SYS_umask, [0o400, 0, 0, 0]), Err(Errno::EPERM));
            assert!(call(libc::SYS_umask, [0o077, 0, 0, 0]).is_ok());
        });
    }

    /// What the kernel keeps of a file would be a note that the next match reads.
    #[test]
    fn no_agent_drops_or_asks_what_the_kernel_keeps_of_a_file() {
        behind_filters(true, || {
            let result = |number, arguments: [i64; 4]| call(number, arguments).unwrap_err();
            for (advice, errno) in [(4, Errno::EPERM), (2, Errno::EBADF), (3, Errno::EBADF)] {
                assert_eq!(result(libc::SYS_fadvise64, [-1, 0, 0, advice]), errno, "{advice}");
            }
            for (advice, errno) in [(20, Errno::EPERM), (21, Errno::EPERM), (1000, Errno::EINVAL)] {
                assert_eq!(result(libc::SYS_madvise, [0, 4096, advice, 0]), errno, "{advice}");
            }
            for number in [libc::SYS_preadv2, libc::SYS_pwritev2] {
                let flags = |flags| call(number, [-1, 0, 0, 0, 0, flags]).unwrap_err();
                assert_eq!(
                    [flags(0), flags(8), flags(0x80)],
                    [Errno::EBADF, Errno::EPERM, Errno::EPERM]
                );
            }
        });
    }

    /// The kernel itself makes no thread that doesn't share signal handlers.
    #[test]
    fn no_thread_has_open_files_of_its_own() {
        let filters = Filters::compile(true, false).unwrap();
        let attempt = move || {
            set_no_new_privs().unwrap();
            filters.begin().unwrap();
            let thread = |flags: libc::c_int| {
                call(libc::SYS_clone, [(libc::CLONE_THREAD | flags).into(), 0, 0, 0])
            };
            assert_eq!(thread(0), Err(Errno::EPERM));
            assert_eq!(thread(libc::CLONE_VM), Err(Errno::EPERM));
            assert_eq!(thread(libc::CLONE_FILES), Err(Errno::EINVAL));
            let close = |flags: libc::c_uint| {
                call(libc::SYS_close_range, [100_000, 100_000, flags.into(), 0])
            };
            assert_eq!(close(libc::CLOSE_RANGE_UNSHARE), Err(Errno::EPERM));
            let both = libc::CLOSE_RANGE_UNSHARE | libc::CLOSE_RANGE_CLOEXEC;
            assert_eq!(close(both), Err(Errno::EPERM));
            assert_eq!(close(0), Ok(0));
        };
        std::thread::spawn(attempt).join().unwrap();
    }

    /// Files that are not open have no settings: what isn't refused says so.
    #[test]
    fn what_takes_memory_that_nothing_counts_is_refused() {
        behind_filters(true, || {
            let set = |setting| call(libc::SYS_setsockopt, [-1, 1, setting, 0]);
            for setting in 0..200_i64 {
                let allowed = SOCKET_SETTINGS.contains(&setting.cast_unsigned());
                let expected = if allowed { Errno::EBADF } else { Errno::EPERM };
                assert_eq!(set(setting), Err(expected), "{setting}");
            }
            assert_eq!(call(libc::SYS_setsockopt, [-1, 6, 1, 0]), Err(Errno::EBADF));
            let file = |command: libc::c_int| call(libc::SYS_fcntl, [-1, command.into(), 0, 0]);
            assert_eq!(file(libc::F_OFD_SETLK), Err(Errno::EPERM));
            assert_eq!(file(libc::F_OFD_SETLKW), Err(Errno::EPERM));
            assert_eq!(file(libc::F_SETLK), Err(Errno::EBADF));
            let process = |setting| call(libc::SYS_prctl, [setting, -1, -1, -1]);
            // The last two are `PR_FUTEX_HASH` and none yet.
            for setting in [22, 62, 78, 1000] {
                assert_eq!(process(setting), Err(Errno::EPERM), "{setting}");
            }
            // `PR_SET_DUMPABLE`, `PR_SET_PDEATHSIG`, `PR_SET_VMA`.
            for setting in [4, 1, 0x5356_4d41] {
                assert_eq!(process(setting), Err(Errno::EINVAL), "{setting}");
            }
            // As on a kernel that has no such memory to choose, and can't move pages into pipes and sockets.
            for number in [
                libc::SYS_splice,
                libc::SYS_tee,
                libc::SYS_vmsplice,
                libc::SYS_sendfile,
                libc::SYS_seccomp,
                libc::SYS_mbind,
                libc::SYS_set_mempolicy,
                libc::SYS_set_mempolicy_home_node,
                libc::SYS_get_mempolicy,
                libc::SYS_migrate_pages,
                libc::SYS_move_pages,
            ] {
                assert_eq!(call(number, [-1; 4]), Err(Errno::ENOSYS), "{number}");
            }
        });
    }

    /// The page lists the refused calls of x86-64, which has all of them.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_page_lists_the_refused_calls() {
        let page = include_str!("../../../../docs/sandbox.md");
        let refused = REFUSED.iter().map(|(_, calls)| *calls).chain([WATCHERS]);
        for (name, _) in refused.flatten() {
            let name = format!("`{}`", name.trim_start_matches("SYS_"));
            assert!(page.contains(&name), "docs/sandbox.md should name {name}");
        }
    }
}
