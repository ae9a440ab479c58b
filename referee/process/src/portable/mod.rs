//! Starts agents on any POSIX system, each under a small supervisor process, without a sandbox.
//!
//! This is the module `launcher` of systems other than Linux, with the same interface. A supervisor
//! is a re-exec of this program and kills its agent on command or when the referee ends: the agent's
//! process group, and what else it finds in the system's table of processes. There is no way to be
//! sure that nothing is missed: a process that has left the group, has lost its parent and has
//! another environment looks like any other. A supervisor takes one agent after another.

mod supervisor;
mod sys;
mod table;
#[path = "../launcher/wire.rs"]
mod wire;

pub(crate) use supervisor::run;
pub use wire::{
    Bytes, Command, InjectedFailure, LauncherConfig, Limit, Program, REPORT_BYTES, Reach, Report,
    Share, StartConditions, Step, USERS, USERS_GROUP,
};

use crate::Failure;
use crate::files::own_program;
use crate::lock::lock;
use crate::memory_kills::{MemoryKills, TreeMemory};
use crate::sandbox::Layers;
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use nix::unistd::{Pid, read};
use referee_protocol::{Level, Nanos};
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

/// Returns what these processes have in memory: there are none whose memory can be measured.
pub(crate) fn memory_of(_tree: &[Pid]) -> TreeMemory {
    TreeMemory::default()
}

/// Lets the calling thread have less of a core than others, where that is possible for a thread alone.
pub fn background_thread() {}

/// The hidden command that makes this program a supervisor.
pub(crate) const LAUNCH_COMMAND: &str = "__launch";

/// What this implementation doesn't do.
pub const LIMITATIONS: &[&str] = &[
    "agents can read your files and use the network",
    "the limits of memory and processes are not enforced; those of files and output are",
    "CPU time is that of the agent's own process, without child processes that are still running; on \
     systems other than macOS, Linux and FreeBSD it is not measured",
    "memory, and time without a core, are not measured",
    "`check` can't see that a silent agent waits for input, and waits as long as its clock allows",
    "an agent's process that starts a session of its own, loses its parent and changes its environment is \
     not found, and goes on after the match",
    "while it isn't its turn, an agent is stopped with its process group; other processes of it are \
     stopped after 50 ms",
    "matches are not pinned to cores",
    "a contest with `reuse = true` starts new processes for each game all the same",
];

/// The weakest level that `auto` accepts.
pub const WEAKEST: Level = Level::None;

/// Returns the layers with which this implementation keeps a level; an error if it can't.
pub fn layers(level: Level) -> Result<Layers, Failure> {
    match level {
        // The wrapper isolates.
        Level::None | Level::External => Ok(Layers::default()),
        _ => Err(Failure::machine("needs Linux").help(
            "run the referee on Linux (on Windows: in WSL 2; on macOS: in a virtual machine or a \
             container), or give a command that isolates agents with --sandbox external --wrapper",
        )),
    }
}

/// Returns the version of Landlock: there is none.
pub fn landlock_version() -> Option<u32> {
    None
}

/// Returns the CPU time of a process.
pub(crate) fn cpu_time(process: Pid) -> Option<Nanos> {
    sys::cpu_ns(process).map(Nanos)
}

/// An agent's own control group: there are none.
#[derive(Debug)]
pub enum Group {}

impl Group {
    /// Returns the CPU time.
    pub fn cpu(&self) -> Option<Nanos> {
        match *self {}
    }

    /// Returns the most memory.
    pub fn peak_memory_kb(&self) -> Option<u64> {
        match *self {}
    }

    /// Returns how much memory is allowed.
    pub fn memory_max_kb(&self) -> u64 {
        match *self {}
    }

    /// Whether its limits hold.
    pub fn holds(&self) -> bool {
        match *self {}
    }

    /// Measures that anew.
    pub fn restart_peak_memory(&self) -> bool {
        match *self {}
    }

    /// Returns a limit that was exceeded.
    pub fn passed(&self) -> Option<Limit> {
        match *self {}
    }

