//! The processes of a game program, on a thread of their own that serves all matches: nobody who plays a
//! match waits on their pipes.

use super::{GameProgram, RulesLimits, kit};
use referee_games::program::{Pending, Rules, RulesFailure};
use referee_games::wire::{Answer, Numbered, Request, WIRE_VERSION};
use referee_process::agent::{AgentEvent, AgentProcess, StartConditions};
use referee_process::framer::Line;
use referee_process::launcher::{Bytes, Launcher};
use referee_process::sandbox::Sandbox;
use referee_process::sandbox::reach::{Reachable, reachable_alone};
use referee_process::usage::Meters;
use referee_process::{Failure, cores, work_folder};
use referee_protocol::sanitize::sanitize;
use referee_protocol::{Limits, Nanos, plain_error};
use serde::Serialize;
use serde_json::Value;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// How long the start of a program may take besides its first answer.
const START: Duration = Duration::from_secs(10);
/// By how much an answer may come later if the machine is the reason: the program hasn't used the CPU time that
/// it may, and doesn't sleep.
const BUSY_FACTOR: u32 = 20;
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long a program may take to exit after it closed its stdout, so that its status is known.
const END_WAIT: Duration = Duration::from_millis(500);
/// How much is read at once.
const SCRATCH_BYTES: usize = 64 << 10;
/// How much of an answer an error shows, in characters.
const QUOTED_MAX: usize = 200;

/// The thread with a game program's processes.
#[derive(Debug)]
pub(super) struct Host {
    rules: HostRules,
    thread: JoinHandle<()>,
}

/// Asks the processes of a host.
#[derive(Clone)]
pub(super) struct HostRules(mpsc::UnboundedSender<Query>);

impl std::fmt::Debug for HostRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostRules")
    }
}

/// Takes an answer.
type Reply = Box<dyn FnOnce(Result<Answer, RulesFailure>) + Send>;

/// Takes an answer as it was written.
type DirectReply = Box<dyn FnOnce(Result<Said, RulesFailure>) + Send>;

/// A request and who gets its answer, or an order.
enum Query {
    Ask(Request, Reply),
    /// A request that is sent as it is, with this id and number of moves, and is not repeated.
    Direct(Value, u64, usize, DirectReply),
    /// Ends the processes; the next request starts another one.
    Restart(Box<dyn FnOnce() + Send>),
    End,
}

/// An answer, and the line in which it was written.
#[derive(Debug)]
pub struct Said {
    /// The line.
    pub line: Vec<u8>,
    /// What it says.
    pub answer: Answer,
}

impl Host {
    /// Starts the thread. The program is started when it is asked something.
    pub(super) fn start(
        program: GameProgram,
        sandbox: Sandbox,
    ) -> Result<(Self, HostRules), Failure> {
        let name = program.spec.name.clone();
        let failed = |error: io::Error| {
            Failure::machine(format!("can't start the rules of {name}: {error}"))
        };
        let (queue, queries) = mpsc::unbounded_channel();
        let (started, has_started) = std::sync::mpsc::channel();
        let run = move || {
            let runtime =
                Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
            let begun = runtime.and_then(|runtime| {
                let processes = runtime.block_on(async { Processes::new(program, sandbox) })?;
                Ok((runtime, Rc::new(processes)))
            });
            match begun {
                Ok((runtime, processes)) => {
                    started.send(Ok(())).ok();
                    runtime.block_on(serve(processes, queries));
                }
                Err(error) => drop(started.send(Err(error))),
            }
        };
        let thread =
            std::thread::Builder::new().name("rules".to_owned()).spawn(run).map_err(failed)?;
        has_started.recv().unwrap_or_else(|error| Err(io::Error::other(error))).map_err(failed)?;
        let rules = HostRules(queue);
        Ok((Self { rules: rules.clone(), thread }, rules))
    }

    /// Ends the processes and waits until they are gone.
    pub(super) fn end(self) {
        self.rules.end();
        self.thread.join().ok();
    }
}

