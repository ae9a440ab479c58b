//! The processes of a game program, on a thread of their own that serves all matches: nobody who plays a
//! match waits on their pipes.

use super::{GameProgram, RulesLimits, kit};
use referee_games::program::{Pending, Rules, RulesFailure, check_answer};
use referee_games::wire::{self, Answer, Numbered, Request, WIRE_VERSION};
use referee_match::diagnosis::{cause_line, failure_line};
use referee_process::agent::{AgentEvent, AgentProcess, StartConditions};
use referee_process::framer;
use referee_process::launcher::{Bytes, Launcher};
use referee_process::sandbox::Sandbox;
use referee_process::sandbox::reach::Reachable;
use referee_process::stderr::keep_end;
use referee_process::usage::Meters;
use referee_process::{Failure, cores, work_folder};
use referee_protocol::sanitize::{sanitize, sanitize_line};
use referee_protocol::{Limits, Nanos};
use serde::Serialize;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

/// How long the start of a program may take besides its first answer.
const START: Duration = Duration::from_secs(10);
/// By how much an answer may come later if the machine is the reason: the program hasn't used the CPU time that
/// it may, and doesn't sleep.
const BUSY_FACTOR: u32 = 20;
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long a program may take to exit after it closed its stdout or stdin, so that its status is known. A busy machine
/// reports it late.
const END_WAIT: Duration = Duration::from_secs(3);
/// How often stderr is read after the time for an answer, in case the answer is behind it.
const HEARD_LATE_MAX: u32 = 1000;
/// How much is read at once.
const SCRATCH_BYTES: usize = 64 << 10;
/// How much of stderr is kept.
const WORDS_BYTES_MAX: usize = 16 << 10;
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
pub(super) struct HostRules {
    queue: mpsc::UnboundedSender<Query>,
    /// Whether nobody has named the program.
    is_found: bool,
}

thread_local! {
    /// How long this thread still waits for programs that nobody has named.
    static FOUND_LEFT: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// Lets the calling thread wait for programs that nobody has named only so long, in all: they fail from then on.
pub fn limit_waiting_for_found(most: Duration) {
    FOUND_LEFT.set(Some(most));
}

impl std::fmt::Debug for HostRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostRules")
    }
}

/// Takes an answer.
type Reply<T> = Box<dyn FnOnce(T) + Send>;

/// A request and who gets its answer, or an order.
enum Query {
    Ask(Request, Reply<Result<Answer, RulesFailure>>),
    /// A request that is sent as it is, and is not repeated.
    Direct(Line<Value>, Reply<Result<Said, RulesFailure>>),
    /// Ends the processes; the next request starts another one.
    Restart(Reply<()>),
    End,
}

/// A request as it is sent.
struct Line<T> {
    request: T,
    /// The number of its moves.
    moves: usize,
    /// Its id; `None` for the next one of the process.
    id: Option<u64>,
}

impl Line<&Request> {
    fn of(request: &Request) -> Line<&Request> {
        let moves = if let Request::Walk(walk) = request { walk.moves.len() } else { 0 };
        Line { request, moves, id: None }
    }
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
    /// Starts the thread, which chooses the `sandbox`. The program is started when it is asked something.
    pub(super) fn start(
        program: GameProgram,
        sandbox: impl FnOnce() -> Result<Sandbox, Failure> + Send + 'static,
    ) -> Result<(Self, HostRules), Failure> {
        let (name, is_found) = (program.spec.name.clone(), program.is_found);
        let failed = move |error: io::Error| {
            Failure::machine(format!("can't start the rules of {name}: {error}"))
        };
        let (queue, queries) = mpsc::unbounded_channel();
        let (started, has_started) = std::sync::mpsc::channel();
        let begin = {
            let failed = failed.clone();
            move || {
                // Its self-test needs a runtime of its own, and the caller may have one.
                let sandbox = sandbox()?;
                let runtime = Builder::new_current_thread()
                    .enable_all()
                    .build_local(LocalOptions::default())
                    .map_err(&failed)?;
                let processes = runtime.block_on(async { Processes::new(program, sandbox) });
                Ok((runtime, Rc::new(processes.map_err(&failed)?)))
            }
        };
        let run = move || match begin() {
            Ok((runtime, processes)) => {
                started.send(Ok(())).ok();
                runtime.block_on(serve(processes, queries));
            }
            Err(error) => drop(started.send(Err(error))),
        };
        let thread =
            std::thread::Builder::new().name("rules".to_owned()).spawn(run).map_err(&failed)?;
        has_started.recv().unwrap_or_else(|error| Err(failed(io::Error::other(error))))?;
        let rules = HostRules { queue, is_found };
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
        self.queue.send(Query::Ask(request, Box::new(|answer| drop(reply.send(answer))))).ok();
        Box::pin(async { answer.await.unwrap_or_else(|_| Err(ended())) })
    }

