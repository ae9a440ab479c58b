//! Starts agents, each under a small supervisor process.
//!
//! The launcher is a re-exec of this program that stays small and single-threaded, so that forking
//! it is cheap and safe however large and busy the referee is. It forks supervisors, one ahead of
//! time. A supervisor is the subreaper of everything that its agent starts, and kills the whole
//! tree on command or when the referee ends. When nothing of an agent is left, the supervisor takes
//! the next one, so there are as many supervisors as agents ran at once.
//!
//! This is the only module with `unsafe` code; each use states its reason.

mod group;
mod held;
mod image;
mod init;
mod layers;
mod ledger;
mod limits;
mod mounts;
mod process;
pub(super) mod raw;
mod seccomp;
mod system_calls;
mod stopped;
mod supervisor;
mod sys;
mod tree;
mod watchdog;
mod wire;

pub use group::Group;
pub(crate) use group::{can_freeze, weigh};
pub(crate) use process::{LAUNCH_COMMAND, run};
pub use raw::landlock_version;
pub(crate) use watchdog::memory_of;
pub use wire::{
    Bytes, Command, InjectedFailure, LauncherConfig, Limit, Program, REPORT_BYTES, Reach, Report,
    Share, StartConditions, Step, USERS, USERS_GROUP,
};

use crate::Failure;
use crate::files::own_program;
use crate::lock::lock;
use crate::memory_kills::MemoryKills;
use crate::sandbox::{Layer, Layers};
use nix::sys::socket::{AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType};
use nix::sys::socket::{sendmsg, socketpair};
use referee_protocol::{Level, Limits};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What this implementation doesn't do.
pub const LIMITATIONS: &[&str] = &[];

/// The weakest level that `auto` accepts.
pub const WEAKEST: Level = Level::Basic;

/// Lets the calling thread have only a small part of a core that others want.
pub fn background_thread() {
    sys::low_priority();
}

/// Returns the layers with which this implementation keeps a level; an error if it can't.
pub fn layers(level: Level) -> Result<Layers, Failure> {
    Ok(Layers::of_level(level))
}

/// The referee's handle on the launcher process. Dropping it ends the launcher and all idle
/// supervisors.
#[derive(Debug)]
pub struct Launcher {
    socket: OwnedFd,
    child: Child,
    /// Where the sockets of idle supervisors go.
    pub(crate) idle: Idle,
    config: LauncherConfig,
    /// How many agents have got a group.
    grouped: AtomicU64,
    pub(crate) memory_kills: MemoryKills,
}

/// Supervisors without an agent: each has sent [`Report::Gone`] and takes the next agent. The last one's
/// memory is warmest.
pub(crate) type Idle = Arc<Mutex<Vec<Supervised>>>;

/// The referee's end of a supervisor.
#[derive(Debug)]
pub(crate) struct Supervised {
    /// Delivers [`Report`]s and accepts [`Command`]s; closing it kills the agent's whole tree.
    pub(crate) control: UnixStream,
    /// The agent's own control group, if it has one.
    pub(crate) group: Option<Group>,
    /// Which request it got last.
    pub(crate) request: u64,
}

/// How many supervisors may keep namespaces for agents that don't play.
const KEPT: usize = 64;

impl Launcher {
    /// Starts the launcher from this program's own file.
    pub fn start(config: &LauncherConfig) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
        let child = std::process::Command::new(own_program())
            .arg(LAUNCH_COMMAND)
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        send(ours.as_raw_fd(), &serde_json::to_vec(config)?, &[])?;
        Ok(Self {
            socket: ours,
            child,
            idle: Idle::default(),
            config: config.clone(),
            grouped: AtomicU64::new(0),
            memory_kills: MemoryKills::default(),
        })
    }

    /// Returns the layers that it applies to agents.
    pub fn layers(&self) -> Layers {
        self.config.layers
    }

    /// Starts an agent with these ends of its stdin, stdout and stderr pipes, which the caller then
    /// closes.
    ///
    /// After [`Report::Gone`] the supervisor belongs to `idle`.
    pub(crate) fn spawn(&self, program: &Program, ends: &[OwnedFd; 3]) -> io::Result<Supervised> {
        let request = program.to_request()?;
        let limits = &program.conditions.limits;
        let number = hash_of(&request);
        while let Some(Supervised { control, group, request: last }) = self.take_idle(number) {
            let restored = |mut group: Group| (last == number && group.restore()).then_some(group);
            let group = match group.and_then(restored) {
                None => self.group(limits)?,
                group => group,
            };
            if send(control.as_raw_fd(), &request, &descriptors(ends, group.as_ref())).is_ok() {
                return Ok(Supervised { control, group, request: number });
            }
            // It has been killed meanwhile.
        }
        // Packets, so that reports about different agents never mix.
        let flags = SockFlag::SOCK_CLOEXEC;
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
        let group = self.group(limits)?;
        let mut fds = descriptors(ends, group.as_ref());
        fds.push(theirs.as_raw_fd());
        send(self.socket.as_raw_fd(), &request, &fds)?;
        Ok(Supervised { control: ours.into(), group, request: number })
    }

    /// Returns an idle supervisor for a request: one that had the same, if there is one.
    fn take_idle(&self, number: u64) -> Option<Supervised> {
        let mut idle = lock(&self.idle);
        let keeps_namespaces = self.config.layers.has(Layer::UserNs);
        let other = match idle.len() {
            count if keeps_namespaces => (count >= KEPT).then_some(0),
            count => count.checked_sub(1),
        };
        let same = idle.iter().rposition(|it| it.request == number);
        same.or(other).map(|index| idle.remove(index))
    }

    /// Makes a control group for an agent.
    fn group(&self, limits: &Limits) -> io::Result<Option<Group>> {
        let LauncherConfig { layers, groups, share, .. } = &self.config;
        if groups.is_empty() || !layers.has(Layer::Cgroup) {
            return Ok(None);
        }
        let number = self.grouped.fetch_add(1, Ordering::Relaxed);
        let name = format!("agent-{}-{number}", self.child.id());
        Group::make(groups, &name, limits, share).map(Some)
    }
}

/// Receives a report without waiting, and the file descriptors that came with it; `None` if the
/// supervisor has ended.
pub(crate) fn receive_report(
    control: BorrowedFd<'_>,
) -> io::Result<Option<(Report, Vec<OwnedFd>)>> {
    let mut bytes = [0; REPORT_BYTES];
    let (count, fds) = process::receive_packet(control, &mut bytes)?;
    Ok(serde_json::from_slice(&bytes[..count]).ok().map(|report| (report, fds)))
}

fn hash_of(request: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(request);
    hasher.finish()
}

/// Returns the file descriptors that come with a request.
fn descriptors(ends: &[OwnedFd; 3], group: Option<&Group>) -> Vec<RawFd> {
    let entry = group.into_iter().flat_map(Group::descriptors);
    ends.iter().map(AsFd::as_fd).chain(entry).map(|fd| fd.as_raw_fd()).collect()
}

fn send(socket: RawFd, request: &[u8], fds: &[RawFd]) -> io::Result<()> {
    let rights = [ControlMessage::ScmRights(fds)];
    let rights = if fds.is_empty() { &[][..] } else { &rights };
    let pieces = [IoSlice::new(request)];
    sendmsg::<()>(socket, &pieces, rights, MsgFlags::MSG_NOSIGNAL, None)?;
    Ok(())
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // Closing its socket ends the launcher, but the socket is closed only after this;
        // supervisors depend on neither.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
