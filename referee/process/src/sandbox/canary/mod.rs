//! The canary: an agent of the referee's own that attacks everything around it and tells what the
//! system answered. It is started as agents are, so that what holds for it holds for them.

mod attack;
mod files;
mod kernel;
mod limits;
mod network;
mod processes;
mod views;

pub use attack::{Attack, Pace};

use nix::errno::Errno;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::Duration;

/// The hidden command by which this program becomes a canary.
pub const CANARY_COMMAND: &str = "__canary";
/// The word after it for a process that is there to be attacked.
pub(super) const VICTIM: &str = "victim";
/// The word after it for a process that becomes a daemon, and a word that it can be known by.
pub(super) const DAEMON: &str = "daemon";
/// The word after it for the daemon itself.
const DAEMON_ITSELF: &str = "daemon-itself";

/// What a canary is to attack.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Targets {
    /// The referee's process.
    pub(super) referee: i32,
    /// A process of the referee's user, which lets anybody trace it.
    pub(super) victim: i32,
    /// A word that stands in the victim's command line, and in no other.
    pub(super) word: String,
    /// A word for the command line of a daemon, and for no other.
    pub(super) daemon: String,
    /// The address of eight bytes in the victim's memory.
    pub(super) address: usize,
    /// A folder that is not the canary's: a file `secret`, a socket `socket`, folders `opponent`
    /// and `referee`.
    pub(super) folder: PathBuf,
    /// The folder of its program, which it may read.
    pub(super) program: PathBuf,
    /// Its work folder.
    pub(super) work: PathBuf,
    /// The device and the number of the machine's own `/tmp`.
    pub(super) tmp: Option<(u64, u64)>,
    /// The port of a listener.
    pub(super) tcp: u16,
    /// The port of a socket for packets.
    pub(super) udp: u16,
    /// The name of an abstract socket.
    pub(super) name: String,
    /// The key of a shared memory segment.
    pub(super) segment: i32,
    /// The referee's namespaces, as the kernel names them: (`pid`, `pid:[4026531836]`).
    pub(super) namespaces: Vec<(String, String)>,
    /// What the canary may use.
    pub(super) files: u64,
    /// In MiB.
    pub(super) memory_mb: u64,
    /// Processes and threads.
    pub(super) processes: u64,
    /// In MiB.
    pub(super) work_mb: u64,
    /// How long it stays over a limit that somebody has to measure.
    pub(super) stay: Duration,
}

/// What a canary is told, as one line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Orders {
    /// What to attack.
    pub(super) targets: Targets,
    /// How, in this order.
    pub(super) attacks: Vec<Attack>,
}

/// What became of an attack, as one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    /// Which.
    pub(super) attack: Attack,
    /// The system refused.
    pub(super) held: bool,
    /// What it said: the name of an error, `worked`, or what was found.
    pub(super) told: String,
}

/// What became of an attack: nothing was against it, or something was.
type Outcome = Result<(), Refusal>;

/// What was against an attack.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    /// An error.
    Error(Errno),
    /// What the system told of itself.
    Not,
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Self {
        Self::Error(errno)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(errno) => write!(f, "{errno:?}"),
            Self::Not => f.write_str("no"),
        }
    }
}

/// The errors by which a filter of system calls refuses one. Any other means that the call has
/// reached the part of the kernel that it is for.
const REFUSALS: [Errno; 3] = [Errno::EPERM, Errno::ENOSYS, Errno::EACCES];

/// For calls whose arguments make no sense: they worked if the kernel looked at the arguments.
fn reached<T>(result: nix::Result<T>) -> Outcome {
    match result.map(drop) {
        Err(errno) if REFUSALS.contains(&errno) => Err(errno.into()),
        _ => Ok(()),
    }
}

/// As the system tells it.
fn plain<T>(result: Result<T, impl Into<io::Error>>) -> Outcome {
    let number = |error: io::Error| Errno::from_raw(error.raw_os_error().unwrap_or(0));
    result.map(drop).map_err(|error| number(error.into()).into())
}

/// For what the system tells without refusing anything: whether what is attacked is open.
fn open_if(open: bool) -> Outcome {
    if open { Ok(()) } else { Err(Refusal::Not) }
}