/// The failure when nobody answers any more.
fn ended() -> RulesFailure {
    RulesFailure("the referee is ending".to_owned())
}

impl Rules for HostRules {
    fn send(&self, request: Request) -> Pending<Result<Answer, RulesFailure>> {
        let (reply, answer) = oneshot::channel();
        let reply: Reply = Box::new(|answer| drop(reply.send(answer)));
        self.0.send(Query::Ask(request, reply)).ok();
        Box::pin(async { answer.await.unwrap_or_else(|_| Err(ended())) })
    }

    fn ask(&self, request: Request) -> Result<Answer, RulesFailure> {
        // Not by tokio, which refuses to block a thread with a runtime.
        let (reply, answer) = std::sync::mpsc::sync_channel(1);
        let reply: Reply = Box::new(move |answer| drop(reply.send(answer)));
        self.0.send(Query::Ask(request, reply)).ok();
        answer.recv().unwrap_or_else(|_| Err(ended()))
    }
}

impl HostRules {
    /// Whether both ask the same host.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.same_channel(&other.0)
    }

    /// Ends the processes, whatever they are asked. Waits for nothing.
    pub(super) fn end(&self) {
        self.0.send(Query::End).ok();
    }

    /// Sends a request as it is and waits for the answer. A failure is not repeated.
    pub(super) fn say(&self, request: Value, id: u64, moves: usize) -> Result<Said, RulesFailure> {
        let (reply, said) = std::sync::mpsc::sync_channel(1);
        let reply: DirectReply = Box::new(move |answer| drop(reply.send(answer)));
        self.0.send(Query::Direct(request, id, moves, reply)).ok();
        said.recv().unwrap_or_else(|_| Err(ended()))
    }

    /// Ends the processes and waits until they are gone.
    pub(super) fn restart(&self) {
        let (reply, restarted) = std::sync::mpsc::sync_channel(1);
        self.0.send(Query::Restart(Box::new(move || reply.send(()).unwrap_or_default()))).ok();
        restarted.recv().ok();
    }
}

/// Answers requests, as many at once as there are cores.
async fn serve(processes: Rc<Processes>, mut queries: mpsc::UnboundedReceiver<Query>) {
    let at_once = Arc::new(Semaphore::new(cores::count()));
    while let Some(query) = queries.recv().await {
        let permit = at_once.clone().acquire_owned();
        let processes = processes.clone();
        match query {
            Query::Ask(request, reply) => drop(tokio::task::spawn_local(async move {
                let _permit = permit.await;
                reply(processes.answer(&request).await);
            })),
            Query::Direct(request, id, moves, reply) => {
                drop(tokio::task::spawn_local(async move {
                    let _permit = permit.await;
                    reply(processes.answer_once(&request, moves, Some(id), false).await);
                }));
            }
            Query::Restart(reply) => {
                processes.end_idle().await;
                reply();
            }
            Query::End => break,
        }
    }
    // Requests that are under way are of matches that nobody waits for any more.
    processes.end_idle().await;
}

/// The processes of one program: one for each request that is answered now.
struct Processes {
    program: GameProgram,
    sandbox: Sandbox,
    launcher: Launcher,
    reachable: Reachable,
    /// The folder with the kit.
    kit: TempDir,
    /// Those that wait for a request. The last one is used first.
    idle: RefCell<Vec<Process>>,
}

impl Processes {
    fn new(program: GameProgram, sandbox: Sandbox) -> io::Result<Self> {
        let launcher = Launcher::start(&sandbox.launcher)?;
        let files = program.spec.files();
        let reachable = files
            .map(|files| reachable_alone(launcher.layers(), &files, &sandbox.read))
            .unwrap_or_default();
        reachable.check(&program.spec.name, launcher.layers())?;
        let kit = work_folder::create()?;
        kit::write(&kit.path().join("kit"))?;
        let idle = RefCell::default();
        Ok(Self { program, sandbox, launcher, reachable, kit, idle })
    }

