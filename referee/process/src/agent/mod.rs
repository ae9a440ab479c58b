//! An untrusted program as a process: its pipes, the lines that it writes, its life cycle, and each
//! of its events with the time at which it was seen. It knows no message, and judges nothing.

mod start;
mod stdin;

pub use self::start::{Launch, OutputLimits, Surroundings, Trouble};

use self::stdin::Stdin;
use crate::framer::{Framer, Line};
use crate::launcher::{
    Bytes, Command, Group, Idle, Launcher, Limit, Program, REPORT_BYTES, Report, Step,
};
use crate::lock::lock;
use crate::stderr::Stderr;
use crate::usage::Meters;
use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::sys::socket::{MsgFlags, recv};
use nix::unistd::{Pid, read};
use referee_protocol::{Layer, Nanos};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::pin::Pin;
use std::process::ExitStatus;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// How long the end of a killed process tree is waited for before the machine is blamed.
pub const KILL_WAIT: Duration = Duration::from_secs(10);

/// Where a process is between its start and its end. It only ever goes on to a later state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifeCycle {
    /// Its supervisor is starting the program.
    Starting,
    /// The program runs.
    Running,
    /// The program is to end: its stdin is closed after what is still to be written, or it is being
    /// killed.
    Closing,
    /// The program has ended, with this status in words; what it started may still run.
    Exited(String),
    /// Nothing of it is left, or its supervisor is lost; with the status, where one was reported.
    /// What it wrote to its stdout before may still be on its way.
    Gone(Option<String>),
}

/// Something that a process did.
#[derive(Debug, PartialEq, Eq)]
pub enum AgentEvent {
    /// Its program runs.
    Started,
    /// Its program could not be started, for a reason that may lie with the program.
    Failed(Errno),
    /// The machine could not start it.
    Broken(Trouble),
    /// Its tree went over a limit, and is being killed.
    Limit(Limit),
    /// Its processes run again.
    Continued,
    /// Its program ended, with this status in words.
    Exited(String),
    /// Nothing is left of it.
    Gone,
    /// It wrote a line to its stdout.
    Line(Line),
    /// Its stdout ended.
    StdoutClosed,
    /// It wrote to its stderr, which is kept in [`AgentProcess::stderr`].
    Stderr,
    /// It no longer reads its stdin.
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
    stdout: Option<pipe::Receiver>,
    /// Its output, cut into lines, and when the last of it was read.
    lines: Framer,
    read_at: Instant,
    /// `None` once it has ended.
    stderr_pipe: Option<pipe::Receiver>,
    /// What it has written to its stderr.
    pub stderr: Stderr,
    /// `None` once nothing is left of it.
    control: Option<UnixStream>,
    /// Where its supervisor goes then.
    idle: Idle,
    /// Nothing that it does reaches its supervisor.
    isolated: bool,
    /// Its own control group, where it has one.
    group: Option<Group>,
    /// An [`AgentEvent::Limit`] has been given.
    limit_reported: bool,
    /// Events that come before all others.
    events: VecDeque<AgentEvent>,
    /// What it has used; from [`AgentEvent::Started`] on.
    meters: Option<Meters>,
}

impl AgentProcess {
    /// Starts a program, on the current runtime. Nothing of it has run when this returns;
    /// [`AgentEvent::Started`] follows.
    pub fn start(
        launcher: &Launcher,
        launch: &Launch,
        surroundings: Surroundings,
        limits: OutputLimits,
    ) -> io::Result<Self> {
        let (agent_stdin, stdin) = io::pipe()?;
        let (stdout, agent_stdout) = io::pipe()?;
        let (stderr, agent_stderr) = io::pipe()?;
        let program = Program {
            file: Bytes::of(&launch.file),
            arguments: launch.command.iter().map(Bytes::of).collect(),
            environment: surroundings.environment,
            folder: Bytes::of(&launch.folder),
            bounds: surroundings.bounds,
            reach: surroundings.reach,
            core: surroundings.core,
        };
        let ends = [agent_stdin.into(), agent_stdout.into(), agent_stderr.into()];
        let (control, group) = launcher.spawn(&program, &ends)?;
        control.set_nonblocking(true)?;
        Ok(Self {
            life: LifeCycle::Starting,
            killed: false,
            stdin: Stdin::new(pipe::Sender::from_owned_fd(OwnedFd::from(stdin))?),
            stdout: Some(pipe::Receiver::from_owned_fd(OwnedFd::from(stdout))?),
            lines: Framer::new(usize::try_from(limits.line_bytes).unwrap_or(usize::MAX)),
            read_at: Instant::now(),
            stderr_pipe: Some(pipe::Receiver::from_owned_fd(OwnedFd::from(stderr))?),
            stderr: Stderr::new(limits.stderr_bytes),
            control: Some(UnixStream::from_std(control)?),
            idle: launcher.idle(),
            isolated: launcher.layers().has(Layer::Scope),
            group,
            limit_reported: false,
            events: VecDeque::new(),
            meters: None,
        })
    }

