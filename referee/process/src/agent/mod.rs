//! An untrusted program as a process: its pipes, the lines that it writes, its life cycle, and its
//! events with the time at which each was seen. Knows no messages, and judges nothing.

mod start;
mod stdin;
mod used;

pub use self::start::{Launch, StartFailure, is_damaged};
pub use crate::launcher::StartConditions;

use self::stdin::Stdin;
use crate::framer::{Framer, Line};
use crate::launcher::{
    Bytes, Command, Group, Idle, Launcher, Limit, Program, Report, Step, Supervised, receive_report,
};
use crate::lock::lock;
use crate::memory_kills;
use crate::poll_on_wake::PollOnWake;
use crate::sandbox::Layer;
use crate::stderr::Stderr;
use crate::usage::Meters;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::stat::{Mode, fchmod};
use nix::unistd::{Pid, read, write};
use referee_protocol::Nanos;
use std::collections::VecDeque;
use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::pin::Pin;
use std::process::ExitStatus;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, Interest, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// How long to wait for a killed process tree to end before the machine is blamed. Nothing of it
/// runs any more, but a busy machine needs seconds to free the memory of a hundred processes.
pub const KILL_WAIT: Duration = Duration::from_secs(60);

/// The size of the read buffer of [`AgentProcess::next_event`].
const SCRATCH_BYTES: usize = 16 * 1024;

/// A process's state between start and end. It only ever moves to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LifeCycle {
    /// Its supervisor is starting the program.
    Starting,
    /// The program runs, as far as is known.
    Running,
    /// The program has ended or never ran; its descendants may still run.
    Exited,
    /// No process is left, or the supervisor is lost. Earlier output may still be unread.
    Gone,
}

/// Something that a process did.
#[derive(Debug, PartialEq, Eq)]
pub enum AgentEvent {
    /// The program runs.
    Started,
    /// The program could not be started, for a reason that may be the program's.
    Failed(Errno),
    /// The machine could not start it.
    Broken(StartFailure),
    /// Its process tree exceeded a limit, and is being killed.
    Limit(Limit),
    /// Its processes run again. They have used this CPU time although they were to be stopped.
    Continued(Nanos),
    /// The machine had no memory left, and the system killed it. It has had so many KiB. [`AgentEvent::Exited`]
    /// may follow.
    OutOfMemory(u64),
    /// The program ended, with this status as text.
    Exited(String),
    /// No process is left.
    Gone,
    /// It wrote a line to its stdout.
    Line(Line),
    /// Its stdout ended. Its process may run on or, a moment later, exit.
    StdoutClosed,
    /// It wrote to stderr; see [`AgentProcess::stderr`].
    Stderr,
    /// It no longer reads its stdin. Its process may run on or, a moment later, exit.
    StdinClosed,
}

/// A program that has been started.
#[derive(Debug)]
pub struct AgentProcess {
    life: LifeCycle,
    /// The whole tree is being killed or is dead: nothing is written, and its lines are dropped.
    killed: bool,
    stdin: Stdin,
    /// `None` once it has ended.
    stdout: Option<PollOnWake<pipe::Receiver>>,
    /// Its output, split into lines, and when the last of it was read.
    lines: Framer,
    read_at: Instant,
    /// `None` once it has ended.
    stderr_pipe: Option<PollOnWake<pipe::Receiver>>,
    /// What it has written to stderr.
    pub stderr: Stderr,
    /// `None` once no process is left.
    control: Option<PollOnWake<UnixStream>>,
    /// Where the supervisor goes then.
    idle: Idle,
    /// Which request it got.
    request: u64,
    /// Whether its supervisor is isolated from it.
    isolated: bool,
    /// Its own control group, if it has one, until no process is left.
    group: Option<Group>,
    /// What that had counted then.
    cpu_at_end: Option<Nanos>,
    /// What [`AgentEvent::Limit`] has been delivered with.
    limit_reported: Option<Limit>,
    /// How many processes the system had killed for lack of memory when it was started.
    killed_before: Option<u64>,
    /// Events to deliver before all others.
    events: VecDeque<AgentEvent>,
    /// Usage measurements; set by [`AgentEvent::Started`].
    meters: Option<Meters>,
}

