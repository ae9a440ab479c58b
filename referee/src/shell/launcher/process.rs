//! What runs in the launcher's own process and in its supervisors.

use super::super::cores::Cores;
use super::super::usage::children_of;
use super::wire::{Bytes, Command, Program, REQUEST_BYTES_MAX, Report};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, clone};
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use nix::sys::time::TimeVal;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, chdir, dup2_stderr, dup2_stdin, dup2_stdout, fork};
use nix::unistd::{pipe2, read, setsid, write};
use std::ffi::{CStr, CString, c_char};
use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The hidden command by which this program becomes a launcher.
pub const LAUNCH_COMMAND: &str = "__launch";

/// The stack of a process on its way to exec, which calls little more than the system.
const STACK_BYTES: usize = 128 * 1024;

/// A request as it came.
struct Request {
    program: Program,
    /// The agent's ends of its pipes: stdin, stdout, stderr.
    ends: [OwnedFd; 3],
    /// The socket to the referee, where the supervisor has none yet.
    control: Option<OwnedFd>,
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
            if let Some(Request { program, ends, control: Some(control) }) = receive(socket, buffer)
            {
                write(&take, &[1]).ok();
                drop(take);
                // In the place of the launcher's socket, whose end must be seen when that ends.
                dup2_stdin(&control).ok();
                supervise(control.as_fd(), Request { program, ends, control: None }, buffer);
            }
            std::process::exit(0);
        }
        Ok(((taken, take), ForkResult::Parent { .. })) => {
            drop(take);
            // One that ended without a request was killed, or has found the referee gone.
            matches!(read(&taken, &mut [0]), Ok(1)) || !is_hung_up(socket)
        }
        Err(errno) => {
            if let Some(Request { control: Some(control), .. }) = receive(socket, buffer) {
                report(control.as_fd(), Report::Broken(errno as i32));
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
        if bytes == 1 {
            // A command for the agent before, which was gone by itself before it came.
            continue;
        }
        let program = serde_json::from_slice(&buffer[..bytes]).ok()?;
        let control = if fds.len() == 4 { fds.pop() } else { None };
        return Some(Request { program, ends: fds.try_into().ok()?, control });
    }
}

/// The life of a supervisor: agent after agent, until the referee has no more for it or is gone.
fn supervise(control: BorrowedFd<'_>, first: Request, buffer: &mut [u8]) {
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
        Err(errno) => return report(control, Report::Broken(errno as i32)),
    };
    let mut stack = vec![0; STACK_BYTES];
    let mut cores = Cores::of_this_thread();
    let mut request = Some(first);
    while let Some(Request { program, ends, .. }) = request {
        cores.hold(program.core);
        serve(control, &signals, &program, ends, &mut stack);
        request = receive(control, buffer);
    }
}

/// One agent: starts it, tells what becomes of it, and leaves nothing of it behind.
fn serve(
    control: BorrowedFd<'_>,
    signals: &SignalFd,
    program: &Program,
    ends: [OwnedFd; 3],
    stack: &mut [u8],
) {
    let reaped = getrusage(UsageWho::RUSAGE_CHILDREN);
    let reaped_us =
        reaped.map_or(0, |usage| micros(usage.user_time()) + micros(usage.system_time()));
    let started = start(program, &ends, stack);
    // Only the agent holds its ends from now on.
    drop(ends);
    match started {
        Ok(agent) => {
            let pid = agent.as_raw();
            report(control, Report::Started { pid, reaped_us });
            if watch(control, signals, agent) == Left::Something {
                kill_all(control, signals, agent);
            }
        }
        Err(failure) => report(control, failure),
    }
    report(control, Report::Gone);
}

fn micros(time: TimeVal) -> u64 {
    u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).unwrap_or(0)
}

/// Becomes the agent, in a new process.
///
/// Until exec the new process runs in this one's memory, and this one stands still: there is nothing
/// to copy, which makes it three times as quick as a fork.
fn start(program: &Program, ends: &[OwnedFd; 3], stack: &mut [u8]) -> Result<Pid, Report> {
    let einval = |_| Report::Failed(Errno::EINVAL as i32);
    let string = |bytes: &Bytes| CString::new(bytes.0.clone()).map_err(einval);
    let strings = |list: &[Bytes]| list.iter().map(string).collect::<Result<Vec<_>, _>>();
    let (file, folder) = (string(&program.file)?, string(&program.folder)?);
    let (arguments, environment) = (strings(&program.arguments)?, strings(&program.environment)?);
    // All that exec needs is made here: memory that the new process took would never be given back.
    let image = Image {
        file: &file,
        folder: &folder,
        arguments: &pointers(&arguments),
        environment: &pointers(&environment),
        files: program.files,
        ends,
    };
    let mut failure = None;
    let becoming = Box::new(|| {
        failure = Some(image.become_agent());
        127
    });
    let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
    // SAFETY: this process has one thread, which goes on only after the new one has left its memory
    // by exec or by its end; up to there that makes system calls only, on a stack of its own.
    #[expect(unsafe_code, reason = "the agent begins as a part of its supervisor")]
    let child = unsafe { clone(becoming, stack, flags, Some(libc::SIGCHLD)) };
    let child = child.map_err(|errno| Report::Broken(errno as i32))?;
    match failure {
        None => Ok(child),
        Some(failure) => {
            waitpid(child, None).ok();
            Err(failure)
        }
    }
}