    /// Answers a request. If that fails, once more with another process: what was wrong with the first one may
    /// have come from earlier requests.
    async fn answer(&self, request: &Request) -> Result<Answer, RulesFailure> {
        let moves = if let Request::Walk(walk) = request { walk.moves.len() } else { 0 };
        let said = match self.answer_once(request, moves, None, false).await {
            Err(_) => self.answer_once(request, moves, None, true).await,
            said => said,
        };
        said.map(|said| said.answer)
    }

    async fn answer_once(
        &self,
        request: &impl Serialize,
        moves: usize,
        id: Option<u64>,
        is_new: bool,
    ) -> Result<Said, RulesFailure> {
        let waiting = if is_new { None } else { self.idle.borrow_mut().pop() };
        let mut process =
            if let Some(process) = waiting { process } else { self.started().await? };
        match process.answer(request, moves, id, self.program.time, &self.program.limits).await {
            Ok(Said { answer: Answer::Failed { text }, .. }) => {
                process.agent.kill_and_wait().await.ok();
                Err(RulesFailure(sanitize(&text)))
            }
            Ok(said) => {
                self.idle.borrow_mut().push(process);
                Ok(said)
            }
            Err(text) => {
                let failure = process.explain(text).await;
                process.agent.kill_and_wait().await.ok();
                Err(failure)
            }
        }
    }

    async fn end_idle(&self) {
        let idle = std::mem::take(&mut *self.idle.borrow_mut());
        for mut process in idle {
            process.agent.kill_and_wait().await.ok();
        }
    }

    /// Starts a process, and waits until it has answered its first request, which every process gets.
    async fn started(&self) -> Result<Process, RulesFailure> {
        let started = self.start();
        let mut process = started
            .map_err(|error| RulesFailure(format!("the program can't be started: {error}")))?;
        let first = Request::Describe { protocol: WIRE_VERSION };
        let time = RulesLimits { answer: self.program.time.answer + START, ..self.program.time };
        match process.answer(&first, 0, None, time, &self.program.limits).await {
            Ok(_) => Ok(process),
            Err(text) => {
                let failure = process.explain(text).await;
                process.agent.kill_and_wait().await.ok();
                Err(failure)
            }
        }
    }

    fn start(&self) -> io::Result<Process> {
        let work = work_folder::create()?;
        let mut reach = self.reachable.reach(work.path());
        let kit = self.kit.path().join("kit");
        reach.read.push(Bytes::of(&kit));
        let started = self.program.spec.start(work.path(), &self.program.limits, reach, None, None);
        let (launch, mut conditions) =
            started.ok_or_else(|| io::Error::other("it has no command"))?;
        conditions.environment.push(kit::variable(&kit));
        let conditions = StartConditions { counts_cpu: true, ..conditions };
        let launch = self.sandbox.wrapped(&launch, work.path())?;
        let agent = AgentProcess::start(&self.launcher, &launch, conditions)?;
        let scratch = vec![0; SCRATCH_BYTES];
        Ok(Process { agent, scratch, next_id: 0, words: String::new(), _work: work })
    }
}

/// A process of a program.
struct Process {
    agent: AgentProcess,
    scratch: Vec<u8>,
    next_id: u64,
    /// The last line of its stderr.
    words: String,
    _work: TempDir,
}