impl AgentProcess {
    /// Starts a program, on the current runtime. It does not run yet when this returns;
    /// [`AgentEvent::Started`] follows.
    pub fn start(
        launcher: &Launcher,
        launch: &Launch,
        mut conditions: StartConditions,
    ) -> io::Result<Self> {
        conditions.environment.extend(launch.env.iter().map(Bytes::of));
        let killed_before = launcher.memory_kills.before();
        let (agent_stdin, stdin) = io::pipe()?;
        let (stdout, agent_stdout) = io::pipe()?;
        let (stderr, agent_stderr) = io::pipe()?;
        let program = Program {
            file: Bytes::of(&launch.file),
            arguments: launch.command.iter().map(Bytes::of).collect(),
            folder: Bytes::of(&launch.folder),
            conditions,
        };
        let limits = &program.conditions.limits;
        let ends: [OwnedFd; 3] = [agent_stdin.into(), agent_stdout.into(), agent_stderr.into()];
        for (end, others) in ends.iter().zip([Mode::S_IROTH, Mode::S_IWOTH, Mode::S_IWOTH]) {
            // To open `/dev/stderr` is to open the pipe again, perhaps as another user. Some systems have no such modes.
            fchmod(end, Mode::S_IRUSR | Mode::S_IWUSR | others).ok();
        }
        let Supervised { control, group, request } = launcher.spawn(&program, &ends)?;
        control.set_nonblocking(true)?;
        fcntl(&stdin, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Self {
            life: LifeCycle::Starting,
            killed: false,
            stdin: Stdin::new(stdin.into()),
            stdout: Some(reader(stdout)?),
            lines: Framer::new(usize::try_from(limits.line_bytes).unwrap_or(usize::MAX)),
            read_at: Instant::now(),
            stderr_pipe: Some(reader(stderr)?),
            stderr: Stderr::new(limits.stderr_bytes),
            control: Some(PollOnWake::new(UnixStream::from_std(control)?)),
            idle: launcher.idle.clone(),
            request,
            isolated: launcher.layers().has(Layer::Scope),
            group,
            cpu_at_end: None,
            limit_reported: None,
            killed_before,
            events: VecDeque::new(),
            meters: None,
        })
    }

    /// Whether its program has not ended, as far as is known.
    pub fn is_running(&self) -> bool {
        matches!(self.life, LifeCycle::Starting | LifeCycle::Running)
    }

    /// Whether no process of it is left.
    pub fn is_gone(&self) -> bool {
        self.life == LifeCycle::Gone
    }

    /// Whether [`AgentProcess::kill`] has been called.
    pub fn is_killed(&self) -> bool {
        self.killed
    }

    /// Buffers bytes for the next [`AgentProcess::flush`].
    pub fn put(&mut self, bytes: &[u8]) {
        self.stdin.put(bytes);
    }

    /// Writes as much as is accepted without waiting; the rest follows as the process reads. If the
    /// process has closed its stdin, [`AgentEvent::StdinClosed`] follows.
    pub fn flush(&mut self) {
        self.stdin.flush();
    }

    /// Closes its stdin after everything buffered has been written. From here on
    /// [`AgentEvent::StdinClosed`] is not reported.
    pub fn close(&mut self) {
        self.stdin.close();
    }

    /// Kills it with all its descendants; [`AgentEvent::Gone`] follows.
    pub fn kill(&mut self) {
        self.killed = true;
        self.stdin.discard();
        self.lines.clear();
        self.command(Command::Kill);
    }

    /// Sends a command to its supervisor. If that is gone, the tree is dead anyway.
    pub fn command(&self, command: Command) {
        if let Some(control) = &self.control {
            send_command(&control.source, command);
        }
    }

