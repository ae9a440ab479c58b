//! The connection to an agent: its process, and a codec if it speaks another protocol than the
//! referee's own. Its messages are not judged here.

use super::agent_spec::AgentSpec;
use super::reach::refused_program;
use nix::errno::Errno;
use referee_games::{Decoded, Dialect, GameKind};
use referee_match::diagnosis::{Hang, Usage, Wait};
use referee_process::agent::{AgentProcess, Launch, StartConditions};
use referee_process::framer::Line;
use referee_process::launcher::Launcher;
use referee_process::sandbox::Sandbox;
use referee_process::sandbox::reach::Reachable;
use referee_process::usage::Meters;
use referee_process::work_folder;
use referee_protocol::{Limits, Nanos, ToAgent};
use std::cell::OnceCell;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The wait for an agent without a time limit.
pub(crate) const NO_LIMIT: Duration = Duration::from_secs(365 * 24 * 3600);

/// For so long after its answer, the CPU time of an agent's own process is not read again: what it uses
/// until its next request, less than this, then counts with that turn. Reading the clock twice per turn
/// would be a fortieth of the shortest turns.
const SAME_CPU: Duration = Duration::from_micros(100);

/// Replaces the line of a message before it is written.
pub type RewriteMessage = fn(&ToAgent, &str) -> String;

/// An agent's process with its codec.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct AgentConnection {
    /// The process.
    pub process: AgentProcess,
    dialect: Option<Box<dyn Dialect>>,
    /// Whether its last turn was long enough to measure its time waiting for a core.
    slow: bool,
    /// Whether it was seen to have child processes.
    has_children: bool,
    /// Its CPU time when it was last measured in a turn, and when that was.
    measured_cpu: Option<(Instant, Option<Nanos>)>,
    /// The most memory that it had in this match, measured when that or the process began to end, in KiB;
    /// `None` if unknown.
    peak_memory_kb: OnceCell<Option<u64>>,
    /// Replaces the lines of messages in the referee's own protocol.
    pub rewrite: Option<RewriteMessage>,
    /// Why its program can't be started, if nobody granted it.
    refused_program: Option<String>,
    /// Its program's file.
    pub file: PathBuf,
    /// The lines that were exchanged, if they are kept.
    pub exchange: Option<Exchange>,
    /// Whether its process may stay for another match.
    pub may_stay: bool,
    /// Whether it has a request that it has not answered.
    pub is_asked: bool,
    /// What it had used when this match began.
    pub used_before: Usage,
}

/// The lines that were exchanged.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    /// The bytes that were written to the agent.
    pub sent: Vec<u8>,
    /// The lines that came from it; blank ones only if they may have a meaning.
    pub got: Vec<Vec<u8>>,
    /// Keeps only the last request and the last line.
    pub last_only: bool,
}

impl Exchange {
    fn write(&mut self, bytes: &[u8], asks: bool) {
        if asks && self.last_only {
            (self.sent, self.got) = (Vec::new(), Vec::new());
        }
        if asks || !self.last_only {
            self.sent.extend_from_slice(bytes);
        }
    }

    fn line(&mut self, line: &[u8], keeps_blank: bool) {
        if keeps_blank && !self.last_only || !line.iter().all(u8::is_ascii_whitespace) {
            if self.last_only {
                self.got.clear();
            }
            self.got.push(line.to_vec());
        }
    }
}

impl AgentConnection {
    /// Starts an agent, on the current runtime. Nothing of it has run when this returns.
    pub fn start(
        launcher: &Launcher,
        launch: &Launch,
        conditions: StartConditions,
        dialect: Option<Box<dyn Dialect>>,
        reachable: &Reachable,
    ) -> io::Result<Self> {
        let process = AgentProcess::start(launcher, launch, conditions)?;
        let refused_program = reachable.refused_program.as_deref().map(refused_program);
        Ok(Self {
            process,
            dialect,
            slow: true,
            has_children: false,
            measured_cpu: None,
            peak_memory_kb: OnceCell::new(),
            rewrite: None,
            refused_program,
            file: launch.file.clone(),
            exchange: None,
            may_stay: false,
            is_asked: false,
            used_before: Usage::default(),
        })
    }

