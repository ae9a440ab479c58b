//! A supervisor's own process: starts one agent after another, and ends each.

use super::table::Tree;
use super::wire::{Bytes, Command, Program, Report, Step};
use super::{REQUEST, cpu_time, sys};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::signal::Signal;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use nix::unistd::{
    ForkResult, Pid, chdir, close, dup2_stderr, dup2_stdin, dup2_stdout, execve, read, setsid,
    write,
};
use referee_protocol::{Limits, Nanos};
use std::ffi::CString;
use std::io::{self, IoSliceMut, PipeReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the table of processes is read while something of an agent is left, or to be stopped.
const LOOK: Duration = Duration::from_millis(50);
/// What runs for less in all was only about to stop.
const NOTHING: Nanos = Nanos(1_000_000);

/// Runs a supervisor until the referee is gone. Call it first, while the process has one thread.
pub(crate) fn run() {
    // Ctrl-C and Ctrl-Z are for the referee.
    setsid().ok();
    // Ignored signals would be inherited by agents, except that writing to a closed socket must fail.
    for signal in Signal::iterator().filter(|&signal| signal != Signal::SIGPIPE) {
        sys::ignore_signal(signal, false).ok();
    }
    close_inherited();
    let Ok(control) = io::stdin().as_fd().try_clone_to_owned() else { return };
    let mut control = UnixStream::from(control);
    while let Some((program, ends)) = receive(&mut control) {
        serve(&control, &program, ends);
        report(&control, Report::Gone);
    }
}

/// Closes what another thread of the referee was opening when this process was started: not every
/// system opens files so that exec closes them.
fn close_inherited() {
    let Ok(files) = std::fs::read_dir("/dev/fd") else { return };
    let numbers = files.flatten().filter_map(|file| file.file_name().to_str()?.parse().ok());
    // The list is complete before anything is closed; its own file no longer exists then.
    for number in numbers.collect::<Vec<RawFd>>() {
        if number > 2 {
            close(number).ok();
        }
    }
}

/// Receives the next request; `None` when the referee is gone, or if it can't be read: then the end of
/// the socket informs the referee.
fn receive(control: &mut UnixStream) -> Option<(Program, [OwnedFd; 3])> {
    let ends = loop {
        let mut first = [0];
        let mut rights = cmsg_space!([RawFd; 3]);
        let mut pieces = [IoSliceMut::new(&mut first)];
        let received =
            recvmsg::<()>(control.as_raw_fd(), &mut pieces, Some(&mut rights), MsgFlags::empty());
        let message = match received {
            Err(Errno::EINTR) => continue,
            Err(_) => return None,
            Ok(message) => message,
        };
        if message.bytes == 0 {
            return None;
        }
        let mut ends = Vec::new();
        for rights in message.cmsgs().into_iter().flatten() {
            if let ControlMessageOwned::ScmRights(fds) = rights {
                ends.extend(sys::received(fds));
            }
        }
        // Otherwise a late command for the previous agent, which is already gone.
        if first[0] == REQUEST {
            break ends;
        }
    };
    for end in &ends {
        fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).ok()?;
    }
    let mut length = [0; 4];
    control.read_exact(&mut length).ok()?;
    let mut request = vec![0; usize::try_from(u32::from_be_bytes(length)).ok()?];
    control.read_exact(&mut request).ok()?;
    Some((serde_json::from_slice(&request).ok()?, ends.try_into().ok()?))
}

/// Sends a report to the referee.
fn report(mut control: &UnixStream, report: Report) {
    control.write_all(&report.to_bytes()).ok();
}

/// Serves one agent: starts it, reports on it, and ends what it leaves.
fn serve(control: &UnixStream, program: &Program, ends: [OwnedFd; 3]) {
    let started = start(program, &ends);
    // From here on only the agent holds its ends of the pipes.
    drop(ends);
    match started {
        Err(failure) => report(control, failure),
        Ok(agent) => {
            report(control, Report::Started { pid: agent.as_raw(), reaped_us: 0 });
            let tree = Tree { agent, mark: mark(program) };
            let mut running = Running { control, tree, stopped: None };
            let ending = await_end(agent);
            let left = ending.as_ref().ok().is_none_or(|(ended, _)| running.watch(ended));
            if left {
                running.kill_all();
            }
            sys::reap(agent);
            if let Ok((_, waiting)) = ending {
                // The next fork needs a single thread.
                waiting.join().ok();
            }
        }
    }
}

