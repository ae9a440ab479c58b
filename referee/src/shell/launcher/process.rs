//! What runs in the launcher's own process and in its supervisors.

use super::super::usage::children_of;
use super::wire::{Command, Program, REPORT_BYTES, REQUEST_BYTES_MAX, Report};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use nix::unistd::{ForkResult, Pid, chdir, dup2_stderr, dup2_stdin, dup2_stdout, execve, fork};
use nix::unistd::{pipe2, read, setsid, write};
use std::ffi::CString;
use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The hidden command by which this program becomes a launcher.
pub const LAUNCH_COMMAND: &str = "__launch";

/// A request as it came: what to start, and the agent's ends of its pipes.
struct Request {
    program: Program,
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    control: OwnedFd,
}

/// Runs the launcher until the referee is gone. To be called first thing, while the process has one
/// thread and no state of its own: everything that is forked from it relies on that.
pub fn run() {
    // A terminal's Ctrl-C and Ctrl-Z are for the referee.
    setsid().ok();
    // Supervisors that end need no one to wait for them.
    // SAFETY: installs no handler, only asks the system to reap children by itself.
    #[expect(unsafe_code, reason = "nix marks it unsafe for the sake of handlers")]
    unsafe {
        nix::sys::signal::signal(Signal::SIGCHLD, nix::sys::signal::SigHandler::SigIgn).ok();
    }
    let socket = std::io::stdin();
    // Untouched here: each supervisor gets pages of its own, and only for what it receives.
    let mut buffer = vec![0; REQUEST_BYTES_MAX];
    while stand_by(socket.as_fd(), &mut buffer) {}
}

/// Forks a supervisor that waits for the next request itself, so that the fork is behind it when
/// that comes, and returns when it is taken. False when the referee is gone.
fn stand_by(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> bool {
    let forked = pipe2(OFlag::O_CLOEXEC).and_then(|ends| {
        // SAFETY: the launcher has one thread, so the child may do what any process may.
        #[expect(unsafe_code, reason = "a supervisor is a fork of the launcher")]
        let side = unsafe { fork() }?;
        Ok((ends, side))
    });
    match forked {
        Ok(((taken, take), ForkResult::Child)) => {
            drop(taken);
            if let Some(request) = receive(socket, buffer) {
                write(&take, &[1]).ok();
                drop(take);
                supervise(request);
            }
            std::process::exit(0);
        }
        Ok(((taken, take), ForkResult::Parent { .. })) => {
            drop(take);
            // One that ended without a request was killed, or has found the referee gone.
            matches!(read(&taken, &mut [0]), Ok(1)) || !is_hung_up(socket)
        }
        Err(errno) => match receive(socket, buffer) {
            Some(request) => {
                report(request.control.as_fd(), Report::Broken(errno as i32));
                true
            }
            None => false,
        },
    }
}

/// Whether the other end of a socket is closed.
fn is_hung_up(socket: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(socket, PollFlags::empty())];
    poll(&mut fds, PollTimeout::ZERO).is_err()
        || fds[0].revents().is_none_or(|events| events.contains(PollFlags::POLLHUP))
}

/// The next request; `None` when the referee is gone. A request that can't be read is dropped, and
/// with it the agent's control socket, which tells the referee.
fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Option<Request> {
    loop {
        let mut rights = nix::cmsg_space!([RawFd; 4]);
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
                // SAFETY: the kernel has just made these descriptors for this process.
                #[expect(unsafe_code, reason = "received descriptors come as numbers")]
                fds.extend(received.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
            }
        }
        let bytes = message.bytes;
        let program = serde_json::from_slice(&buffer[..bytes]);
        let fds: Result<[OwnedFd; 4], _> = fds.try_into();
        if let (Ok(program), Ok([stdin, stdout, stderr, control])) = (program, fds) {
            return Some(Request { program, stdin, stdout, stderr, control });
        }
    }
}