    /// Begins another match: what it has used and written before doesn't count.
    pub fn begin_again(&mut self) {
        (self.slow, self.measured_cpu) = (true, None);
        self.look_for_children();
        let is_measured = self.process.restart_peak_memory(self.has_children);
        self.peak_memory_kb = if is_measured { OnceCell::new() } else { OnceCell::from(None) };
        self.used_before = Usage { wall: Duration::ZERO, ..self.used(Instant::now()) };
    }

    /// Starts an agent that plays alone, with a private work folder; remove the folder when the agent has
    /// exited. Fails for a person, and for an agent whose protocol the game doesn't support.
    pub fn start_alone(
        launcher: &Launcher,
        sandbox: &Sandbox,
        spec: &AgentSpec,
        kind: GameKind,
        limits: &Limits,
    ) -> io::Result<(Self, TempDir)> {
        let dialect = spec.dialect(kind).map_err(io::Error::other)?;
        spec.check_rules_inside(kind, launcher.layers())?;
        let work = work_folder::create()?;
        let files = spec.files();
        let reachable =
            files.map(|files| sandbox.reachable(launcher.layers(), &files)).unwrap_or_default();
        reachable.check(&spec.name, launcher.layers())?;
        let start = spec.start(work.path(), limits, reachable.reach(work.path()), None, Some(kind));
        let (launch, conditions) =
            start.ok_or_else(|| io::Error::other("a person can't be started"))?;
        let conditions = StartConditions { counts_cpu: true, ..conditions };
        let launch = sandbox.wrapped(&launch, work.path())?;
        let started = Self::start(launcher, &launch, conditions, dialect, &reachable)?;
        Ok((started, work))
    }

    /// Returns why its program could not be started, if the sandbox is the reason for this error.
    pub fn refused_program(&self, errno: Errno) -> Option<&str> {
        let hidden = matches!(errno, Errno::ENOENT | Errno::EACCES);
        self.refused_program.as_deref().filter(|_| hidden)
    }

    /// Whether it speaks another protocol than the referee's own.
    pub fn has_dialect(&self) -> bool {
        self.dialect.is_some()
    }

    /// Queues a message until the next flush: its line, or what the codec makes of it.
    pub fn put(&mut self, message: &ToAgent, line: &[u8]) {
        let asks = matches!(message, ToAgent::Hello(_) | ToAgent::Turn(_));
        if let Some(dialect) = &mut self.dialect {
            dialect.on_message(message);
            return self.put_spoken(asks);
        }
        match self.rewrite {
            None => self.put_bytes(line, asks),
            Some(rewrite) => {
                let line = String::from_utf8_lossy(line);
                self.put_bytes(rewrite(message, &line).as_bytes(), asks);
            }
        }
    }

    /// Writes a message.
    pub fn send(&mut self, message: &ToAgent) {
        let mut line = Vec::new();
        message.write_json(&mut line);
        line.push(b'\n');
        self.put(message, &line);
        self.process.flush();
    }

    /// Decodes a line if there is a codec, and queues the codec's reply.
    pub fn interpret(&mut self, line: &Line) -> Option<Decoded> {
        let dialect = self.dialect.as_mut().filter(|_| !line.cut);
        let meaning = dialect.map(|dialect| dialect.on_line(&line.bytes));
        if meaning.is_some() {
            self.put_spoken(true);
        }
        if let Some(exchange) = &mut self.exchange {
            exchange.line(&line.bytes, meaning.is_some());
        }
        meaning
    }

    fn put_spoken(&mut self, asks: bool) {
        let Some(dialect) = &mut self.dialect else { return };
        let mut bytes = Vec::new();
        dialect.take_output(&mut bytes);
        self.put_bytes(&bytes, asks && !bytes.trim_ascii().is_empty());
    }

    fn put_bytes(&mut self, bytes: &[u8], asks: bool) {
        self.process.put(bytes);
        if let Some(exchange) = &mut self.exchange {
            exchange.write(bytes, asks);
        }
    }

