//! Starting agents, each under a small supervisor of its own.
//!
//! The launcher is a re-exec of this program that stays small and has one thread, so that forking
//! it is cheap and safe however large and busy the referee is. For every agent it forks a
//! supervisor, one ahead of time: the subreaper of all that the agent ever starts, which kills the
//! whole tree when it is told to, and when the referee is gone. Nothing here knows what a game or a
//! message is.
//!
//! This is the one module in which `unsafe` may stand, with its reason at each use.

mod process;
mod wire;

pub use process::{LAUNCH_COMMAND, run};
pub use wire::{Bytes, Command, Program, REPORT_BYTES, Report};

use nix::sys::socket::{AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType};
use nix::sys::socket::{sendmsg, socketpair};
use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

/// The launcher's process, as the referee holds it. When it is dropped the launcher ends.
#[derive(Debug)]
pub struct Launcher {
    socket: OwnedFd,
    child: Child,
}

/// An agent's ends of its pipes, which go to it and are closed here.
#[derive(Debug)]
pub struct AgentEnds {
    /// What it reads.
    pub stdin: OwnedFd,
    /// What it writes.
    pub stdout: OwnedFd,
    /// What it complains to.
    pub stderr: OwnedFd,
}

impl Launcher {
    /// Starts the launcher from this program's own file.
    pub fn start() -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
        let child = std::process::Command::new(OWN_PROGRAM)
            .arg(LAUNCH_COMMAND)
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { socket: ours, child })
    }

    /// Starts an agent. What becomes of it is told on the socket that comes back, as [`Report`]s;
    /// it takes [`Command`]s, and its end kills the agent's whole tree.
    pub fn spawn(&self, program: &Program, ends: &AgentEnds) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        let request = serde_json::to_vec(program)?;
        if request.len() > wire::REQUEST_BYTES_MAX {
            let bound = wire::REQUEST_BYTES_MAX;
            return Err(io::Error::new(
                io::ErrorKind::ArgumentListTooLong,
                format!("command line and environment are longer than {bound} bytes"),
            ));
        }
        let fds = [
            ends.stdin.as_raw_fd(),
            ends.stdout.as_raw_fd(),
            ends.stderr.as_raw_fd(),
            theirs.as_raw_fd(),
        ];
        let rights = [ControlMessage::ScmRights(&fds)];
        let socket = self.socket.as_raw_fd();
        let pieces = [IoSlice::new(&request)];
        sendmsg::<()>(socket, &pieces, &rights, MsgFlags::MSG_NOSIGNAL, None)?;
        Ok(ours)
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // The end of its socket ends the launcher, but the socket is only closed after this; the
        // supervisors don't depend on either.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// This program's own file, also when it has been replaced or removed since it was started.
const OWN_PROGRAM: &str = "/proc/self/exe";