/// Returns the variable of an agent's environment that no other program has: its private folder. Empty
/// without one.
fn mark(program: &Program) -> String {
    let conditions = &program.conditions;
    let work = &conditions.reach.work;
    let mark = Bytes::variable("TMPDIR", work.as_path());
    let has_mark = !work.0.is_empty() && conditions.environment.contains(&mark);
    if has_mark { String::from_utf8_lossy(&mark.0).into_owned() } else { String::new() }
}

/// Starts the agent in a new process.
fn start(program: &Program, ends: &[OwnedFd; 3]) -> Result<Pid, Report> {
    let broken = |errno: Errno| Report::Broken(Step::Begin, errno as i32);
    let (mut result, tell) = io::pipe().map_err(|_| broken(Errno::last()))?;
    match sys::fork_self().map_err(broken)? {
        ForkResult::Child => {
            let Err(failure) = become_agent(program, ends);
            write(&tell, &failure.to_bytes()).ok();
            sys::end_self();
        }
        ForkResult::Parent { child } => {
            drop(tell);
            let mut bytes = Vec::new();
            // Exec closes the other end.
            result.read_to_end(&mut bytes).map_err(|_| broken(Errno::EIO))?;
            if bytes.is_empty() {
                return Ok(child);
            }
            sys::reap(child);
            Err(serde_json::from_slice(&bytes).unwrap_or(broken(Errno::ECHILD)))
        }
    }
}

/// Makes this process the agent; returns why that failed.
fn become_agent(
    program: &Program,
    ends: &[OwnedFd; 3],
) -> Result<std::convert::Infallible, Report> {
    let broken = |errno: Errno| Report::Broken(Step::Begin, errno as i32);
    let failed = |errno: Errno| Report::Failed(errno as i32);
    let string = |bytes: &Bytes| CString::new(bytes.0.clone()).map_err(|_| failed(Errno::EINVAL));
    let strings = |list: &[Bytes]| list.iter().map(string).collect::<Result<Vec<_>, _>>();
    let conditions = &program.conditions;
    let (file, folder) = (string(&program.file)?, string(&program.folder)?);
    let (arguments, environment) =
        (strings(&program.arguments)?, strings(&conditions.environment)?);
    setsid().map_err(broken)?;
    dup2_stdin(&ends[0]).and(dup2_stdout(&ends[1])).and(dup2_stderr(&ends[2])).map_err(broken)?;
    sys::ignore_signal(Signal::SIGPIPE, false).map_err(broken)?;
    limit(&conditions.limits).map_err(broken)?;
    chdir(folder.as_c_str()).map_err(failed)?;
    execve(&file, &arguments, &environment).map_err(failed)
}

/// Applies the limits of a process: no core files, a number of open files, and, as far as the agent
/// doesn't raise them itself, the size of a file and memory for data. Where the system allows less, that
/// holds.
fn limit(limits: &Limits) -> nix::Result<()> {
    const MIB: rlim_t = 1 << 20;
    // Writing more fails instead of killing the process.
    sys::ignore_signal(Signal::SIGXFSZ, true)?;
    // Runtimes reserve several times what they use.
    let data = limits.memory_mb.saturating_mul(4 * MIB).saturating_add(1024 * MIB);
    for (resource, wanted, is_final) in [
        (Resource::RLIMIT_CORE, 0, true),
        (Resource::RLIMIT_NOFILE, limits.files, true),
        (Resource::RLIMIT_FSIZE, limits.work_mb.saturating_mul(MIB), false),
        (Resource::RLIMIT_DATA, data, false),
    ] {
        let (_, hard) = getrlimit(resource)?;
        let wanted = wanted.min(hard);
        setrlimit(resource, wanted, if is_final { wanted } else { hard })?;
    }
    Ok(())
}

/// A running agent.
struct Running<'a> {
    control: &'a UnixStream,
    tree: Tree,
    stopped: Option<Stopped>,
}