    /// Returns its next event, and when that was seen. Nothing comes before it is known whether the
    /// program runs; then stderr comes before lines, lines before the end of the process, and that
    /// it doesn't read comes last: what it has written, and how it ended, says why. `scratch` is a
    /// read buffer.
    pub fn poll_event(
        &mut self,
        context: &mut Context<'_>,
        scratch: &mut [u8],
    ) -> Poll<(Instant, AgentEvent)> {
        if self.is_gone() && self.killed {
            return Poll::Pending;
        }
        if self.life == LifeCycle::Starting {
            // If the program could not be started its pipes end too, but the report says why.
            return self.poll_control(context, scratch).map(|event| (Instant::now(), event));
        }
        if let Some(event) = self.events.pop_front() {
            return Poll::Ready((Instant::now(), event));
        }
        if let Some(line) = self.buffered_line() {
            return Poll::Ready((self.read_at, AgentEvent::Line(line)));
        }
        if self.poll_stderr(context, scratch).is_ready() {
            return Poll::Ready((Instant::now(), AgentEvent::Stderr));
        }
        if let Poll::Ready(event) = self.poll_stdout(context, scratch) {
            return Poll::Ready((self.read_at, event));
        }
        if let Poll::Ready(event) = self.poll_control(context, scratch) {
            return Poll::Ready((Instant::now(), event));
        }
        self.poll_stdin(context);
        if self.stdin.take_unread() {
            return Poll::Ready((Instant::now(), AgentEvent::StdinClosed));
        }
        Poll::Pending
    }

    /// Returns its next event; `None` if there is none by `deadline`.
    pub async fn next_event(&mut self, deadline: Instant) -> Option<AgentEvent> {
        let mut scratch = vec![0; SCRATCH_BYTES];
        let event = poll_fn(|context| self.poll_event(context, &mut scratch));
        Some(tokio::time::timeout_at(deadline.into(), event).await.ok()?.1)
    }

    /// Kills it, and waits until none of its processes is left.
    pub async fn kill_and_wait(&mut self) -> io::Result<()> {
        self.kill();
        let deadline = Instant::now() + KILL_WAIT;
        while !self.is_gone() {
            if self.next_event(deadline).await.is_none() {
                let text = "processes of the agent could not be killed";
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
        Ok(())
    }

    /// Returns the next of the lines that have already been read: they were written before the
    /// process could read anything that is buffered now.
    pub fn buffered_line(&mut self) -> Option<Line> {
        self.lines.next_line()
    }

    /// Whether it has done nothing that isn't delivered yet, as far as the system knows, and has not begun
    /// a line.
    pub fn is_silent(&self) -> bool {
        let (Some(stdout), Some(control)) = (&self.stdout, &self.control) else { return false };
        let sources = [stdout.source.as_fd(), control.source.as_fd()];
        let mut sources = sources.map(|source| PollFd::new(source, PollFlags::POLLIN));
        let is_idle = poll(&mut sources, PollTimeout::ZERO) == Ok(0) && !self.stdin.is_unread();
        is_idle && self.events.is_empty() && self.lines.unended().is_empty()
    }

    /// Returns how many bytes that were sent to it it has not read; `None` if that isn't known.
    pub fn unread_bytes(&self) -> Option<u64> {
        self.stdin.unread_bytes()
    }

    /// Puts an event back, to be delivered first.
    pub fn unread(&mut self, event: AgentEvent) {
        self.events.push_front(event);
    }

    /// Returns the start of a line whose end has not arrived.
    pub fn unended_line(&self) -> &[u8] {
        self.lines.unended()
    }

    fn poll_stderr(&mut self, context: &mut Context<'_>, scratch: &mut [u8]) -> Poll<()> {
        match poll_pipe(self.stderr_pipe.as_mut(), context, scratch) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(0) => {
                self.stderr_pipe = None;
                Poll::Pending
            }
            Poll::Ready(count) => {
                self.stderr.add(&scratch[..count]);
                Poll::Ready(())
            }
        }
    }

    fn poll_stdout(&mut self, context: &mut Context<'_>, scratch: &mut [u8]) -> Poll<AgentEvent> {
        loop {
            match poll_pipe(self.stdout.as_mut(), context, scratch) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(0) => return self.stdout_closed(),
                Poll::Ready(_) if self.killed => {
                    // Let others run: it may write faster than it is killed.
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(count) => {
                    self.read_at = Instant::now();
                    self.lines.push(&scratch[..count]);
                    if let Some(line) = self.lines.next_line() {
                        return Poll::Ready(AgentEvent::Line(line));
                    }
                }
            }
        }
    }

    fn stdout_closed(&mut self) -> Poll<AgentEvent> {
        self.stdout = None;
        self.read_at = Instant::now();
        match self.lines.finish() {
            Some(last) => {
                self.events.push_back(AgentEvent::StdoutClosed);
                Poll::Ready(AgentEvent::Line(last))
            }
            None => Poll::Ready(AgentEvent::StdoutClosed),
        }
    }

    /// Whether its program is about to exit, as far as the system knows: its pipes end before its exit
    /// is reported.
    pub fn is_exiting(&self) -> bool {
        self.is_running() && self.meters().is_none_or(Meters::is_exiting)
    }

    fn poll_control(&mut self, context: &mut Context<'_>, scratch: &mut [u8]) -> Poll<AgentEvent> {
        let Some(control) = &mut self.control else { return Poll::Pending };
        let received = ready!(control.poll(context, |control, context| loop {
            ready!(control.poll_read_ready(context)).ok();
            match control.try_io(Interest::READABLE, || receive_report(control.as_fd())) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                received => return Poll::Ready(received.ok().flatten()),
            }
        }));
        let Some((report, descriptors)) = received else {
            // The supervisor itself has ended. An isolated agent can't have caused that.
            self.control = None;
            let running = self.life != LifeCycle::Starting;
            self.all_gone(scratch);
            let lost = StartFailure { step: Step::Begin, errno: Errno::ECHILD, running };
            let is_innocent = self.isolated || !running;
            let event = if is_innocent { AgentEvent::Broken(lost) } else { AgentEvent::Gone };
            return Poll::Ready(event);
        };
        Poll::Ready(self.reported(report, descriptors, scratch))
    }

