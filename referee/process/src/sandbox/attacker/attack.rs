//! The table of attacks: what is tried against a sandbox, which layers must stop it, and how.
//!
//! It is used at three depths: the start of a match ([`crate::sandbox::Depth::Quick`]) tries the
//! quick attacks, the start of a contest and `doctor` try all, and the rows of the hostile suite
//! (`tests/hostile/rows`) name its entries.

use super::{
    Outcome, PROGRAM, Targets, files, kernel, limits, network, open_if, plain, processes, reached,
};
use crate::launcher::raw;
use crate::sandbox::{Layer, Layers};
use nix::sched::{CloneFlags, setns};
use nix::sys::prctl::get_no_new_privs;
use nix::sys::signal::kill;
use nix::unistd::{Pid, getppid};
use referee_protocol::Level;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::stdin;
use std::os::unix::net::UnixStream;
use strum::VariantArray;

/// Defines the attacks from a table: variant, description, the layers that each stop it alone, its
/// cost, and the code.
macro_rules! attacks {
    ($($(#[$doc:meta])* $attack:ident: $words:literal, [$($layer:ident),*], $cost:ident, $act:expr;)+) => {
        /// Something that no agent may do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Attack {
            $($(#[$doc])* $attack,)+
        }

        /// The rows, in the order of the variants.
        const ROWS: &[Row] = &[$(Row {
            attack: Attack::$attack,
            name: $words,
            layers: &[$(Layer::$layer),*],
            cost: Cost::$cost,
            act: $act,
        },)+];
    };
}

/// A row of the table.
struct Row {
    attack: Attack,
    name: &'static str,
    layers: &'static [Layer],
    cost: Cost,
    act: fn(&Targets) -> Outcome,
}

impl Attack {
    /// Returns all of them, in the order in which they are reported.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.attack)
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Returns a description that follows "an agent could".
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the layers that each stop it alone.
    pub fn layers(self) -> Layers {
        Layers::of(self.row().layers)
    }

    /// Returns how long it takes.
    pub fn cost(self) -> Cost {
        self.row().cost
    }

    /// Returns the lowest level at which it must fail; `None` if only a separate user stops it.
    pub fn fails_from(self) -> Option<Level> {
        let stops =
            |level: &Level| Layers::of_level(*level).iter().any(|layer| self.layers().has(layer));
        Level::VARIANTS.iter().copied().find(stops)
    }

    /// Tries it.
    pub(super) fn attempt(self, targets: &Targets) -> Outcome {
        (self.row().act)(targets)
    }
}

/// Observed by the referee from outside: the attacker's own IDs may be mapped.
const SEEN_FROM_OUTSIDE: Outcome = Ok(());

/// How long an attack takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// One or two system calls.
    Quick,
    /// Needs a process, memory or many files.
    Slow,
    /// The attacker is killed for it.
    Deadly,
}

attacks! {
    /// Whether programs that it starts could gain rights.
    GainPrivileges: "start a program that gains rights", [NoNewPrivileges], Quick,
        |_| open_if(get_no_new_privs() == Ok(false));
    /// A file larger than the work folder's limit.
    LongFile: "write a file that is too long", [Limits], Quick, limits::long_file;
    /// More open files than the limit.
    ManyFiles: "open too many files", [Limits], Quick, limits::many_files;
    /// Private memory.
    PrivateMemory: "take too much memory", [Watchdog, Cgroup], Deadly, limits::private_memory;
    /// Shared memory, which per-process limits don't count.
    SharedMemory: "take too much shared memory", [Watchdog, Cgroup], Deadly, limits::shared_memory;
    /// Threads, which count as processes.
    ManyTasks: "start too many processes", [Watchdog, Cgroup], Deadly, limits::many_tasks;
    /// Whether it runs as the referee's user, or as root.
    SameUser: "run as the referee's user", [User], Quick, |_| SEEN_FROM_OUTSIDE;
    /// A signal to the referee; signal 0, which only checks whether it could be sent.
    SignalReferee: "signal the referee", [Scope, Landlock], Quick,
        |it| processes::signal(it.referee);
    /// The same to a process of the same user.
    SignalVictim: "signal another process", [Scope, Landlock], Quick,
        |it| processes::signal(it.victim);
    /// The same to its supervisor.
    SignalSupervisor: "signal its supervisor", [Landlock], Quick, |_| plain(kill(getppid(), None));
    /// A process that has left its parents and ignores signals.
    Daemon: "leave a daemon behind", [Scope, PidNs, Cgroup], Slow, processes::daemon;
    /// A file that it may not read.
    ReadFile: "read a file outside", [Landlock], Quick,
        |it| plain(fs::read(it.folder.join("secret")));
    /// The root of the file system.
    ListRoot: "list the root folder", [Landlock], Quick, |_| plain(fs::read_dir("/"));
    /// A new file in the folder of the opponent's program.
    WriteOpponent: "write into the opponent's folder", [Landlock], Quick,
        |it| files::write_into(it, "opponent");
    /// A new file among the referee's own.
    WriteReferee: "write into the referee's folder", [Landlock], Quick,
        |it| files::write_into(it, "referee");
    /// A new file in its own program's folder, which it may read.
    WriteProgram: "write into its program's folder", [Landlock], Quick,
        |it| files::write_into(it, PROGRAM);
    /// The memory of a process of the same user.
    OpenMemory: "open another process's memory", [Landlock], Quick,
        |it| files::open_of_victim(it, "mem");
    /// The environment of a process of the same user.
    ReadEnvironment: "read another process's environment", [User, Landlock], Quick,
        |it| files::open_of_victim(it, "environ");
    /// The system call of debuggers.
    Trace: "trace another process", [Landlock, Seccomp], Quick,
        |it| plain(raw::trace(Pid::from_raw(it.victim)));
    /// The system call that reads another process's memory.
    ReadMemory: "copy another process's memory", [Landlock, Seccomp], Quick, processes::read_memory;
    /// A service on this machine.
    ConnectTcp: "connect by TCP", [Landlock, NetNs], Quick, network::connect_tcp;
    /// A socket without a file.
    ConnectAbstract: "connect to an abstract socket", [Landlock, NetNs], Quick,
        network::connect_abstract;
    /// A packet to a service on this machine.
    SendUdp: "send by UDP", [Seccomp, NetNs], Quick, network::send_udp;
    /// A socket file, such as those of container engines.
    ConnectUnix: "connect to a socket file", [Seccomp], Quick,
        |it| plain(UnixStream::connect(it.folder.join("socket")));
    /// A socket to the kernel.
    OpenNetlink: "open a netlink socket", [Seccomp], Quick, |_| network::open_netlink();
    /// The kernel's key store.
    Keyring: "use the kernel's keyring", [Seccomp], Quick, |_| plain(raw::own_keyring());
    /// A new key there.
    AddKey: "put a key into the kernel's keyring", [Seccomp], Quick, |_| plain(raw::add_key());
    /// System calls that the kernel makes itself.
    IoUring: "set up io_uring", [Seccomp], Quick, |_| plain(raw::io_uring());
    /// Programs in the kernel.
    Bpf: "call bpf", [Seccomp], Quick, |_| reached(raw::bpf_of_no_kind());
    /// Page faults handled by a program, which can stall the kernel.
    UserFault: "call userfaultfd", [Seccomp], Quick, |_| plain(raw::user_fault());
    /// A user namespace, in which it would have all rights.
    Unshare: "make a user namespace", [Seccomp], Quick, |_| kernel::unshare();
    /// The same by the call that creates processes.
    CloneNamespace: "clone into a user namespace", [Seccomp], Quick, |_| kernel::clone_namespace();
    /// A mount, which needs rights; whether the call reaches the kernel.
    Mount: "mount", [Seccomp], Quick, |_| kernel::mount();
    /// Joining a namespace with an invalid file; whether the call reaches the kernel.
    EnterNamespace: "enter a namespace", [Seccomp], Quick,
        |_| reached(setns(stdin(), CloneFlags::CLONE_NEWNET));
    /// Typing into a terminal with an invalid file; whether the call reaches the kernel.
    PushInput: "type into a terminal", [Seccomp], Quick, |_| reached(raw::push_input(stdin()));
    /// Signals through a file, which have bypassed Landlock before.
    SignalByFile: "have a descriptor send signals", [Seccomp], Quick,
        |_| plain(raw::signal_by_file(stdin()));
    /// The user namespace; like the following, compared by its kernel ID.
    ShareUserNs: "share the user namespace", [UserNs], Quick, |it| files::shares(it, "user");
    /// The process namespace.
    SharePidNs: "share the process namespace", [PidNs], Quick, |it| files::shares(it, "pid");
    /// A process of the referee in `/proc`.
    SeeProcess: "see another process in /proc", [PidNs], Quick, files::sees_process;
    /// The network namespace.
    ShareNetNs: "share the network", [NetNs], Quick, |it| files::shares(it, "net");
    /// The namespace of System V and POSIX messages, semaphores and shared memory.
    ShareIpcNs: "share the IPC namespace", [IpcNs], Quick, |it| files::shares(it, "ipc");
    /// A shared memory segment of the referee.
    FindSegment: "find a shared memory segment", [IpcNs], Quick,
        |it| plain(raw::find_segment(it.segment));
    /// The namespace of the host name, which is not changed for this.
    ShareUtsNs: "share the machine's name", [UtsNs], Quick, |it| files::shares(it, "uts");
    /// The namespace of control groups.
    ShareCgroupNs: "share the cgroup namespace", [CgroupNs], Quick,
        |it| files::shares(it, "cgroup");
    /// The mount namespace.
    ShareMounts: "share the mounts", [Mounts], Quick, |it| files::shares(it, "mnt");
    /// The machine's own `/tmp`.
    SeeTmp: "see the machine's /tmp", [Mounts], Quick, files::sees_tmp;
    /// More in `/tmp` than the work folder's limit.
    FillTmp: "fill /tmp", [Mounts], Quick, limits::fill_tmp;
    /// The same with many empty files.
    FillInodes: "fill /tmp with empty files", [Mounts], Slow, limits::fill_inodes;
    /// Whether it runs in the referee's control groups.
    ShareCgroup: "run in the referee's control group", [Cgroup], Quick, |_| SEEN_FROM_OUTSIDE;
}

#[cfg(test)]
mod tests {
    use super::{Attack, Cost};
    use crate::sandbox::Layer;

    #[test]
    fn every_layer_is_attacked_and_all_but_the_watchdog_quickly() {
        for &layer in Layer::ALL {
            let mut its = Attack::all().filter(|it| it.layers().has(layer));
            let quick = its.any(|it| it.cost() == Cost::Quick);
            assert_eq!(quick, layer != Layer::Watchdog, "{layer:?}");
        }
        for attack in Attack::all() {
            assert!(attack.layers().iter().next().is_some(), "{attack:?}");
        }
    }

    #[test]
    fn names_differ() {
        let mut names: Vec<_> = Attack::all().map(Attack::name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Attack::all().count());
    }
}
