//! What runs in the launcher's own process: it forks supervisors, one ahead of time.

use super::group::Membership;
use super::layers::begin;
use super::seccomp::Filters;
use super::supervisor::{supervise, tell};
use super::sys;
use super::wire::{Jail, Program, REQUEST_BYTES_MAX};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use nix::unistd::{ForkResult, dup2_stdin, getpid, pipe2, read, setsid, write};
use referee_protocol::Layer;
use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// The hidden command by which this program becomes a launcher.
pub const LAUNCH_COMMAND: &str = "__launch";

/// The longest text of a [`Jail`].
const JAIL_BYTES_MAX: usize = 16 * 1024;

/// How many descriptors come with a request at most: the agent's ends of its pipes, a control socket,
/// and those of its control groups.
const DESCRIPTORS_MAX: usize = 16;

/// What all supervisors put around their agents, made once.
pub(super) struct Kit {
    /// What is to be in force.
    pub(super) jail: Jail,
    /// The filters of system calls, or why there are none.
    pub(super) filters: nix::Result<Filters>,
}

/// A request as it came.
pub(super) struct Request {
    pub(super) program: Program,
    /// The agent's ends of its pipes: stdin, stdout, stderr.
    pub(super) ends: [OwnedFd; 3],
    /// The agent's own control group, where it has one.
    pub(super) group: Option<Membership>,
    /// The socket to the referee, where the supervisor has none yet.
    pub(super) control: Option<OwnedFd>,
}

/// Runs the launcher until the referee is gone. To be called first thing, while the process has one
/// thread and no state of its own: everything that is forked from it relies on that.
pub fn run() {
    // A terminal's Ctrl-C and Ctrl-Z are for the referee.
    setsid().ok();
    // Whoever started the referee may have had signals ignored, and that would be passed on.
    sys::default_signals();
    // Supervisors that end need no one to wait for them.
    sys::ignore_signal(Signal::SIGCHLD, true).ok();
    let socket = std::io::stdin();
    let Some(jail) = receive_jail(socket.as_fd()) else { return };
    let wanted = jail.layers.has(Layer::Seccomp);
    let own_mounts = jail.layers.has(Layer::Mounts);
    let filters = if wanted { Filters::compile(own_mounts) } else { Err(Errno::ENOSYS) };
    let kit = Kit { jail, filters };
    // Untouched here: each supervisor gets pages of its own, and only for what it receives.
    let mut buffer = vec![0; REQUEST_BYTES_MAX];
    let mut nth = 0;
    while stand_by(socket.as_fd(), &kit, nth, &mut buffer) {
        nth += 1;
    }
}

/// What the launcher is to do to keep agents where they are.
fn receive_jail(socket: BorrowedFd<'_>) -> Option<Jail> {
    let mut bytes = vec![0; JAIL_BYTES_MAX];
    let count = read(socket, &mut bytes).ok()?;
    serde_json::from_slice(&bytes[..count]).ok()
}

/// Forks a supervisor that waits for the next request itself, so that the fork is behind it when
/// that comes, and returns when it is taken. False when the referee is gone.
fn stand_by(socket: BorrowedFd<'_>, kit: &Kit, nth: u32, buffer: &mut [u8]) -> bool {
    let launcher = getpid();
    let forked = pipe2(OFlag::O_CLOEXEC).and_then(|ends| Ok((ends, sys::fork_self()?)));
    match forked {
        Ok(((taken, take), ForkResult::Child)) => {
            drop(taken);
            if let Some(mut request) = receive(socket, &kit.jail, buffer)
                && let Some(control) = request.control.take()
            {
                write(&take, &[1]).ok();
                drop(take);
                // In the place of the launcher's socket, whose end must be seen when that ends.
                dup2_stdin(&control).ok();
                supervise(kit, control.as_fd(), launcher, nth, request, buffer);
            }
            std::process::exit(0);
        }
        Ok(((taken, take), ForkResult::Parent { .. })) => {
            drop(take);
            // One that ended without a request was killed, or has found the referee gone.
            let mut byte = [0];
            read(&taken, &mut byte) == Ok(1) || !is_hung_up(socket)
        }
        Err(errno) => {
            if let Some(Request { control: Some(control), .. }) = receive(socket, &kit.jail, buffer)
            {
                tell(control.as_fd(), begin(errno));
            }
            !is_hung_up(socket)
        }
    }
}

/// Whether the other end of a socket is closed.
fn is_hung_up(socket: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(socket, PollFlags::empty())];
    poll(&mut fds, PollTimeout::ZERO).is_err()
        || fds[0].revents().is_none_or(|events| events.contains(PollFlags::POLLHUP))
}

/// The next request; `None` when the referee is gone. So does one that can't be read: its
/// descriptors are dropped, and with its control socket's end the referee is told.
pub(super) fn receive(socket: BorrowedFd<'_>, jail: &Jail, buffer: &mut [u8]) -> Option<Request> {
    loop {
        let mut rights = nix::cmsg_space!([RawFd; DESCRIPTORS_MAX]);
        let mut pieces = [IoSliceMut::new(buffer)];
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        let received = recvmsg::<()>(socket.as_raw_fd(), &mut pieces, Some(&mut rights), flags);
        let message = match received {
            Err(Errno::EINTR) => continue,
            Err(_) => return None,
            Ok(message) if message.bytes == 0 => return None,
            Ok(message) => message,
        };
        let mut fds = Vec::new();
        for control in message.cmsgs().into_iter().flatten() {
            if let ControlMessageOwned::ScmRights(received) = control {
                fds.extend(sys::received(received));
            }
        }
        let bytes = message.bytes;
        if bytes == 1 {
            // A command for the agent before, which was gone by itself before it came.
            continue;
        }
        let program = serde_json::from_slice(&buffer[..bytes]).ok()?;
        let group = Membership::take(&mut fds, jail);
        let control = if fds.len() == 4 { fds.pop() } else { None };
        return Some(Request { program, ends: fds.try_into().ok()?, group, control });
    }
}