/// A list of strings as the system takes it.
fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}

/// What a new process needs to become the agent.
struct Image<'a> {
    file: &'a CStr,
    folder: &'a CStr,
    /// Pointers to strings, null at the end, as all that follows.
    arguments: &'a [*const c_char],
    environment: &'a [*const c_char],
    files: u64,
    ends: &'a [OwnedFd; 3],
}

impl Image<'_> {
    /// In the new process, up to the agent's own first instruction. Comes back only with a failure:
    /// the machine's, or that of the program, which can't be entered or executed. It takes no
    /// memory and changes none.
    fn become_agent(&self) -> Report {
        if let Err(errno) = self.prepare() {
            return Report::Broken(errno as i32);
        }
        if let Err(errno) = chdir(self.folder) {
            return Report::Failed(errno as i32);
        }
        // SAFETY: the lists end with null, and all that they point to lives as long as this does.
        #[expect(unsafe_code, reason = "nix's own takes memory")]
        unsafe {
            let (arguments, environment) = (self.arguments.as_ptr(), self.environment.as_ptr());
            libc::execve(self.file.as_ptr(), arguments, environment);
        }
        Report::Failed(Errno::last_raw())
    }

    fn prepare(&self) -> nix::Result<()> {
        // A session apart from its supervisor's, so that a signal to its group stays with it, and
        // so that, where the system groups processes by session to schedule them, an agent of many
        // threads gets no more of a shared core than one of a single thread.
        setsid()?;
        dup2_stdin(&self.ends[0])?;
        dup2_stdout(&self.ends[1])?;
        dup2_stderr(&self.ends[2])?;
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        // Less than was wanted, where the machine allows no more.
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        let files = self.files.min(hard);
        setrlimit(Resource::RLIMIT_NOFILE, files, files)?;
        batch_scheduling();
        close_other_files();
        Ok(())
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

/// Waits until nothing of the agent is left, the referee wants the end, or it is gone; reaps what the
/// agent leaves lying about, and tells when the agent itself has ended.
fn watch(control: BorrowedFd<'_>, signals: &SignalFd, agent: Pid) -> Left {
    loop {
        let mut fds = [
            PollFd::new(control, PollFlags::POLLIN),
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return Left::Something,
        }
        let ready = |fd: &PollFd<'_>| fd.revents().is_some_and(|events| !events.is_empty());
        if ready(&fds[1]) {
            signals.read_signal().ok();
            if reap(control, agent) == Left::Nothing {
                return Left::Nothing;
            }
        }
        if ready(&fds[0]) {
            let mut byte = [0];
            match read(control, &mut byte).map(|count| (count, Command::from_byte(byte[0]))) {
                Ok((1, Some(Command::Stop))) => signal_all(&descendants(), Signal::SIGSTOP),
                Ok((1, Some(Command::Continue))) => signal_all(&descendants(), Signal::SIGCONT),
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                _ => return Left::Something,
            }
        }
    }
}

/// Kills generation after generation: as the subreaper, the supervisor becomes the parent of
/// whatever a killed process leaves behind, double-forked daemons included.
fn kill_all(control: BorrowedFd<'_>, signals: &SignalFd, agent: Pid) {
    while reap(control, agent) == Left::Something {
        signal_all(&children_of(nix::unistd::getpid()), Signal::SIGKILL);
        // A new child, or one that the list missed because it changed, is found the next time.
        poll(&mut [PollFd::new(signals.as_fd(), PollFlags::POLLIN)], 10u8).ok();
        signals.read_signal().ok();
    }
}

/// Whether any child is left.
#[derive(PartialEq, Eq)]
enum Left {
    Nothing,
    Something,
}

/// Takes in all children that have ended, and tells of the agent itself. A process without any child
/// has no descendants either: as the subreaper it is the next parent of each that loses its own.
fn reap(control: BorrowedFd<'_>, agent: Pid) -> Left {
    loop {
        let mut status = 0;
        // Of every kind: what an agent clones need not announce its end by SIGCHLD.
        let flags = libc::WNOHANG | libc::__WALL;
        // SAFETY: a plain system call that writes to `status`.
        #[expect(unsafe_code, reason = "nix's own fails on signals that it doesn't know")]
        let pid = unsafe { libc::waitpid(-1, &raw mut status, flags) };
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