    fn reported(
        &mut self,
        report: Report,
        descriptors: Vec<OwnedFd>,
        scratch: &mut [u8],
    ) -> AgentEvent {
        match report {
            Report::Started { pid, reaped_us } => {
                let reaped = Nanos(reaped_us * 1000);
                let counters = descriptors.into_iter().map(File::from);
                self.meters = Meters::of(Pid::from_raw(pid), reaped, counters);
                self.life = LifeCycle::Running;
                AgentEvent::Started
            }
            Report::Failed(errno) => {
                self.never_ran();
                AgentEvent::Failed(Errno::from_raw(errno))
            }
            Report::Broken(step, errno) => {
                self.never_ran();
                let errno = Errno::from_raw(errno);
                AgentEvent::Broken(StartFailure { step, errno, running: false })
            }
            Report::Limit(limit) => {
                self.limit_reported = Some(limit);
                AgentEvent::Limit(limit)
            }
            Report::Continued { ran_us } => AgentEvent::Continued(Nanos(ran_us * 1000)),
            Report::Exited(status, peak) => {
                self.life = LifeCycle::Exited;
                let status = ExitStatus::from_raw(status);
                let exited = AgentEvent::Exited(status_text(status));
                let reason = self.passed_limit().or_else(|| {
                    let killed = is_killed(status) && self.is_out_of_memory();
                    killed.then_some(AgentEvent::OutOfMemory(peak))
                });
                let Some(reason) = reason else { return exited };
                self.events.push_back(exited);
                reason
            }
            Report::Gone => {
                let lost = self.is_running() && self.is_out_of_memory();
                self.cpu_at_end = self.tree_cpu();
                let (group, request) = (self.group.take(), self.request);
                let control = self.control.take().map(|control| control.source.into_std());
                if let Some(Ok(control)) = control {
                    lock(&self.idle).push(Supervised { control, group, request });
                }
                self.all_gone(scratch);
                if !lost {
                    return AgentEvent::Gone;
                }
                // Whatever ran the program was killed, and the program with it.
                self.events.push_back(AgentEvent::Gone);
                AgentEvent::OutOfMemory(0)
            }
        }
    }

