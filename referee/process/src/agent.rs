//! One agent's process as a match sees it: its pipes, what is to be written to it, what it has
//! written, and how it ended. It decides nothing.

use super::framer::Framer;
use super::launcher::{
    AgentEnds, Bounds, Bytes, Command, Group, Idle, Launcher, Limit, Program, REPORT_BYTES, Reach,
    Report, Step,
};
use super::stderr::Stderr;
use super::usage::Meters;
use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::sys::socket::{MsgFlags, recv};
use nix::unistd::{Pid, read};
use referee_games::{Dialect, Meaning};
use referee_protocol::{Layer, Nanos, ToAgent};
use std::fmt;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::pin::Pin;
use std::process::ExitStatus;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// What is started for a seat.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The file of the program, resolved.
    pub file: std::path::PathBuf,
    /// Program and arguments, as they were given.
    pub command: Vec<String>,
    /// The working directory.
    pub folder: std::path::PathBuf,
}

/// Where a program is started.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Its whole environment.
    pub environment: Vec<Bytes>,
    /// What it may use.
    pub bounds: Bounds,
    /// What it may reach.
    pub reach: Reach,
    /// The core that it is to stay on, where it is to stay on one.
    pub core: Option<usize>,
}

/// What the machine could not do to start an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// At which step.
    pub step: Step,
    /// What the system said.
    pub errno: Errno,
    /// The agent ran already.
    pub running: bool,
}

impl Trouble {
    /// The cause of the void match that follows.
    pub fn cause(self) -> &'static str {
        match self.step {
            Step::Begin => "machine",
            Step::Layer(_) => "sandbox",
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            _ if self.running => f.write_str("its supervisor was lost"),
            Step::Begin => {
                write!(f, "can't be started: the supervisor failed: {}", self.errno.desc())
            }
            Step::Layer(layer) => {
                write!(
                    f,
                    "can't be started: the sandbox's {} failed: {}",
                    layer.name(),
                    self.errno.desc()
                )
            }
        }
    }
}

/// A running agent.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact that is independent of the others"
)]
pub struct Agent {
    /// `None` once nothing more will be written.
    stdin: Option<pipe::Sender>,
    /// `None` once it has ended.
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
    /// `None` once nothing is left of it.
    control: Option<UnixStream>,
    /// Where its supervisor goes then.
    idle: Idle,
    /// Nothing that it does reaches its supervisor.
    bounded: bool,
    /// Its own control group, where it has one.
    group: Option<Group>,
    /// That it went over a limit is told,
    limit_told: bool,
    /// and this is what came of it.
    next: Option<Sign>,
    /// Bytes on their way to the agent: from `sent` on they are still to be written.
    outbox: Vec<u8>,
    sent: usize,
    /// A flush has begun that the agent didn't take whole.
    blocked: bool,
    /// Nothing more will be put: the end of the outbox is the end of its stdin.
    closing: bool,
    /// Its output, cut into lines.
    pub framer: Framer,
    /// The codec, where it speaks another protocol than the referee's own.
    pub dialect: Option<Box<dyn Dialect>>,
    /// What it has written to its stderr.
    pub complaints: Stderr,
    /// What it has used; from [`Sign::Started`] on.
    pub meters: Option<Meters>,
    /// The tree is being killed or is dead: nothing is written or judged any more.
    pub killed: bool,
    /// Its program is known to run, or to have run.
    started: bool,
    /// Its own process has ended.
    pub exited: bool,
    /// Its end has been told already: it was killed for not ending by itself.
    pub status_told: bool,
    /// Its last turn took long enough to ask how long it waited for a core.
    pub slow: bool,
    /// Nothing of it is left, or its supervisor is gone. What it wrote to its stdout before may still
    /// be on its way.
    pub gone: bool,
}

/// Something that an agent did.
#[derive(Debug)]
pub enum Sign {
    /// Its program runs.
    Started,
    /// Its program could not be started.
    Failed(Errno),
    /// The machine could not start it.
    Broken(Trouble),
    /// Its tree went over a limit, and is being killed.
    Limit(Limit),
    /// Its processes run again.
    Continued,
    /// It ended, with this status in words.
    Exited(String),
    /// Nothing is left of it.
    Gone,
    /// It wrote this many bytes of output, which lie in the scratch buffer.
    Output(usize),
    /// Its stdout ended.
    Closed,
    /// It wrote to its stderr, which is kept in `complaints`.
    Complained,
    /// It no longer reads.
    Deaf,
}