    /// Where it is in its life.
    pub fn life(&self) -> &LifeCycle {
        &self.life
    }

    /// Its program has not ended, as far as is known.
    pub fn is_running(&self) -> bool {
        !matches!(self.life, LifeCycle::Exited(_) | LifeCycle::Gone(_))
    }

    /// Nothing of it is left.
    pub fn is_gone(&self) -> bool {
        matches!(self.life, LifeCycle::Gone(_))
    }

    /// [`AgentProcess::kill`] has been called.
    pub fn is_killed(&self) -> bool {
        self.killed
    }

    /// Puts bytes to be written with the next [`AgentProcess::flush`].
    pub fn put(&mut self, bytes: &[u8]) {
        self.stdin.put(bytes);
    }

    /// Writes as much as it takes without waiting; the rest follows as it reads.
    /// [`AgentEvent::StdinClosed`] follows if it doesn't read any more, and not because its
    /// supervisor has ended, which is reported as that.
    pub fn flush(&mut self) {
        if self.stdin.flush().is_err() && !self.is_orphaned() {
            self.push_end(AgentEvent::StdinClosed);
        }
    }

    /// Closes its stdin, after what is still to be written. That it no longer reads is not reported
    /// for that, now that nothing is asked of it.
    pub fn close(&mut self) {
        self.stdin.close();
        self.ending();
    }

    /// Kills it with all that it has started; [`AgentEvent::Gone`] follows.
    pub fn kill(&mut self) {
        self.killed = true;
        self.stdin.discard();
        self.lines.clear();
        self.ending();
        self.command(Command::Kill);
    }

    /// From [`LifeCycle::Running`] to [`LifeCycle::Closing`], where that is what has been asked for.
    fn ending(&mut self) {
        if self.life == LifeCycle::Running && (self.killed || self.stdin.is_closing()) {
            self.life = LifeCycle::Closing;
        }
    }

    /// Tells its supervisor something. If that is gone, the tree is dead anyway.
    pub fn command(&self, command: Command) {
        if let Some(control) = &self.control {
            control.try_write(&[command as u8]).ok();
        }
    }

    /// The next thing that it did, and when that was seen. What it wrote to stderr comes before its
    /// lines, and they before the news of its end, so that what was written before is known before
    /// it is judged. `scratch` is for bytes on their way.
    pub fn poll_event(
        &mut self,
        context: &mut Context<'_>,
        scratch: &mut [u8],
    ) -> Poll<(Instant, AgentEvent)> {
        if self.is_gone() && self.killed {
            return Poll::Pending;
        }
        if let Some(event) = self.events.pop_front() {
            return Poll::Ready((Instant::now(), event));
        }
        if let Some(line) = self.buffered_line() {
            return Poll::Ready((self.read_at, AgentEvent::Line(line)));
        }
        if self.life == LifeCycle::Starting {
            // The pipes of a program that could not be started end too, which says less.
            return self.poll_control(context, scratch).map(|event| (Instant::now(), event));
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
        self.poll_stdin(context).map(|event| (Instant::now(), event))
    }

    /// The next of the lines that have been read already: it was written before anything that is
    /// put now could be read.
    pub fn buffered_line(&mut self) -> Option<Line> {
        self.lines.next_line()
    }

    /// Gives an event back, to be the first of those that come.
    pub fn unread(&mut self, event: AgentEvent) {
        self.events.push_front(event);
    }

    /// The beginning of a line whose end has not come.
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
                    // Others come first: it may write faster than it is killed.
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
        if self.is_orphaned() {
            return Poll::Pending;
        }
        let last = self.lines.finish().map(AgentEvent::Line);
        let limit = self.passed_limit();
        self.events.extend(limit.into_iter().chain(last).chain([AgentEvent::StdoutClosed]));
        self.events.pop_front().map_or(Poll::Pending, Poll::Ready)
    }

    /// Its supervisor has ended, and nobody has been told. The kernel closes what a process has open
    /// before it ends those that depend on it: so when the agent's pipes end by that, it shows here.
    fn is_orphaned(&self) -> bool {
        let peek = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
        let ended = |control: &UnixStream| recv(control.as_raw_fd(), &mut [0], peek) == Ok(0);
        self.control.as_ref().is_some_and(ended)
    }