/// The life of a supervisor: start the agent, tell what becomes of it, and leave nothing behind.
fn supervise(request: Request) {
    let Request { program, stdin, stdout, stderr, control } = request;
    let mut children = SigSet::empty();
    children.add(Signal::SIGCHLD);
    let prepared = (|| {
        nix::sys::prctl::set_child_subreaper(true)?;
        // SAFETY: back to the system's default: children are to be waited for here.
        #[expect(unsafe_code, reason = "nix marks it unsafe for the sake of handlers")]
        unsafe {
            nix::sys::signal::signal(Signal::SIGCHLD, nix::sys::signal::SigHandler::SigDfl)?;
        }
        sigprocmask(SigmaskHow::SIG_BLOCK, Some(&children), None)?;
        SignalFd::with_flags(&children, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
    })();
    let signals = match prepared {
        Ok(signals) => signals,
        Err(errno) => return report(control.as_fd(), Report::Broken(errno as i32)),
    };
    let agent = match start(&program, [stdin, stdout, stderr]) {
        Ok(agent) => agent,
        Err(failure) => return report(control.as_fd(), failure),
    };
    report(control.as_fd(), Report::Started(agent.as_raw()));
    watch(control.as_fd(), &signals, agent);
    kill_all(control.as_fd(), &signals, agent);
    report(control.as_fd(), Report::Gone);
}

/// Forks and becomes the agent. The ends of the pipes are closed on this side.
fn start(program: &Program, ends: [OwnedFd; 3]) -> Result<Pid, Report> {
    let strings = |list: &[super::wire::Bytes]| -> Result<Vec<CString>, Report> {
        let einval = |_| Report::Failed(Errno::EINVAL as i32);
        list.iter().map(|bytes| CString::new(bytes.0.clone()).map_err(einval)).collect()
    };
    let file = strings(std::slice::from_ref(&program.file))?.remove(0);
    let folder = strings(std::slice::from_ref(&program.folder))?.remove(0);
    let arguments = strings(&program.arguments)?;
    let environment = strings(&program.environment)?;
    let broken = |errno: Errno| Report::Broken(errno as i32);
    let (told, tell) = pipe2(OFlag::O_CLOEXEC).map_err(broken)?;
    // SAFETY: the supervisor has one thread, so the child may do what any process may.
    #[expect(unsafe_code, reason = "the agent is a fork of its supervisor")]
    match unsafe { fork() }.map_err(broken)? {
        ForkResult::Child => {
            let failure = become_agent(&file, &arguments, &environment, &folder, program, &ends);
            write(&tell, &failure.to_bytes()).ok();
            std::process::exit(127);
        }
        ForkResult::Parent { child } => {
            drop((tell, ends));
            // Exec closes the pipe without a word.
            let mut failure = [0; REPORT_BYTES];
            match read(&told, &mut failure) {
                Ok(REPORT_BYTES) => Err(Report::from_bytes(failure).unwrap_or(Report::Gone)),
                _ => Ok(child),
            }
        }
    }
}

/// In the new process, up to the agent's own first instruction. Comes back only with a failure: the
/// machine's, or that of the program, which can't be entered or executed.
fn become_agent(
    file: &CString,
    arguments: &[CString],
    environment: &[CString],
    folder: &CString,
    program: &Program,
    ends: &[OwnedFd; 3],
) -> Report {
    let prepared = (|| {
        // A session apart from its supervisor's, so that a signal to its group stays with it, and
        // so that, where the system groups processes by session to schedule them, an agent of many
        // threads gets no more of a shared core than one of a single thread.
        setsid()?;
        dup2_stdin(&ends[0])?;
        dup2_stdout(&ends[1])?;
        dup2_stderr(&ends[2])?;
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        // Less than was wanted, where the machine allows no more.
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        let files = program.files.min(hard);
        setrlimit(Resource::RLIMIT_NOFILE, files, files)?;
        batch_scheduling();
        close_other_files();
        Ok(())
    })();
    if let Err(errno) = prepared {
        let errno: Errno = errno;
        return Report::Broken(errno as i32);
    }
    match chdir(folder.as_c_str()).map(|()| execve(file, arguments, environment)) {
        Err(errno) | Ok(Err(errno)) => Report::Failed(errno as i32),
    }
}

/// Agents are scheduled in batches: a core that several of them share is handed over in longer
/// slices, and the referee, which is not, gets to run as soon as an answer is there.
fn batch_scheduling() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: a plain system call on this process with a structure that lives through it. It may be
    // refused, and then everything works but for a little more jitter.
    #[expect(unsafe_code, reason = "nix has no wrapper for it")]
    unsafe {
        libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameters);
    }
}