    /// Checks whether it has child processes, unless its last turn was short. If so, their CPU time and
    /// memory count from then on.
    pub fn look_for_children(&mut self) {
        self.has_children |= self.slow && self.process.meters().is_some_and(Meters::has_children);
    }

    /// Whether its process tree is measured, which is slow: always if asked for, else if it has child
    /// processes.
    pub fn counts_whole_tree(&self, always: bool) -> bool {
        always || self.has_children
    }

    /// Returns the most memory that it has had in this match, in KiB, at the time of the first call.
    pub fn peak_memory_kb(&self) -> Option<u64> {
        *self.peak_memory_kb.get_or_init(|| self.process.peak_memory_kb(self.has_children))
    }

    /// Returns the CPU time so far, of the process tree or of its own process.
    pub fn cpu(&self, whole: bool) -> Option<Nanos> {
        if self.counts_whole_tree(whole) {
            self.process.tree_cpu()
        } else {
            self.process.meters()?.process_cpu()
        }
    }

    /// Returns the CPU time for an event in its turn.
    pub fn cpu_in_turn(&mut self, whole: bool, at: Instant) -> Option<Nanos> {
        let cpu = self.cpu(whole);
        self.measured_cpu = Some((at, cpu));
        cpu
    }

    /// Returns the CPU time for a request.
    pub fn cpu_before_turn(&self, whole: bool, now: Instant) -> Option<Nanos> {
        let is_same = |at| now.saturating_duration_since(at) < SAME_CPU;
        match self.measured_cpu {
            Some((at, cpu)) if is_same(at) && !self.counts_whole_tree(whole) => cpu,
            _ => self.cpu(whole),
        }
    }

    /// Returns the time spent waiting for a core so far. Measured only at the end of `long` turns and at
    /// the `beginning` of the turn after one, so that measuring never slows fast agents.
    pub fn wait(&mut self, beginning: bool, long: bool) -> Option<Nanos> {
        let asked = if beginning { self.slow } else { long && self.slow };
        if !beginning {
            self.slow = long;
        }
        if asked { self.process.meters()?.wait() } else { None }
    }

    /// Returns what it has used since its start, `began`.
    pub fn used(&self, began: Instant) -> Usage {
        let time = |nanos: Option<Nanos>| Duration::from_nanos(nanos.unwrap_or_default().0);
        let waited = time(self.process.meters().and_then(Meters::wait));
        let (wall, cpu) = (began.elapsed(), time(self.process.tree_cpu()));
        Usage { wall, cpu, waited, ..Usage::default() }
    }

    /// Returns what it has used since `before`, and whether all its processes sleep now: an agent that
    /// sleeps when its time is over waits for something.
    pub fn used_at_end(&self, began: Instant, before: Usage) -> Usage {
        let asleep = self.process.meters().is_some_and(Meters::is_asleep);
        Usage { asleep, ..self.used(began).since(before) }
    }

    /// Whether it has read all that was sent to it, and sleeps. What it has read has woken it, and what it wakes itself is
    /// awake before it sleeps again: so it has handled that.
    pub fn waits_for_more(&self) -> bool {
        self.process.unread_bytes() == Some(0)
            && self.process.meters_left().is_some_and(Meters::is_asleep)
    }

    /// Returns what it waits for, if it sleeps.
    pub fn hang(&self) -> Hang {
        let left = self.process.meters_left();
        let meters = left.filter(|meters| meters.is_asleep());
        let awake = left.is_some() && meters.is_none();
        let call = meters.and_then(Meters::blocked_call);
        let wait = call.as_ref().and_then(|it| {
            // What it started may have ended, and the pipe may be one of its own.
            let alone = it.reads_pipe && it.process.is_none();
            let wait = Wait::of(it.name, it.reads_stdin, it.reads_pipe, it.is_unlimited);
            wait.map(|wait| if alone { Wait::Thread } else { wait })
        });
        let process = call.and_then(|it| it.process);
        Hang { awake, wait, process, unread: self.process.unread_bytes(), ..Hang::default() }
    }
}