    fn ask(&self, request: Request) -> Result<Answer, RulesFailure> {
        let query = |reply| Query::Ask(request, reply);
        let Some(left) = FOUND_LEFT.get().filter(|_| self.is_found) else {
            return self.wait(query).unwrap_or_else(|| Err(ended()));
        };
        let began = Instant::now();
        let answer = self.asked(query).recv_timeout(left);
        FOUND_LEFT.set(Some(left.saturating_sub(began.elapsed())));
        answer.unwrap_or_else(|error| match error {
            RecvTimeoutError::Timeout => {
                Err(RulesFailure("rules that nobody has named are too slow for a page".to_owned()))
            }
            RecvTimeoutError::Disconnected => Err(ended()),
        })
    }
}

impl HostRules {
    /// Whether both ask the same host.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.queue.same_channel(&other.queue)
    }

    /// Ends the processes, whatever they are asked. Waits for nothing.
    pub(super) fn end(&self) {
        self.queue.send(Query::End).ok();
    }

    /// Sends a request as it is, with this id and number of moves, and waits for the answer. A failure is not repeated.
    pub(super) fn say(&self, request: Value, id: u64, moves: usize) -> Result<Said, RulesFailure> {
        let line = Line { request, moves, id: Some(id) };
        self.wait(|reply| Query::Direct(line, reply)).unwrap_or_else(|| Err(ended()))
    }

    /// Ends the processes and waits until they are gone.
    pub(super) fn restart(&self) {
        self.wait(Query::Restart);
    }

    /// Waits for the answer to a query; `None` if nobody answers any more.
    fn wait<T: Send + 'static>(&self, query: impl FnOnce(Reply<T>) -> Query) -> Option<T> {
        self.asked(query).recv().ok()
    }

    /// Sends a query. The answer doesn't come by tokio, which refuses to block a thread with a runtime.
    fn asked<T: Send + 'static>(&self, query: impl FnOnce(Reply<T>) -> Query) -> Receiver<T> {
        let (reply, answer) = std::sync::mpsc::sync_channel(1);
        self.queue.send(query(Box::new(move |answer| drop(reply.send(answer))))).ok();
        answer
    }
}

/// How long a program that nobody has named waits for a request.
const IDLE_MAX: Duration = Duration::from_secs(10);

