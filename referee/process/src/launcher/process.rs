//! The launcher's own process: forks supervisors, one ahead of time.

use super::group::Membership;
use super::layers::setup_failure;
use super::seccomp::Filters;
use super::supervisor::{send_report, supervise};
use super::sys;
use super::wire::{LauncherConfig, Program, REQUEST_BYTES_MAX};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use nix::unistd::{ForkResult, dup2_stdin, getpid, pipe2, read, setsid, write};
use referee_protocol::Layer;
use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// The hidden command that makes this program a launcher.
pub(crate) const LAUNCH_COMMAND: &str = "__launch";

/// The longest serialised [`LauncherConfig`], in bytes.
const CONFIG_BYTES_MAX: usize = 16 * 1024;

/// How many file descriptors come with a request at most: the agent's ends of its pipes, a control
/// socket, and those of its control groups.
const DESCRIPTORS_MAX: usize = 16;

/// What all supervisors need to confine agents, made once.
pub(super) struct SharedSetup {
    /// The layers to apply.
    pub(super) config: LauncherConfig,
    /// The seccomp filters, or why there are none.
    pub(super) filters: nix::Result<Filters>,
}

/// A request as received.
pub(super) struct Request {
    pub(super) program: Program,
    /// The agent's ends of its pipes: stdin, stdout, stderr.
    pub(super) ends: [OwnedFd; 3],
    /// The agent's own control group, if it has one.
    pub(super) group: Option<Membership>,
    /// The socket to the referee, if the supervisor has none yet.
    pub(super) control: Option<OwnedFd>,
}

/// Runs the launcher until the referee is gone. Call it first, while the process has one thread and
/// no state: everything that is forked from it relies on that.
pub(crate) fn run() {
    // Ctrl-C and Ctrl-Z are for the referee.
    setsid().ok();
    // Ignored signals would be inherited by agents.
    sys::default_signals();
    // No one waits for supervisors that end.
    sys::ignore_signal(Signal::SIGCHLD, true).ok();
    let socket = std::io::stdin();
    let Some(config) = receive_config(socket.as_fd()) else { return };
    let wanted = config.layers.has(Layer::Seccomp);
    let own_mounts = config.layers.has(Layer::Mounts);
    let filters = if wanted { Filters::compile(own_mounts) } else { Err(Errno::ENOSYS) };
    let shared = SharedSetup { config, filters };
    // Not touched here: each supervisor gets its own pages, and only for what it receives.
    let mut buffer = vec![0; REQUEST_BYTES_MAX];
    let mut nth = 0;
    while fork_standby(socket.as_fd(), &shared, nth, &mut buffer) {
        nth += 1;
    }
}

/// Receives the configuration.
fn receive_config(socket: BorrowedFd<'_>) -> Option<LauncherConfig> {
    let mut bytes = vec![0; CONFIG_BYTES_MAX];
    let count = read(socket, &mut bytes).ok()?;
    serde_json::from_slice(&bytes[..count]).ok()
}

/// Forks a supervisor that waits for the next request itself, so that the fork is already done when
/// the request arrives. Returns when the request is taken; false when the referee is gone.
fn fork_standby(socket: BorrowedFd<'_>, shared: &SharedSetup, nth: u32, buffer: &mut [u8]) -> bool {
    let launcher = getpid();
    let forked = pipe2(OFlag::O_CLOEXEC).and_then(|ends| Ok((ends, sys::fork_self()?)));
    match forked {
        Ok(((taken, take), ForkResult::Child)) => {
            drop(taken);
            if let Some(mut request) = receive(socket, &shared.config, buffer)
                && let Some(control) = request.control.take()
            {
                write(&take, &[1]).ok();
                drop(take);
                // Replaces the launcher's socket, whose end must be noticed.
                dup2_stdin(&control).ok();
                supervise(shared, control.as_fd(), launcher, nth, request, buffer);
            }
            std::process::exit(0);
        }
        Ok(((taken, take), ForkResult::Parent { .. })) => {
            drop(take);
            // A supervisor that ended without a request was killed, or found that the referee is
            // gone.
            let mut byte = [0];
            read(&taken, &mut byte) == Ok(1) || !is_hung_up(socket)
        }
        Err(errno) => {
            if let Some(Request { control: Some(control), .. }) =
                receive(socket, &shared.config, buffer)
            {
                send_report(control.as_fd(), setup_failure(errno));
            }
            !is_hung_up(socket)
        }
    }
}

/// Receives the next packet: how many bytes it has, 0 at the end, and the file descriptors that came
/// with it.
pub(super) fn receive_packet(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> nix::Result<(usize, Vec<OwnedFd>)> {
    let mut rights = nix::cmsg_space!([RawFd; DESCRIPTORS_MAX]);
    let mut pieces = [IoSliceMut::new(buffer)];
    let flags = MsgFlags::MSG_CMSG_CLOEXEC;
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut pieces, Some(&mut rights), flags)?;
    let mut fds = Vec::new();
    for control in message.cmsgs().into_iter().flatten() {
        if let ControlMessageOwned::ScmRights(received) = control {
            fds.extend(sys::received(received));
        }
    }
    Ok((message.bytes, fds))
}

/// Whether the other end of a socket is closed.
fn is_hung_up(socket: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(socket, PollFlags::empty())];
    poll(&mut fds, PollTimeout::ZERO).is_err()
        || fds[0].revents().is_none_or(|events| events.contains(PollFlags::POLLHUP))
}

/// Receives the next request; `None` when the referee is gone, or if the request can't be read:
/// then closing its control socket informs the referee.
pub(super) fn receive(
    socket: BorrowedFd<'_>,
    config: &LauncherConfig,
    buffer: &mut [u8],
) -> Option<Request> {
    loop {
        let (bytes, mut fds) = match receive_packet(socket, buffer) {
            Err(Errno::EINTR) => continue,
            Err(_) | Ok((0, _)) => return None,
            Ok(packet) => packet,
        };
        if bytes == 1 {
            // A late command for the previous agent, which is already gone.
            continue;
        }
        let program = serde_json::from_slice(&buffer[..bytes]).ok()?;
        let group = Membership::take(&mut fds, config);
        let control = if fds.len() == 4 { fds.pop() } else { None };
        return Some(Request { program, ends: fds.try_into().ok()?, group, control });
    }
}