    /// Whether the system has killed one of its processes for lack of memory.
    pub fn has_killed(&self) -> bool {
        match *self {}
    }
}

/// Starts supervisors. Dropping it ends those without an agent.
#[derive(Debug)]
pub struct Launcher {
    /// Where the sockets of idle supervisors go.
    pub(crate) idle: Idle,
    config: LauncherConfig,
    pub(crate) memory_kills: MemoryKills,
}

/// Supervisors without an agent: each has sent [`Report::Gone`] and takes the next agent.
pub(crate) type Idle = Arc<Mutex<Vec<Supervised>>>;

/// The referee's end of a supervisor.
#[derive(Debug)]
pub(crate) struct Supervised {
    /// Delivers [`Report`]s and accepts [`Command`]s; closing it kills the agent's processes.
    pub(crate) control: UnixStream,
    /// There are no control groups.
    pub(crate) group: Option<Group>,
    /// Unused: all requests are equal.
    pub(crate) request: u64,
}

impl Launcher {
    /// Prepares to start agents. Fails if layers are to be applied to them.
    pub fn start(config: &LauncherConfig) -> io::Result<Self> {
        if config.layers != Layers::default() {
            return Err(io::Error::other("layers of a sandbox need Linux"));
        }
        let memory_kills = MemoryKills::default();
        Ok(Self { idle: Idle::default(), config: config.clone(), memory_kills })
    }

    /// Returns the layers that it applies to agents: none.
    pub fn layers(&self) -> Layers {
        self.config.layers
    }

    /// Starts an agent with these ends of its stdin, stdout and stderr pipes, which the caller then
    /// closes.
    ///
    /// After [`Report::Gone`] the supervisor belongs to `idle`.
    pub(crate) fn spawn(&self, program: &Program, ends: &[OwnedFd; 3]) -> io::Result<Supervised> {
        let request = program.to_request()?;
        let idle = || lock(&self.idle).pop();
        while let Some(supervised) = idle() {
            if send(&supervised.control, &request, ends).is_ok() {
                return Ok(supervised);
            }
            // It has been killed meanwhile.
        }
        let (ours, theirs) = UnixStream::pair()?;
        let mut child = std::process::Command::new(own_program())
            .arg(LAUNCH_COMMAND)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        // Reaps it, whenever it ends.
        std::thread::Builder::new().name("supervisor".to_owned()).spawn(move || child.wait())?;
        send(&ours, &request, ends)?;
        Ok(Supervised { control: ours, group: None, request: 0 })
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // Agents that are still running hold on to the list.
        lock(&self.idle).clear();
    }
}

/// What a request begins with: no [`Command`].
const REQUEST: u8 = b'R';

/// Sends a request: [`REQUEST`], its length, itself. A stream has no packets, which not every system
/// has.
fn send(control: &UnixStream, request: &[u8], ends: &[OwnedFd; 3]) -> io::Result<()> {
    let length = u32::try_from(request.len()).map_err(io::Error::other)?;
    let bytes = [&[REQUEST][..], &length.to_be_bytes(), request].concat();
    let ends = ends.each_ref().map(AsRawFd::as_raw_fd);
    let rights = [ControlMessage::ScmRights(&ends)];
    // Longer than what the socket holds.
    control.set_nonblocking(false)?;
    let pieces = [IoSlice::new(&bytes)];
    let sent = sendmsg::<()>(control.as_raw_fd(), &pieces, &rights, MsgFlags::empty(), None)?;
    let mut control = control;
    control.write_all(&bytes[sent..])
}

/// Receives a report without waiting; `None` if the supervisor has ended. No file descriptors come with it.
pub(crate) fn receive_report(
    control: BorrowedFd<'_>,
) -> io::Result<Option<(Report, Vec<OwnedFd>)>> {
    let mut bytes = [0; REPORT_BYTES];
    let count = read(control, &mut bytes)?;
    Ok(serde_json::from_slice(&bytes[..count]).ok().map(|report| (report, Vec::new())))
}
