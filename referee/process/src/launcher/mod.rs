//! Starting agents, each under a small supervisor of its own.
//!
//! The launcher is a re-exec of this program that stays small and has one thread, so that forking
//! it is cheap and safe however large and busy the referee is. It forks supervisors, one ahead of
//! time. A supervisor is the subreaper of all that its agent ever starts, and kills the whole tree
//! when it is told to, and when the referee is gone. When nothing of an agent is left it takes the
//! next one, so that there are as many of them as there were agents at once. Nothing here knows what
//! a game or a message is.
//!
//! This is the one module in which `unsafe` may stand, with its reason at each use.

mod group;
mod image;
mod init;
mod layers;
mod limits;
mod mounts;
mod process;
pub(super) mod raw;
mod seccomp;
mod supervisor;
mod sys;
mod tree;
mod watchdog;
mod wire;

pub use group::Group;
pub use layers::USERS;
pub use process::{LAUNCH_COMMAND, run};
pub use raw::landlock_version;
pub use wire::{
    Bounds, Bytes, Command, Jail, Limit, Mishap, Program, REPORT_BYTES, Reach, Report, Step,
};

use crate::OWN_PROGRAM;
use crate::lock::lock;
use nix::sys::socket::{AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType};
use nix::sys::socket::{sendmsg, socketpair};
use referee_protocol::{Layer, Layers};
use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The launcher's process, as the referee holds it. When it is dropped the launcher ends, and with
/// it the supervisors that have no agent.
#[derive(Debug)]
pub struct Launcher {
    socket: OwnedFd,
    child: Child,
    idle: Idle,
    layers: Layers,
    /// The control groups in which agents get their own; none where they get none.
    groups: Vec<PathBuf>,
    /// How many agents have got one.
    grouped: AtomicU64,
}

/// Supervisors whose agents are gone, by their control sockets: they have said [`Report::Gone`] and
/// take the next ones. The last is the one whose memory is warmest.
pub type Idle = Arc<Mutex<Vec<UnixStream>>>;

impl Launcher {
    /// Starts the launcher from this program's own file.
    pub fn start(jail: &Jail) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
        let child = std::process::Command::new(OWN_PROGRAM)
            .arg(LAUNCH_COMMAND)
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        send(ours.as_raw_fd(), &serde_json::to_vec(jail)?, &[])?;
        Ok(Self {
            socket: ours,
            child,
            idle: Idle::default(),
            layers: jail.layers,
            groups: if jail.layers.has(Layer::Cgroup) { jail.groups.clone() } else { Vec::new() },
            grouped: AtomicU64::new(0),
        })
    }

    /// What it puts up around agents.
    pub fn layers(&self) -> Layers {
        self.layers
    }

    /// Starts an agent with these ends of its pipes, stdin, stdout and stderr, which are to be
    /// closed here. What becomes of it is reported on the socket that comes back, as [`Report`]s;
    /// it takes [`Command`]s, and its end kills the agent's whole tree. After [`Report::Gone`] the
    /// socket belongs to [`Launcher::idle`]. With it comes the agent's own control group, where it
    /// has one.
    pub fn spawn(
        &self,
        program: &Program,
        ends: &[OwnedFd; 3],
    ) -> io::Result<(UnixStream, Option<Group>)> {
        let request = serde_json::to_vec(program)?;
        if request.len() > wire::REQUEST_BYTES_MAX {
            let bound = wire::REQUEST_BYTES_MAX;
            return Err(io::Error::new(
                io::ErrorKind::ArgumentListTooLong,
                format!("command line and environment are longer than {bound} bytes"),
            ));
        }
        let group = self.group(program.bounds)?;
        let entry: Vec<RawFd> =
            group.iter().flat_map(Group::descriptors).map(|fd| fd.as_raw_fd()).collect();
        let pipes = ends.each_ref().map(AsRawFd::as_raw_fd);
        let fds = [&pipes[..], &entry].concat();
        let idle = || lock(&self.idle).pop();
        while let Some(control) = idle() {
            if send(control.as_raw_fd(), &request, &fds).is_ok() {
                return Ok((control, group));
            }
            // Somebody has killed it meanwhile.
        }
        // Packets, so that what is said of one agent is never taken for a part of another's.
        let flags = SockFlag::SOCK_CLOEXEC;
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
        let fds = [&pipes[..], &[theirs.as_raw_fd()], &entry].concat();
        send(self.socket.as_raw_fd(), &request, &fds)?;
        Ok((ours.into(), group))
    }

    /// A control group for an agent.
    fn group(&self, bounds: Bounds) -> io::Result<Option<Group>> {
        if self.groups.is_empty() {
            return Ok(None);
        }
        let number = self.grouped.fetch_add(1, Ordering::Relaxed);
        let name = format!("agent-{}-{number}", self.child.id());
        Group::make(&self.groups, &name, bounds).map(Some)
    }

    /// Where supervisors go when their agents are gone.
    pub fn idle(&self) -> Idle {
        self.idle.clone()
    }
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
        // The end of its socket ends the launcher, but the socket is only closed after this; the
        // supervisors don't depend on either.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