/// Answers requests, as many at once as there are cores.
async fn serve(processes: Rc<Processes>, mut queries: mpsc::UnboundedReceiver<Query>) {
    let at_once = Arc::new(Semaphore::new(cores::count()));
    loop {
        let query = match timeout(IDLE_MAX, queries.recv()).await {
            Ok(Some(query)) => query,
            Ok(None) => break,
            Err(_) => {
                // Nobody may want it any more, and there may be many.
                if processes.program.is_found {
                    processes.end_idle().await;
                    processes.launcher.take();
                }
                continue;
            }
        };
        let permit = at_once.clone().acquire_owned();
        let processes = processes.clone();
        match query {
            Query::Ask(request, reply) => drop(tokio::task::spawn_local(async move {
                let _permit = permit.await;
                reply(processes.answer(&request).await);
            })),
            Query::Direct(line, reply) => drop(tokio::task::spawn_local(async move {
                let _permit = permit.await;
                reply(processes.answer_line(&line).await);
            })),
            Query::Restart(reply) => {
                processes.end_idle().await;
                reply(());
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
    /// `None` while nobody has wanted the program for a while, if nobody has named it.
    launcher: RefCell<Option<Rc<Launcher>>>,
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
        let reachable =
            files.map(|files| sandbox.reachable(launcher.layers(), &files)).unwrap_or_default();
        reachable.check(&program.spec.name, launcher.layers())?;
        let kit = work_folder::create()?;
        kit::write(&kit.path().join("kit"))?;
        let (launcher, idle) = (RefCell::new(Some(Rc::new(launcher))), RefCell::default());
        Ok(Self { program, sandbox, launcher, reachable, kit, idle })
    }

    /// Answers a request. If that fails, once more with another process: what was wrong with the first one may
    /// have come from earlier requests.
    async fn answer(&self, request: &Request) -> Result<Answer, RulesFailure> {
        match self.answer_once(request, false).await {
            Err(_) => self.answer_once(request, true).await,
            answer => answer,
        }
    }

    async fn answer_once(&self, request: &Request, is_new: bool) -> Result<Answer, RulesFailure> {
        if let Request::Describe { .. } = request {
            // Every process has answered that when it starts.
            let (process, said) = self.started().await?;
            self.idle.borrow_mut().push(process);
            return Ok(said.answer);
        }
        let (process, said) = self.asked_any(&Line::of(request), is_new).await?;
        if let Err(failure) = check_answer(request, &said.answer) {
            process.end().await;
            return Err(failure);
        }
        self.idle.borrow_mut().push(process);
        Ok(said.answer)
    }

    /// Answers a request as it is, once.
    async fn answer_line(&self, line: &Line<Value>) -> Result<Said, RulesFailure> {
        let (process, said) = self.asked_any(line, false).await?;
        self.idle.borrow_mut().push(process);
        Ok(said)
    }

    /// Asks a process that waits, or a new one.
    async fn asked_any(
        &self,
        line: &Line<impl Serialize>,
        is_new: bool,
    ) -> Result<(Process, Said), RulesFailure> {
        let waiting = if is_new { None } else { self.idle.borrow_mut().pop() };
        let process = match waiting {
            Some(process) => process,
            None => self.started().await?.0,
        };
        self.asked(process, line, self.program.time).await
    }

    /// Starts a process, and returns it with its answer to the first request, which every process gets.
    async fn started(&self) -> Result<(Process, Said), RulesFailure> {
        let process = self
            .start()
            .map_err(|error| RulesFailure(format!("the program can't be started: {error}")))?;
        let first = Request::Describe { protocol: WIRE_VERSION };
        let time = RulesLimits { answer: self.program.time.answer + START, ..self.program.time };
        self.asked(process, &Line::of(&first), time).await
    }

    /// Asks a process. If it fails, it is ended.
    async fn asked(
        &self,
        mut process: Process,
        line: &Line<impl Serialize>,
        time: RulesLimits,
    ) -> Result<(Process, Said), RulesFailure> {
        let failure = match process.answer(line, time, &self.program.limits).await {
            Ok(Said { answer: Answer::Failed { text }, .. }) => RulesFailure(said_line(&text)),
            Ok(said) => return Ok((process, said)),
            Err(text) => process.explain(text).await,
        };
        process.end().await;
        Err(failure)
    }

    async fn end_idle(&self) {
        let idle = std::mem::take(&mut *self.idle.borrow_mut());
        for process in idle {
            process.end().await;
        }
    }

    fn launcher(&self) -> io::Result<Rc<Launcher>> {
        let mut launcher = self.launcher.borrow_mut();
        if let Some(launcher) = &*launcher {
            return Ok(launcher.clone());
        }
        Ok(launcher.insert(Rc::new(Launcher::start(&self.sandbox.launcher)?)).clone())
    }

    fn start(&self) -> io::Result<Process> {
        let work = work_folder::create()?;
        let mut reach = self.reachable.reach(work.path());
        let kit = self.kit.path().join("kit");
        reach.read.push(Bytes::of(&kit));
        let started = self.program.spec.start(work.path(), &self.program.limits, reach, None, None);
        let (mut launch, conditions) =
            started.ok_or_else(|| io::Error::other("it has no command"))?;
        launch.env = kit::environment(&launch.env, &kit);
        let conditions = StartConditions { counts_cpu: true, ..conditions };
        let launch = self.sandbox.wrapped(&launch, work.path())?;
        let agent = AgentProcess::start(&*self.launcher()?, &launch, conditions)?;
        let scratch = vec![0; SCRATCH_BYTES];
        Ok(Process { agent, scratch, next_id: 0, words: String::new(), _work: work })
    }
}

/// A process of a program.
struct Process {
    agent: AgentProcess,
    scratch: Vec<u8>,
    next_id: u64,
    /// The end of what it wrote to stderr since the last request.
    words: String,
    _work: TempDir,
}

impl Process {
    /// Sends a request, and reads the answer. An error says what happened instead.
    async fn answer(
        &mut self,
        Line { request, moves, id }: &Line<impl Serialize>,
        time: RulesLimits,
        limits: &Limits,
    ) -> Result<Said, String> {
        let id = id.unwrap_or(self.next_id);
        self.next_id += 1;
        let mut line = serde_json::to_vec(&Numbered { id: Some(id), message: request })
            .map_err(|error| format!("the request can't be written: {error}"))?;
        line.push(b'\n');
        let moves = u32::try_from(*moves).unwrap_or(u32::MAX);
        let limit = time.answer.saturating_add(time.ply.saturating_mul(moves));
        let began = Instant::now();
        let mut used = Used::new(&self.agent);
        let (mut wait_until, mut heard_late) = (began + limit, 0);
        let mut ended = None;
        self.words.clear();
        self.agent.put(&line);
        self.agent.flush();
        loop {
            match self.next_event(wait_until).await {
                Some(AgentEvent::Line(line)) => {
                    let answer = read_answer(&line, id)?;
                    return Ok(Said { line: line.bytes, answer });
                }
                Some(AgentEvent::Started | AgentEvent::Continued(_)) => {}
                Some(AgentEvent::Stderr) => {
                    self.hear();
                    heard_late += u32::from(Instant::now() >= wait_until);
                    if heard_late > HEARD_LATE_MAX {
                        return Err(no_answer(limit));
                    }
                }
                // Its answer may still be in the pipe: on a busy machine its end is seen first.
                Some(AgentEvent::Exited(status)) => {
                    ended = Some(status);
                    wait_until = Instant::now() + END_WAIT;
                }
                Some(event) => {
                    let happened = || what_happened(&event, limits);
                    return Err(ended.as_deref().map_or_else(happened, exited));
                }
                None if ended.is_some() => return Err(exited(&ended.unwrap_or_default())),
                None => {
                    let asleep = self.agent.meters().is_some_and(Meters::is_asleep);
                    let is_machines = !asleep && used.until_now(&self.agent) < Nanos::from(limit);
                    if !is_machines || began.elapsed() > limit * BUSY_FACTOR {
                        return Err(no_answer(limit));
                    }
                    wait_until = Instant::now() + LOOK;
                }
            }
        }
    }

    async fn end(mut self) {
        self.agent.kill_and_wait().await.ok();
    }

    async fn next_event(&mut self, deadline: Instant) -> Option<AgentEvent> {
        let event = poll_fn(|context| self.agent.poll_event(context, &mut self.scratch));
        Some(tokio::time::timeout_at(deadline.into(), event).await.ok()?.1)
    }

    /// Keeps the end of stderr.
    fn hear(&mut self) {
        for piece in self.agent.stderr.finish() {
            for line in piece.text.lines().filter(|line| !line.trim().is_empty()) {
                tracing::debug!("rules: {}", sanitize(line));
            }
            keep_end(&mut self.words, &piece.text, WORDS_BYTES_MAX);
        }
    }

    /// Says what happened, with how the process ended and the cause that it wrote to stderr.
    async fn explain(&mut self, text: String) -> RulesFailure {
        let deadline = Instant::now() + END_WAIT;
        let mut text = text;
        while self.agent.is_running() && [CLOSED, CLOSED_STDIN].contains(&text.as_str()) {
            match self.next_event(deadline).await {
                Some(AgentEvent::Exited(status)) => text = exited(&status),
                Some(AgentEvent::Stderr) => self.hear(),
                Some(_) => {}
                None => break,
            }
        }
        // What it wrote after the last look at its stderr, and before it ended.
        for _ in 0..HEARD_LATE_MAX {
            let Some(AgentEvent::Stderr) = self.next_event(Instant::now()).await else { break };
            self.hear();
        }
        self.hear();
        if let Some(line) = failure_line(&self.words) {
            text = format!("{text}; its stderr says: {line}");
        }
        RulesFailure(text)
    }
}

/// The CPU time of a process since a request, for the few requests that take long.
struct Used {
    own: Option<Nanos>,
    /// That of its whole tree, which takes longer to measure than most requests to answer, when it was first needed.
    tree: Option<Nanos>,
}

impl Used {
    fn new(agent: &AgentProcess) -> Self {
        Self { own: own_cpu(agent), tree: None }
    }

    fn until_now(&mut self, agent: &AgentProcess) -> Nanos {
        let since = |now: Option<Nanos>, before: Option<Nanos>| {
            now.zip(before).map_or(Nanos(0), |(now, before)| now.since(before))
        };
        let tree = agent.tree_cpu();
        self.tree = self.tree.or(tree);
        since(own_cpu(agent), self.own).max(since(tree, self.tree))
    }
}

fn own_cpu(agent: &AgentProcess) -> Option<Nanos> {
    agent.meters().and_then(Meters::process_cpu)
}

/// How the failure begins if a program doesn't answer in time.
pub const NO_ANSWER: &str = "no answer within";

fn no_answer(limit: Duration) -> String {
    format!("{NO_ANSWER} {} ms", limit.as_millis())
}

/// What is said of a program that closes its stdout before it exits, and of one that closes its stdin.
const CLOSED: &str = "it closed its stdout";
const CLOSED_STDIN: &str = "it closed its stdin";

fn exited(status: &str) -> String {
    format!("it ended with {status} before it had answered")
}

/// Returns the line that says why the rules failed, of the text in which they say so, which may be a whole stack.
fn said_line(text: &str) -> String {
    cause_line(text).unwrap_or_else(|| sanitize_line(text))
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
        AgentEvent::StdinClosed => CLOSED_STDIN.to_owned(),
        _ => CLOSED.to_owned(),
    }
}

/// How the failure begins if an answer is not as the page on game programs says, and what follows the reason.
pub const UNREADABLE: &str = "its answer can't be read";
pub const QUOTED: &str = "; it begins: ";

/// Reads the line of an answer.
fn read_answer(line: &framer::Line, id: u64) -> Result<Answer, String> {
    if line.cut {
        return Err(format!("its answer is longer than {} bytes", line.bytes.len()));
    }
    let quoted = || {
        let text = String::from_utf8_lossy(&line.bytes);
        sanitize(&text.chars().take(QUOTED_MAX).collect::<String>())
    };
    let answer = wire::read_answer(&line.bytes)
        .map_err(|error| format!("{UNREADABLE}: {error}{QUOTED}{}", quoted()))?;
    match answer.id {
        Some(answered) if answered == id => Ok(answer.message),
        // It could not read the request.
        None if matches!(answer.message, Answer::Failed { .. }) => Ok(answer.message),
        _ => Err(format!("the answer to request {id} has another id: {}", quoted())),
    }
}