/// An agent that is to be stopped.
struct Stopped {
    /// Its CPU time at the first look after it was stopped.
    before: Option<Nanos>,
    /// Its processes outside of its group, which are stopped too if it stays stopped.
    others: Option<Vec<Pid>>,
}

impl Running<'_> {
    /// Waits until no process of the agent is left, the referee commands its end, or the referee is
    /// gone. Reports the end of the agent's own process. Returns whether any process may be left.
    fn watch(&mut self, ended: &PipeReader) -> bool {
        let mut ended = Some(ended);
        loop {
            let mut fds = vec![PollFd::new(self.control.as_fd(), PollFlags::POLLIN)];
            fds.extend(ended.as_ref().map(|it| PollFd::new(it.as_fd(), PollFlags::POLLIN)));
            let looks = ended.is_none()
                || self.stopped.as_ref().is_some_and(|stopped| stopped.others.is_none());
            let pause = PollTimeout::try_from(LOOK).unwrap_or(PollTimeout::ZERO);
            let count = match poll(&mut fds, if looks { pause } else { PollTimeout::NONE }) {
                Err(Errno::EINTR) => continue,
                Err(_) => return true,
                Ok(count) => count,
            };
            let ready = |index: usize| {
                let events = fds.get(index).and_then(PollFd::revents);
                events.is_some_and(|events| !events.is_empty())
            };
            let (commanded, has_ended) = (ready(0), ready(1));
            if has_ended && let Some(mut pipe) = ended.take() {
                let mut status = [0; 4];
                if pipe.read_exact(&mut status).is_err() {
                    return true;
                }
                report(self.control, Report::Exited(i32::from_ne_bytes(status), 0));
            }
            if commanded && !self.handle_command() {
                return true;
            }
            if ended.is_none() && (has_ended || count == 0) && self.tree.members().is_empty() {
                return false;
            }
            if count == 0
                && let Some(stopped) = &mut self.stopped
            {
                let members = self.tree.members();
                self.tree.signal(&members, Signal::SIGSTOP);
                stopped.before = cpu_time(self.tree.agent);
                stopped.others = Some(members);
            }
        }
    }

    /// Handles a command of the referee; false if the agent is to end or the referee is gone.
    fn handle_command(&mut self) -> bool {
        let mut byte = [0];
        match read(self.control, &mut byte) {
            Ok(1) if byte[0] == Command::Stop as u8 => {
                self.tree.signal(&[], Signal::SIGSTOP);
                self.stopped.get_or_insert(Stopped { before: None, others: None });
                true
            }
            Ok(1) if byte[0] == Command::Continue as u8 => {
                let stopped = self.stopped.take();
                let before = stopped.as_ref().and_then(|stopped| stopped.before);
                let now = before.and_then(|_| cpu_time(self.tree.agent));
                let ran = now.zip(before).map(|(now, before)| now.since(before));
                let ran = ran.filter(|&ran| ran >= NOTHING).unwrap_or_default();
                let others = stopped.and_then(|stopped| stopped.others).unwrap_or_default();
                self.tree.signal(&others, Signal::SIGCONT);
                report(self.control, Report::Continued { ran_us: ran.0 / 1000 });
                true
            }
            Err(Errno::EINTR | Errno::EAGAIN) => true,
            _ => false,
        }
    }

    /// Kills the agent's processes, until none is found.
    fn kill_all(&self) {
        self.tree.signal(&[], Signal::SIGKILL);
        loop {
            let members = self.tree.members();
            if members.is_empty() {
                return;
            }
            self.tree.signal(&members, Signal::SIGKILL);
        }
    }
}

/// Waits for the end of a child on another thread; the pipe then has its status, in four bytes.
fn await_end(child: Pid) -> io::Result<(PipeReader, JoinHandle<()>)> {
    let (ended, mut tell) = io::pipe()?;
    let waiting = std::thread::Builder::new().spawn(move || {
        if let Ok(status) = sys::await_end(child) {
            tell.write_all(&status.to_ne_bytes()).ok();
        }
    })?;
    Ok((ended, waiting))
}