impl Process {
    /// Sends a request with this id and number of moves, and reads the answer. An error says what happened instead.
    async fn answer(
        &mut self,
        request: &impl Serialize,
        moves: usize,
        id: Option<u64>,
        time: RulesLimits,
        limits: &Limits,
    ) -> Result<Said, String> {
        let id = id.unwrap_or(self.next_id);
        self.next_id += 1;
        let mut line = serde_json::to_vec(&Numbered { id: Some(id), message: request })
            .map_err(|error| format!("the request can't be written: {error}"))?;
        line.push(b'\n');
        let moves = u32::try_from(moves).unwrap_or(u32::MAX);
        let limit = time.answer.saturating_add(time.ply.saturating_mul(moves));
        let (began, cpu_before) = (Instant::now(), self.agent.tree_cpu());
        let mut wait_until = began + limit;
        self.agent.put(&line);
        self.agent.flush();
        loop {
            match self.next_event(wait_until).await {
                Some(AgentEvent::Line(line)) => {
                    let answer = read_answer(&line, id)?;
                    return Ok(Said { line: line.bytes, answer });
                }
                Some(AgentEvent::Started | AgentEvent::Continued(_)) => {}
                Some(AgentEvent::Stderr) => self.hear(),
                Some(event) => return Err(what_happened(&event, limits)),
                None => {
                    let cpu = self.agent.tree_cpu().zip(cpu_before);
                    let used = cpu.map_or(Nanos(0), |(now, before)| now.since(before));
                    let asleep = self.agent.meters().is_some_and(Meters::is_asleep);
                    let is_machines = !asleep && used < Nanos::from(limit);
                    if !is_machines || began.elapsed() > limit * BUSY_FACTOR {
                        return Err(format!("no answer within {} ms", limit.as_millis()));
                    }
                    wait_until = Instant::now() + LOOK;
                }
            }
        }
    }

    async fn next_event(&mut self, deadline: Instant) -> Option<AgentEvent> {
        let event = poll_fn(|context| self.agent.poll_event(context, &mut self.scratch));
        Some(tokio::time::timeout_at(deadline.into(), event).await.ok()?.1)
    }
}

impl Process {
    /// Keeps the last line of stderr.
    fn hear(&mut self) {
        for piece in self.agent.stderr.finish() {
            for line in piece.text.lines().filter(|line| !line.trim().is_empty()) {
                tracing::debug!("rules: {}", sanitize(line));
                self.words = sanitize(line.trim());
            }
        }
    }

    /// Says what happened, with how the process ended and the last line of its stderr.
    async fn explain(&mut self, text: String) -> RulesFailure {
        let deadline = Instant::now() + END_WAIT;
        let mut text = text;
        while self.agent.is_running() && text == CLOSED {
            match self.next_event(deadline).await {
                Some(AgentEvent::Exited(status)) => text = exited(&status),
                Some(AgentEvent::Stderr) => self.hear(),
                Some(_) => {}
                None => break,
            }
        }
        self.hear();
        if !self.words.is_empty() {
            text = format!("{text}; the last line of its stderr is: {}", self.words);
        }
        RulesFailure(text)
    }
}

/// What is said of a program that closes its stdout before it exits.
const CLOSED: &str = "it closed its stdout";

fn exited(status: &str) -> String {
    format!("it ended with {status} before it had answered")
}

/// Describes an event instead of an answer.
fn what_happened(event: &AgentEvent, limits: &Limits) -> String {
    match event {
        AgentEvent::Failed(errno) => format!("it can't be started: {}", errno.desc()),
        AgentEvent::Broken(failure) => format!("it can't be started: {failure}"),
        AgentEvent::Limit(limit) => limit.describe(limits),
        AgentEvent::OutOfMemory(_) => {
            "the machine had no memory left, and the system killed it".to_owned()
        }
        AgentEvent::Exited(status) => exited(status),
        AgentEvent::StdinClosed => "it closed its stdin".to_owned(),
        _ => CLOSED.to_owned(),
    }
}

/// Reads the line of an answer.
fn read_answer(line: &Line, id: u64) -> Result<Answer, String> {
    if line.cut {
        return Err(format!("its answer is longer than {} bytes", line.bytes.len()));
    }
    let quoted = || {
        let text = String::from_utf8_lossy(&line.bytes);
        sanitize(&text.chars().take(QUOTED_MAX).collect::<String>())
    };
    let answer: Numbered<Answer> = serde_json::from_slice(&line.bytes).map_err(|error| {
        format!("its answer can't be read: {}: {}", plain_error(&error.to_string()), quoted())
    })?;
    match answer.id {
        Some(answered) if answered == id => Ok(answer.message),
        // It could not read the request.
        None if matches!(answer.message, Answer::Failed { .. }) => Ok(answer.message),
        _ => Err(format!("the answer to request {id} has another id: {}", quoted())),
    }
}