impl Agent {
    /// Starts a program. Nothing of it has run when this
    /// returns; [`Sign::Started`] follows.
    pub fn start(
        launcher: &Launcher,
        launch: &Launch,
        surroundings: Surroundings,
        stderr_bytes: u64,
    ) -> io::Result<Self> {
        let (agent_stdin, stdin) = io::pipe()?;
        let (stdout, agent_stdout) = io::pipe()?;
        let (stderr, agent_stderr) = io::pipe()?;
        let program = Program {
            file: launch.file.clone().into(),
            arguments: launch.command.iter().map(|word| word.as_str().into()).collect(),
            environment: surroundings.environment,
            folder: launch.folder.clone().into(),
            bounds: surroundings.bounds,
            reach: surroundings.reach,
            core: surroundings.core,
        };
        let ends = AgentEnds {
            stdin: agent_stdin.into(),
            stdout: agent_stdout.into(),
            stderr: agent_stderr.into(),
        };
        let (control, group) = launcher.spawn(&program, &ends)?;
        control.set_nonblocking(true)?;
        Ok(Self {
            stdin: Some(pipe::Sender::from_owned_fd(OwnedFd::from(stdin))?),
            stdout: Some(pipe::Receiver::from_owned_fd(OwnedFd::from(stdout))?),
            stderr: Some(pipe::Receiver::from_owned_fd(OwnedFd::from(stderr))?),
            control: Some(UnixStream::from_std(control)?),
            idle: launcher.idle(),
            bounded: launcher.layers().has(Layer::Scope),
            group,
            limit_told: false,
            next: None,
            outbox: Vec::new(),
            sent: 0,
            blocked: false,
            closing: false,
            framer: Framer::default(),
            dialect: None,
            complaints: Stderr::new(stderr_bytes),
            meters: None,
            killed: false,
            started: false,
            exited: false,
            status_told: false,
            slow: true,
            gone: false,
        })
    }

    /// Puts bytes to be written with the next [`Agent::flush`].
    pub fn put(&mut self, bytes: &[u8]) {
        if self.stdin.is_some() && !self.killed {
            self.outbox.extend_from_slice(bytes);
        }
    }

    /// Puts a message: its line, or what its codec makes of it.
    pub fn tell(&mut self, message: &ToAgent, line: &[u8]) {
        match &mut self.dialect {
            None => self.put(line),
            Some(dialect) => {
                dialect.tell(message);
                self.put_spoken();
            }
        }
    }

    /// What a line means, where a codec reads its lines; what follows from it is put.
    pub fn hear(&mut self, line: &[u8]) -> Option<Meaning> {
        let meaning = self.dialect.as_mut()?.hear(line);
        self.put_spoken();
        Some(meaning)
    }

    fn put_spoken(&mut self) {
        if let Some(dialect) = &mut self.dialect {
            let mut bytes = Vec::new();
            dialect.take(&mut bytes);
            self.put(&bytes);
        }
    }

    /// Writes as much as the agent takes without waiting; the rest follows as it reads. False if it
    /// doesn't read any more, and not because its supervisor has ended, which is told as that.
    #[must_use]
    pub fn flush(&mut self) -> bool {
        let Some(stdin) = &self.stdin else { return true };
        while self.sent < self.outbox.len() {
            match stdin.try_write(&self.outbox[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.blocked = true;
                    return true;
                }
                Err(_) => {
                    self.stdin = None;
                    return self.is_orphaned();
                }
            }
        }
        self.outbox.clear();
        self.sent = 0;
        self.blocked = false;
        if self.closing {
            self.stdin = None;
        }
        true
    }

    /// Closes its stdin, after what is still to be written.
    pub fn close(&mut self) {
        self.closing = true;
        // One that doesn't read any more is not told so, now that nothing is asked of it.
        let _reads = self.flush();
    }

    /// Kills it with all that it has started; [`Sign::Gone`] follows.
    pub fn kill(&mut self) {
        self.killed = true;
        self.stdin = None;
        self.command(Command::Kill);
    }

    /// Tells its supervisor something. If that is gone, the tree is dead anyway.
    pub fn command(&self, command: Command) {
        if let Some(control) = &self.control {
            control.try_write(&[command.to_byte()]).ok();
        }
    }

    /// The next thing that it did. Complaints come before output and that before the news of its
    /// end, so that what was written before is known before it is judged.
    pub fn poll_sign(&mut self, context: &mut Context<'_>, scratch: &mut [u8]) -> Poll<Sign> {
        if self.gone && self.killed {
            return Poll::Pending;
        }
        if !self.started {
            // The pipes of a program that could not be started end too, which says less.
            return self.poll_control(context, scratch);
        }
        if let Some(sign) = self.next.take() {
            return Poll::Ready(sign);
        }
        if self.poll_stderr(context, scratch).is_ready() {
            return Poll::Ready(Sign::Complained);
        }
        if let Poll::Ready(sign) = self.poll_stdout(context, scratch) {
            return Poll::Ready(sign);
        }
        if let Poll::Ready(sign) = self.poll_control(context, scratch) {
            return Poll::Ready(sign);
        }
        self.poll_outbox(context)
    }