/// Runs the canary, or the process that it attacks, as the words after the command say. To be
/// called before anything else, while the process has one thread.
pub fn run() {
    let words: Vec<String> = std::env::args().skip(2).collect();
    match words.first().map(String::as_str) {
        Some(VICTIM) => processes::be_victim(),
        Some(DAEMON) => processes::become_daemon(&words[1..]),
        Some(DAEMON_ITSELF) => processes::be_daemon(),
        _ => {
            // Without orders, or nobody to answer to, there is nothing to do.
            obey(io::stdin().lock(), io::stdout().lock()).ok();
        }
    }
}

fn obey(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let Orders { targets, attacks } = serde_json::from_str(&line)?;
    for attack in attacks {
        let (held, told) = match try_it(attack, &targets) {
            Ok(()) => (false, "worked".to_owned()),
            Err(refusal) => (true, refusal.to_string()),
        };
        let mut answer = serde_json::to_vec(&Answer { attack, held, told })?;
        answer.push(b'\n');
        output.write_all(&answer)?;
        output.flush()?;
    }
    // Until it is killed: what it has started is to be found with it still there.
    input.read_line(&mut line)?;
    Ok(())
}

fn try_it(attack: Attack, targets: &Targets) -> Outcome {
    match attack {
        Attack::GainPrivileges => processes::gain_privileges(),
        Attack::LongFile => limits::long_file(targets),
        Attack::ManyFiles => limits::many_files(targets),
        Attack::PrivateMemory => limits::private_memory(targets),
        Attack::SharedMemory => limits::shared_memory(targets),
        Attack::ManyTasks => limits::many_tasks(targets),
        // Seen from outside, where the numbers are not mapped.
        Attack::SameUser | Attack::ShareCgroup => Ok(()),
        Attack::SignalReferee => processes::signal(targets.referee),
        Attack::SignalVictim => processes::signal(targets.victim),
        Attack::SignalSupervisor => processes::signal_supervisor(),
        Attack::Daemon => processes::daemon(targets),
        Attack::ReadFile => files::read(targets),
        Attack::ListRoot => files::list_root(),
        Attack::WriteOpponent => files::write_into(&targets.folder.join("opponent")),
        Attack::WriteReferee => files::write_into(&targets.folder.join("referee")),
        Attack::WriteProgram => files::write_into(&targets.program),
        Attack::OpenMemory => files::open_of_victim(targets, "mem"),
        Attack::ReadEnvironment => files::open_of_victim(targets, "environ"),
        Attack::Trace => processes::trace(targets),
        Attack::ReadMemory => processes::read_memory(targets),
        Attack::ConnectTcp => network::connect_tcp(targets),
        Attack::ConnectAbstract => network::connect_abstract(targets),
        Attack::SendUdp => network::send_udp(targets),
        Attack::ConnectUnix => network::connect_unix(targets),
        Attack::OpenNetlink => network::open_netlink(),
        Attack::Keyring => kernel::keyring(),
        Attack::AddKey => kernel::add_key(),
        Attack::IoUring => kernel::io_uring(),
        Attack::Bpf => kernel::bpf(),
        Attack::UserFault => kernel::user_fault(),
        Attack::Unshare => kernel::unshare(),
        Attack::CloneNamespace => kernel::clone_namespace(),
        Attack::Mount => kernel::mount(),
        Attack::EnterNamespace => kernel::enter_namespace(),
        Attack::PushInput => kernel::push_input(),
        Attack::SignalByFile => kernel::signal_by_file(),
        Attack::ShareUserNs => views::shares(targets, "user"),
        Attack::SharePidNs => views::shares(targets, "pid"),
        Attack::SeeProcess => views::sees_process(targets),
        Attack::ShareNetNs => views::shares(targets, "net"),
        Attack::ShareIpcNs => views::shares(targets, "ipc"),
        Attack::FindSegment => kernel::find_segment(targets),
        Attack::ShareUtsNs => views::shares(targets, "uts"),
        Attack::ShareCgroupNs => views::shares(targets, "cgroup"),
        Attack::ShareMounts => views::shares(targets, "mnt"),
        Attack::SeeTmp => views::sees_tmp(targets),
        Attack::FillTmp => limits::fill_tmp(targets),
        Attack::FillInodes => limits::fill_inodes(targets),
    }
}