/// Nothing but stdin, stdout and stderr reaches the agent, whatever the referee itself was given.
fn close_other_files() {
    // SAFETY: marks descriptors to be closed by exec; none of them is used after that, but for the
    // one that tells of a failed exec, which works until then.
    #[expect(unsafe_code, reason = "nix has no wrapper for it")]
    unsafe {
        libc::close_range(3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC.cast_signed());
    }
}

/// Waits until the referee wants the end, or is gone; reaps what the agent leaves lying about, and
/// tells when the agent itself has ended.
fn watch(control: BorrowedFd<'_>, signals: &SignalFd, agent: Pid) {
    loop {
        let mut fds = [
            PollFd::new(control, PollFlags::POLLIN),
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return,
        }
        let ready = |fd: &PollFd<'_>| fd.revents().is_some_and(|events| !events.is_empty());
        if ready(&fds[1]) {
            while matches!(signals.read_signal(), Ok(Some(_))) {}
            reap(control, agent);
        }
        if ready(&fds[0]) {
            let mut byte = [0];
            match read(control, &mut byte).map(|count| (count, Command::from_byte(byte[0]))) {
                Ok((1, Some(Command::Stop))) => signal_all(&descendants(), Signal::SIGSTOP),
                Ok((1, Some(Command::Continue))) => signal_all(&descendants(), Signal::SIGCONT),
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                _ => return,
            }
        }
    }
}

/// Kills generation after generation: as the subreaper, the supervisor becomes the parent of
/// whatever a killed process leaves behind, double-forked daemons included.
fn kill_all(control: BorrowedFd<'_>, signals: &SignalFd, agent: Pid) {
    loop {
        signal_all(&children_of(nix::unistd::getpid()), Signal::SIGKILL);
        if reap(control, agent) == Left::Nothing {
            return;
        }
        // A new child, or one that the list missed because it changed, is found the next time.
        poll(&mut [PollFd::new(signals.as_fd(), PollFlags::POLLIN)], 10u8).ok();
        while matches!(signals.read_signal(), Ok(Some(_))) {}
    }
}

/// Whether any child is left.
#[derive(PartialEq, Eq)]
enum Left {
    Nothing,
    Something,
}

/// Takes in all children that have ended, and tells of the agent itself.
fn reap(control: BorrowedFd<'_>, agent: Pid) -> Left {
    loop {
        let mut status = 0;
        // SAFETY: a plain system call that writes to `status`.
        #[expect(unsafe_code, reason = "nix's own fails on signals that it doesn't know")]
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        match pid {
            0 => return Left::Something,
            -1 if Errno::last() == Errno::EINTR => {}
            -1 => return Left::Nothing,
            _ if pid == agent.as_raw() => report(control, Report::Exited(status)),
            _ => {}
        }
    }
}

fn signal_all(pids: &[Pid], signal: Signal) {
    for &pid in pids {
        kill(pid, signal).ok();
    }
}

/// All that comes from this process, children before their own.
fn descendants() -> Vec<Pid> {
    let mut found = children_of(nix::unistd::getpid());
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        found.extend(children_of(pid));
        next += 1;
    }
    found
}

fn report(control: BorrowedFd<'_>, report: Report) {
    write(control, &report.to_bytes()).ok();
}