    fn poll_stderr(&mut self, context: &mut Context<'_>, scratch: &mut [u8]) -> Poll<()> {
        match poll_pipe(self.stderr.as_mut(), context, scratch) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(0) => {
                self.stderr = None;
                Poll::Pending
            }
            Poll::Ready(count) => {
                self.complaints.add(&scratch[..count]);
                Poll::Ready(())
            }
        }
    }

    fn poll_stdout(&mut self, context: &mut Context<'_>, scratch: &mut [u8]) -> Poll<Sign> {
        match poll_pipe(self.stdout.as_mut(), context, scratch) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(0) => {
                self.stdout = None;
                if self.is_orphaned() {
                    return Poll::Pending;
                }
                Poll::Ready(self.after_limit(Sign::Closed))
            }
            Poll::Ready(count) => Poll::Ready(Sign::Output(count)),
        }
    }

    /// Its supervisor has ended, and nobody has been told. The kernel closes what a process has open
    /// before it ends those that depend on it: so when the agent's pipes end by that, it shows here.
    fn is_orphaned(&self) -> bool {
        let peek = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
        let ended = |control: &UnixStream| recv(control.as_raw_fd(), &mut [0], peek) == Ok(0);
        self.control.as_ref().is_some_and(ended)
    }

    fn poll_control(&mut self, context: &mut Context<'_>, scratch: &mut [u8]) -> Poll<Sign> {
        let Some(control) = &mut self.control else { return Poll::Pending };
        let mut bytes = [0; REPORT_BYTES];
        let mut buffer = ReadBuf::new(&mut bytes);
        let whole = match Pin::new(control).poll_read(context, &mut buffer) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(read) => read.is_ok() && buffer.filled().len() == REPORT_BYTES,
        };
        let report = if whole { Report::from_bytes(bytes) } else { None };
        let Some(report) = report else {
            // The supervisor itself has ended, which is no fault of an agent that can't do that.
            self.control = None;
            self.all_gone(scratch);
            let running = self.started;
            let lost = Trouble { step: Step::Begin, errno: Errno::ECHILD, running };
            let is_innocent = self.bounded || !self.started;
            return Poll::Ready(if is_innocent { Sign::Broken(lost) } else { Sign::Gone });
        };
        Poll::Ready(self.reported(report, scratch))
    }

    fn reported(&mut self, report: Report, scratch: &mut [u8]) -> Sign {
        match report {
            Report::Started { pid, reaped_us } => {
                self.started = true;
                self.meters = Meters::of(Pid::from_raw(pid), Nanos(reaped_us * 1000));
                Sign::Started
            }
            Report::Failed(errno) => Sign::Failed(Errno::from_raw(errno)),
            Report::Broken(step, errno) => {
                Sign::Broken(Trouble { step, errno: Errno::from_raw(errno), running: false })
            }
            Report::Limit(limit) => {
                self.limit_told = true;
                Sign::Limit(limit)
            }
            Report::Continued => Sign::Continued,
            Report::Exited(status) => {
                self.exited = true;
                self.after_limit(Sign::Exited(status_text(ExitStatus::from_raw(status))))
            }
            Report::Gone => {
                if let Some(Ok(control)) = self.control.take().map(UnixStream::into_std) {
                    self.idle.put(control);
                }
                self.all_gone(scratch);
                Sign::Gone
            }
        }
    }

    /// A sign of an end that may have come of a limit, which is told first. The kernel counts that
    /// before it kills.
    pub fn after_limit(&mut self, sign: Sign) -> Sign {
        let passed = self.group.as_ref().filter(|_| !self.limit_told).and_then(Group::passed);
        let Some(limit) = passed else { return sign };
        self.limit_told = true;
        self.next = Some(sign);
        Sign::Limit(limit)
    }

    /// CPU time of the agent and of all that it started: by its control group, where it has one.
    pub fn tree_cpu(&self) -> Option<Nanos> {
        let meters = self.meters.as_ref()?;
        match self.group.as_ref().and_then(Group::cpu) {
            // That of the agent's own process is the newer one while it runs.
            Some(cpu) => meters.process_cpu().max(Some(cpu)),
            None => meters.tree_cpu(),
        }
    }

    /// Nobody is left who could write any more. What was written last may not have been told yet by
    /// the system, and nobody might ask again.
    fn all_gone(&mut self, scratch: &mut [u8]) {
        self.gone = true;
        if let Some(stderr) = self.stderr.take() {
            while let Ok(count @ 1..) = read(&stderr, scratch) {
                self.complaints.add(&scratch[..count]);
            }
        }
    }

    /// Presses on with a flush that the agent didn't take whole.
    fn poll_outbox(&mut self, context: &mut Context<'_>) -> Poll<Sign> {
        while self.blocked {
            let Some(stdin) = &self.stdin else { return Poll::Pending };
            if stdin.poll_write_ready(context).is_pending() {
                return Poll::Pending;
            }
            if !self.flush() {
                return Poll::Ready(self.after_limit(Sign::Deaf));
            }
        }
        Poll::Pending
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
