//! What is tried against an enclosure, and which layers are to stop it.

use referee_protocol::{Layer, Layers};
use serde::{Deserialize, Serialize};

/// The attacks from a table: variant, words, the layers each of which stops it alone, and whether
/// it is quick.
macro_rules! attacks {
    ($($(#[$doc:meta])* $attack:ident: $words:literal, [$($layer:ident),*], $pace:ident;)+) => {
        /// Something that no agent may do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Attack {
            $($(#[$doc])* $attack,)+
        }

        impl Attack {
            /// All of them, in the order in which they are told.
            pub const ALL: &'static [Self] = &[$(Self::$attack,)+];

            /// What it does, in words that follow the name of a layer.
            pub fn name(self) -> &'static str {
                match self { $(Self::$attack => $words,)+ }
            }

            /// The layers each of which stops it without the others.
            pub fn layers(self) -> Layers {
                match self { $(Self::$attack => Layers::of(&[$(Layer::$layer),*]),)+ }
            }

            /// How long it takes.
            pub fn pace(self) -> Pace {
                match self { $(Self::$attack => Pace::$pace,)+ }
            }
        }
    };
}

/// How long an attack takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// It asks the system something once or twice.
    Quick,
    /// It needs a process, memory or a lot of files.
    Slow,
    /// Its canary is killed for it.
    Deadly,
}

attacks! {
    /// Whether programs that it starts might get more rights than it has.
    GainPrivileges: "start a program that gains rights", [NoNewPrivileges], Quick;
    /// A file longer than its work folder may hold.
    LongFile: "write a file that is too long", [Limits], Quick;
    /// More descriptors than it may have.
    ManyFiles: "open too many files", [Limits], Quick;
    /// Memory that is its own.
    PrivateMemory: "take too much memory", [Watchdog, Cgroup], Deadly;
    /// Memory that is shared, which limits on a process don't count.
    SharedMemory: "take too much shared memory", [Watchdog, Cgroup], Deadly;
    /// Threads, which are tasks as processes are.
    ManyTasks: "start too many processes", [Watchdog, Cgroup], Deadly;
    /// Whether it runs as the referee's own user, or as root.
    SameUser: "run as the referee's user", [User], Quick;
    /// A signal to the referee; signal 0, which only asks whether it could be sent.
    SignalReferee: "signal the referee", [Scope, Landlock], Quick;
    /// The same to a process of its own user.
    SignalVictim: "signal another process", [Scope, Landlock], Quick;
    /// The same to its supervisor.
    SignalSupervisor: "signal its supervisor", [Landlock], Quick;
    /// A process that has left its parents and ignores signals.
    Daemon: "leave a daemon behind", [Scope, PidNs, Cgroup], Slow;
    /// A file that it was not given.
    ReadFile: "read a file outside", [Landlock], Quick;
    /// The root of the file system.
    ListRoot: "list the root folder", [Landlock], Quick;
    /// A new file in the folder of the opponent's program.
    WriteOpponent: "write into the opponent's folder", [Landlock], Quick;
    /// A new file where the referee keeps its own.
    WriteReferee: "write into the referee's folder", [Landlock], Quick;
    /// A new file in the folder of its own program, which it may read.
    WriteProgram: "write into its program's folder", [Landlock], Quick;
    /// The memory of a process of its own user.
    OpenMemory: "open another process's memory", [Landlock], Quick;
    /// The environment of a process of its own user.
    ReadEnvironment: "read another process's environment", [User, Landlock], Quick;
    /// The system call of debuggers.
    Trace: "trace another process", [Landlock, Seccomp], Quick;
    /// The system call that reads another process's memory.
    ReadMemory: "copy another process's memory", [Landlock, Seccomp], Quick;
    /// A service on this machine.
    ConnectTcp: "connect by TCP", [Landlock, NetNs], Quick;
    /// A socket without a file.
    ConnectAbstract: "connect to an abstract socket", [Landlock, NetNs], Quick;
    /// A packet to a service on this machine.
    SendUdp: "send by UDP", [Seccomp, NetNs], Quick;
    /// A socket with a file, as those of container engines.
    ConnectUnix: "connect to a socket file", [Seccomp], Quick;
    /// A socket to the kernel.
    OpenNetlink: "open a netlink socket", [Seccomp], Quick;
    /// The kernel's store of keys.
    Keyring: "use the kernel's keyring", [Seccomp], Quick;
    /// A new key there.
    AddKey: "put a key into the kernel's keyring", [Seccomp], Quick;
    /// System calls that are made by the kernel itself.
    IoUring: "set up io_uring", [Seccomp], Quick;
    /// Programs in the kernel.
    Bpf: "call bpf", [Seccomp], Quick;
    /// Page faults that stop the kernel.
    UserFault: "call userfaultfd", [Seccomp], Quick;
    /// A user namespace, in which it would have all rights.
    Unshare: "make a user namespace", [Seccomp], Quick;
    /// The same by the call that makes processes.
    CloneNamespace: "clone into a user namespace", [Seccomp], Quick;
    /// A mount, which needs rights; whether the call reaches the kernel.
    Mount: "mount", [Seccomp], Quick;
    /// Another namespace; whether the call reaches the kernel.
    EnterNamespace: "enter a namespace", [Seccomp], Quick;
    /// Typing for whoever sits at a terminal; whether the call reaches the kernel.
    PushInput: "type into a terminal", [Seccomp], Quick;
    /// Signals by way of a descriptor, which have got past Landlock before.
    SignalByFile: "have a descriptor send signals", [Seccomp], Quick;
    /// The user namespace, as all that follow: by its number, which the kernel tells.
    ShareUserNs: "share the user namespace", [UserNs], Quick;
    /// The process namespace.
    SharePidNs: "share the process namespace", [PidNs], Quick;
    /// A process of the referee's in `/proc`.
    SeeProcess: "see another process in /proc", [PidNs], Quick;
    /// The network namespace.
    ShareNetNs: "share the network", [NetNs], Quick;
    /// The namespace of System V and POSIX messages, semaphores and shared memory.
    ShareIpcNs: "share the IPC namespace", [IpcNs], Quick;
    /// A shared memory segment of the referee's.
    FindSegment: "find a shared memory segment", [IpcNs], Quick;
    /// The namespace of the machine's name, which is not changed for this.
    ShareUtsNs: "share the machine's name", [UtsNs], Quick;
    /// The namespace of control groups.
    ShareCgroupNs: "share the cgroup namespace", [CgroupNs], Quick;
    /// The mount namespace.
    ShareMounts: "share the mounts", [Mounts], Quick;
    /// The machine's own `/tmp`, and what lies there.
    SeeTmp: "see the machine's /tmp", [Mounts], Quick;
    /// More in `/tmp` than its work folder may hold.
    FillTmp: "fill /tmp", [Mounts], Quick;
    /// The same in many files that are empty.
    FillInodes: "fill /tmp with empty files", [Mounts], Slow;
    /// Whether it runs in the referee's control groups.
    ShareCgroup: "run in the referee's control group", [Cgroup], Quick;
}

#[cfg(test)]
mod tests {
    use super::{Attack, Pace};
    use referee_protocol::Layer;

    #[test]
    fn every_layer_is_attacked_and_all_but_the_watchdog_quickly() {
        for &layer in Layer::ALL {
            let mut its = Attack::ALL.iter().filter(|it| it.layers().has(layer));
            let quick = its.any(|it| it.pace() == Pace::Quick);
            assert_eq!(quick, layer != Layer::Watchdog, "{layer:?}");
        }
        for attack in Attack::ALL {
            assert!(attack.layers().iter().next().is_some(), "{attack:?}");
        }
    }

    #[test]
    fn names_differ() {
        let mut names: Vec<_> = Attack::ALL.iter().map(|it| it.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Attack::ALL.len());
    }
}
