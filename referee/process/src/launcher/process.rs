//! The launcher's own process: forks supervisors, one ahead of time.

use super::group::Membership;
use super::layers::setup_failure;
use super::seccomp::Filters;
use super::supervisor::{send_report, supervise};
use super::sys;
use super::wire::{LauncherConfig, Program, REQUEST_BYTES_MAX, Share};
use crate::cores;
use crate::sandbox::Layer;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use nix::unistd::{ForkResult, dup2_stdin, getpid, pipe2, read, setsid, write};
use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::rc::Rc;

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
    pub(super) program: Rc<Program>,
    /// Whether the program and its conditions are those of the request before.
    pub(super) repeated: bool,
    pub(super) handles: Handles,
    /// The socket to the referee, if the supervisor has none yet.
    pub(super) control: Option<OwnedFd>,
}

/// What comes with the request for one agent only.
pub(super) struct Handles {
    /// The agent's ends of its pipes: stdin, stdout, stderr.
    pub(super) ends: [OwnedFd; 3],
    /// The agent's own control group, if it has one.
    pub(super) group: Option<Membership>,
}

impl Handles {
    /// Takes them from those that came with a packet.
    pub(super) fn take(mut fds: Vec<OwnedFd>, config: &LauncherConfig) -> Option<Self> {
        let group = Membership::take(&mut fds, config);
        Some(Self { ends: fds.try_into().ok()?, group })
    }

    /// Returns them in the order in which they come with a packet.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let group = self.group.iter().flat_map(Membership::descriptors);
        self.ends.iter().map(AsFd::as_fd).chain(group)
    }
}

/// Receives requests.
pub(super) struct Inbox {
    buffer: Vec<u8>,
    /// The request before.
    latest: Option<(Vec<u8>, Rc<Program>)>,
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
    if let Share::Beside(cores) | Share::Rest(cores) = &config.share {
        // All that is forked from here stays there.
        cores::restrict_thread(cores).ok();
    }
    let wanted = config.layers.has(Layer::Seccomp);
    let own_mounts = config.layers.has(Layer::Mounts);
    let filters =
        if wanted { Filters::compile(own_mounts, config.network) } else { Err(Errno::ENOSYS) };
    let shared = SharedSetup { config, filters };
    // Not touched here: each supervisor gets its own pages, and only for what it receives.
    let mut inbox = Inbox { buffer: vec![0; REQUEST_BYTES_MAX], latest: None };
    let mut nth = 0;
    while fork_standby(socket.as_fd(), &shared, nth, &mut inbox) {
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
fn fork_standby(socket: BorrowedFd<'_>, shared: &SharedSetup, nth: u32, inbox: &mut Inbox) -> bool {
    let launcher = getpid();
    let forked = pipe2(OFlag::O_CLOEXEC).and_then(|ends| Ok((ends, sys::fork_self()?)));
    match forked {
        Ok(((taken, take), ForkResult::Child)) => {
            drop(taken);
            if let Some(mut request) = inbox.receive(socket, &shared.config)
                && let Some(control) = request.control.take()
            {
                write(&take, &[1]).ok();
                drop(take);
                // Replaces the launcher's socket, whose end must be noticed.
                dup2_stdin(&control).ok();
                supervise(shared, control.as_fd(), launcher, nth, request, inbox);
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
                inbox.receive(socket, &shared.config)
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

impl Inbox {
    /// Receives the next request; `None` when the referee is gone, or if the request can't be read:
    /// then closing its control socket informs the referee.
    pub(super) fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
        config: &LauncherConfig,
    ) -> Option<Request> {
        loop {
            let (count, mut fds) = match receive_packet(socket, &mut self.buffer) {
                Err(Errno::EINTR) => continue,
                Err(_) | Ok((0, _)) => return None,
                Ok(packet) => packet,
            };
            if count == 1 {
                // A late command for the previous agent, which is already gone.
                continue;
            }
            let bytes = &self.buffer[..count];
            let is_first = self.latest.is_none();
            let latest = self.latest.take().filter(|(before, _)| before == bytes);
            let repeated = latest.is_some();
            let (bytes, program) = match latest {
                Some(latest) => latest,
                None => (bytes.to_vec(), Rc::new(serde_json::from_slice(bytes).ok()?)),
            };
            self.latest = Some((bytes, Rc::clone(&program)));
            // The first has it as its last, after those of a group.
            let control = if is_first { fds.pop() } else { None };
            let handles = Handles::take(fds, config)?;
            return Some(Request { program, repeated, handles, control });
        }
    }
}