    fn poll_control(&mut self, context: &mut Context<'_>, scratch: &mut [u8]) -> Poll<AgentEvent> {
        let Some(control) = &mut self.control else { return Poll::Pending };
        let mut bytes = [0; REPORT_BYTES];
        let mut buffer = ReadBuf::new(&mut bytes);
        let report = match Pin::new(control).poll_read(context, &mut buffer) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(())) => serde_json::from_slice(buffer.filled()).ok(),
            Poll::Ready(Err(_)) => None,
        };
        let Some(report) = report else {
            // The supervisor itself has ended, which is no fault of an agent that can't do that.
            self.control = None;
            let running = self.life != LifeCycle::Starting;
            self.all_gone(scratch);
            let lost = Trouble { step: Step::Begin, errno: Errno::ECHILD, running };
            let is_innocent = self.isolated || !running;
            let event = if is_innocent { AgentEvent::Broken(lost) } else { AgentEvent::Gone };
            return Poll::Ready(event);
        };
        Poll::Ready(self.reported(report, scratch))
    }

    fn reported(&mut self, report: Report, scratch: &mut [u8]) -> AgentEvent {
        match report {
            Report::Started { pid, reaped_us } => {
                self.meters = Meters::of(Pid::from_raw(pid), Nanos(reaped_us * 1000));
                self.life = LifeCycle::Running;
                self.ending();
                AgentEvent::Started
            }
            Report::Failed(errno) => AgentEvent::Failed(Errno::from_raw(errno)),
            Report::Broken(step, errno) => {
                AgentEvent::Broken(Trouble { step, errno: Errno::from_raw(errno), running: false })
            }
            Report::Limit(limit) => {
                self.limit_reported = true;
                AgentEvent::Limit(limit)
            }
            Report::Continued => AgentEvent::Continued,
            Report::Exited(status) => {
                let status = status_text(ExitStatus::from_raw(status));
                self.life = LifeCycle::Exited(status.clone());
                let exited = AgentEvent::Exited(status);
                let Some(limit) = self.passed_limit() else { return exited };
                self.events.push_back(exited);
                limit
            }
            Report::Gone => {
                if let Some(Ok(control)) = self.control.take().map(UnixStream::into_std) {
                    lock(&self.idle).push(control);
                }
                self.all_gone(scratch);
                AgentEvent::Gone
            }
        }
    }

    /// An event of an end; before it, a limit that it may have come of.
    fn push_end(&mut self, event: AgentEvent) {
        let limit = self.passed_limit();
        self.events.extend(limit.into_iter().chain([event]));
    }

    /// A limit that it went over, unless that has been reported. The kernel counts it before it
    /// kills.
    fn passed_limit(&mut self) -> Option<AgentEvent> {
        let group = self.group.as_ref().filter(|_| !self.limit_reported)?;
        let limit = group.passed()?;
        self.limit_reported = true;
        Some(AgentEvent::Limit(limit))
    }

    /// Nobody is left who could write any more. What was written last may not have been reported yet
    /// by the system, and nobody might ask again.
    fn all_gone(&mut self, scratch: &mut [u8]) {
        let status = match std::mem::replace(&mut self.life, LifeCycle::Gone(None)) {
            LifeCycle::Exited(status) => Some(status),
            _ => None,
        };
        self.life = LifeCycle::Gone(status);
        if let Some(stderr) = self.stderr_pipe.take() {
            while let Ok(count @ 1..) = read(&stderr, scratch) {
                self.stderr.add(&scratch[..count]);
            }
        }
    }

    /// Presses on with a flush that it didn't take whole.
    fn poll_stdin(&mut self, context: &mut Context<'_>) -> Poll<AgentEvent> {
        while self.stdin.poll_blocked(context).is_ready() {
            self.flush();
            if let Some(event) = self.events.pop_front() {
                return Poll::Ready(event);
            }
        }
        Poll::Pending
    }
}

/// What it uses.
impl AgentProcess {
    /// Its meters; from [`AgentEvent::Started`] on.
    pub fn meters(&self) -> Option<&Meters> {
        self.meters.as_ref()
    }

    /// CPU time of the program and of all that it started: by its control group, where it has one.
    pub fn tree_cpu(&self) -> Option<Nanos> {
        let meters = self.meters()?;
        match self.group.as_ref().and_then(Group::cpu) {
            // That of the program's own process is the newer one while it runs.
            Some(cpu) => meters.process_cpu().max(Some(cpu)),
            None => meters.tree_cpu(),
        }
    }

    /// The meters of what is left of it, as long as its supervisor has no other process.
    pub fn meters_left(&self) -> Option<&Meters> {
        self.meters().filter(|_| !self.is_gone())
    }
}

/// Reads what there is: how many bytes, 0 at the end or after an error.
fn poll_pipe(
    pipe: Option<&mut pipe::Receiver>,
    context: &mut Context<'_>,
    scratch: &mut [u8],
) -> Poll<usize> {
    let Some(pipe) = pipe else { return Poll::Pending };
    let mut buffer = ReadBuf::new(scratch);
    match Pin::new(pipe).poll_read(context, &mut buffer) {
        Poll::Pending => Poll::Pending,
        Poll::Ready(Ok(())) => Poll::Ready(buffer.filled().len()),
        Poll::Ready(Err(_)) => Poll::Ready(0),
    }
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