    /// Whether the system has killed processes since it started because the machine had no memory left. Its
    /// own group also knows whose they were.
    pub fn is_out_of_memory(&self) -> bool {
        !self.killed
            && match &self.group {
                Some(group) => group.has_killed(),
                None => memory_kills::since(self.killed_before),
            }
    }

    /// Its program could not be started: that its pipes have ended says nothing more.
    fn never_ran(&mut self) {
        self.life = LifeCycle::Exited;
        self.stdin.discard();
        self.stdout = None;
    }

    /// Returns a limit that it exceeded, unless that has been reported. The kernel counts before it
    /// kills.
    fn passed_limit(&mut self) -> Option<AgentEvent> {
        let group = self.group.as_ref().filter(|_| self.limit_reported.is_none())?;
        let limit = group.passed()?;
        self.limit_reported = Some(limit);
        Some(AgentEvent::Limit(limit))
    }

    /// No process is left that could write. The last output may not have been signalled yet, and
    /// there may be no later poll.
    fn all_gone(&mut self, scratch: &mut [u8]) {
        self.life = LifeCycle::Gone;
        if let Some(stderr) = self.stderr_pipe.take() {
            while let Ok(count @ 1..) = read(&stderr.source, scratch) {
                self.stderr.add(&scratch[..count]);
            }
        }
    }

    /// Continues a flush that was not accepted whole.
    fn poll_stdin(&mut self, context: &mut Context<'_>) {
        while self.stdin.poll_blocked(context).is_ready() {
            self.flush();
            if !self.stdin.is_waiting() {
                break;
            }
        }
    }
}

/// Sends a command, past the runtime: that writes nothing before it has been told that a new socket can be written
/// to, so that a process killed as soon as it was started would run on.
fn send_command(control: &UnixStream, command: Command) {
    write(control, &[command as u8]).ok();
}

/// Returns the reading end of a pipe for the current runtime.
fn reader(pipe: io::PipeReader) -> io::Result<PollOnWake<pipe::Receiver>> {
    pipe::Receiver::from_owned_fd(OwnedFd::from(pipe)).map(PollOnWake::new)
}

/// Reads what is available; returns how many bytes, 0 at the end or after an error.
fn poll_pipe(
    pipe: Option<&mut PollOnWake<pipe::Receiver>>,
    context: &Context<'_>,
    scratch: &mut [u8],
) -> Poll<usize> {
    let Some(pipe) = pipe else { return Poll::Pending };
    let mut buffer = ReadBuf::new(scratch);
    let read = ready!(
        pipe.poll(context, |pipe, context| { Pin::new(pipe).poll_read(context, &mut buffer) })
    );
    Poll::Ready(read.map_or(0, |()| buffer.filled().len()))
}

/// Whether a program was killed by the system, or by its status a shell whose command was.
fn is_killed(status: ExitStatus) -> bool {
    let killed = Signal::SIGKILL as i32;
    status.signal() == Some(killed) || status.code() == Some(128 + killed)
}

/// `exit status 1`, `signal 11 (SIGSEGV)`.
fn status_text(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(number)) => match Signal::try_from(number) {
            Ok(signal) => format!("signal {number} ({signal})"),
            Err(_) => format!("signal {number}"),
        },
        (None, None) => "an unknown status".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, send_command};
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_command_is_sent_before_the_runtime_knows_the_socket() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let (ours, mut supervisors) = UnixStream::pair().unwrap();
        for socket in [&ours, &supervisors] {
            socket.set_nonblocking(true).unwrap();
        }
        runtime.block_on(async {
            let control = tokio::net::UnixStream::from_std(ours).unwrap();
            send_command(&control, Command::Kill);
            let mut received = [0; 2];
            assert_eq!(supervisors.read(&mut received).unwrap(), 1);
            assert_eq!(received[0], Command::Kill as u8);
        });
    }
}
