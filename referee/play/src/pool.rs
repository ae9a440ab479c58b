//! Playing many matches: one runtime per core, which take matches in the order in which they are
//! queued.

use super::agent_spec::AgentSpec;
use super::connection::AgentConnection;
use super::core_context::{CoreContext, Orders, PausedTime};
use super::destination::Destination;
use super::drive::{FREEZE_AFTER, Finished, GRACE, MatchParts, drive};
use super::human::HumanInput;
use super::kept::{KeptAgent, KeptAgents};
use super::lag_probe::PERIOD;
use super::match_settings::{MatchSettings, header};
use super::participant::Participant;
use super::running_matches::RunningMatches;
use super::sink::Sink;
use crate::reach::ReadableFiles;
use referee_games::{AnyGame, GameKind};
use referee_match::{Match, draw_key_sha256, drawer};
use referee_process::agent::StartConditions;
use referee_process::cleaning::{Cleaner, Cleaning};
use referee_process::cores;
use referee_process::launcher::Launcher;
use referee_process::sandbox::Sandbox;
use referee_process::timers::Ticker;
use referee_process::usage::SEES_SLEEP;
use referee_process::work_folder::{WorkFolder, WorkFolders};
use referee_protocol::{ClockKind, Event, Header, Pondering, SandboxRecord, Seat};
use serde_json::Value;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::sync::{Mutex, mpsc, watch};

/// A match to play.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its number in its series, from 0.
    pub number: u64,
    /// The game.
    pub kind: GameKind,
    /// Its setup.
    pub setup: Value,
    /// The agents, in seat order.
    pub seated: Vec<Arc<AgentSpec>>,
    /// Clock and limits.
    pub conditions: MatchSettings,
    /// The seats whose agents may cause no more void matches.
    pub no_void: Vec<Seat>,
    /// The match's seed, below 2^53.
    pub seed: u64,
    /// The key of its draws, if they don't follow from the seed.
    pub draw_key: Option<String>,
    /// The files that the agents of its series may read.
    pub readable_files: Arc<ReadableFiles>,
    /// Where people play.
    pub human_input: HumanInput,
    /// Where the transcript goes.
    pub destination: Destination,
    /// Whether nothing of a game with hidden information is shown before it is over.
    pub hides: bool,
    /// Whether somebody waits for this match alone: its transcript is on the disk when the result is reported, and an
    /// agent that doesn't answer is examined.
    pub is_single: bool,
}

/// A match that was played, or failed.
#[derive(Debug)]
pub struct Played {
    /// Its number.
    pub number: u64,
    /// The match, or why it failed.
    pub result: io::Result<Finished>,
    /// Its transcript.
    pub transcript: Option<PathBuf>,
}

/// Makes the watcher for a game's number.
pub type Watching = dyn Fn(u64) -> Box<dyn FnMut(&Event, &Match)> + Send + Sync;

/// Returns a [`Watching`] that does nothing.
pub fn unwatched() -> Box<Watching> {
    Box::new(|_| Box::new(|_, _| ()))
}

/// How many matches run at once, and where.
#[derive(Clone, Copy, Debug)]
pub struct PoolSize {
    /// How many matches may run at once.
    pub matches: usize,
    /// Whether matches and their agents are pinned to a core.
    pub pin: bool,
    /// Whether agents that choose at once may use the cores that no match needs.
    pub uses_free_cores: bool,
}

impl PoolSize {
    /// Returns how many agents may want the cores at once, in matches of so many seats: those of a match that is pinned
    /// share one core, however many there are.
    pub fn agents(self, seats: usize) -> usize {
        if self.pin && seats > 1 { usize::MAX } else { self.matches.saturating_mul(seats) }
    }

    /// Returns how many agents of a match may think beside the one that is asked first.
    fn beside(self, cores: usize) -> usize {
        let has_own = self.uses_free_cores && !self.pin;
        if has_own { (cores / self.matches.max(1)).saturating_sub(1) } else { 0 }
    }
}

/// A pool of threads that play matches, one per core.
#[derive(Debug)]
pub struct Pool {
    /// Queues matches. When it is dropped, the pool ends after the matches it has.
    pub jobs: mpsc::Sender<Job>,
    /// The matches as they end, in any order.
    pub results: mpsc::Receiver<Played>,
    /// Join them when the results have ended.
    pub threads: Threads,
}

/// The threads of a pool.
#[derive(Debug)]
pub struct Threads {
    matches: Vec<std::thread::JoinHandle<()>>,
    cleaning: Cleaning,
}

impl Threads {
    /// Waits until everything is cleaned up. Call it when the results have ended.
    pub fn join(self) {
        for thread in self.matches {
            thread.join().ok();
        }
        self.cleaning.join();
    }
}

/// Waits until one more match can be queued; `None` if there is no queue.
pub async fn reserve_slot(jobs: Option<&mpsc::Sender<Job>>) -> Option<mpsc::Permit<'_, Job>> {
    jobs?.reserve().await.ok()
}

/// What all cores of a pool share.
struct Shared {
    launcher: Arc<Launcher>,
    sandbox: Arc<Sandbox>,
    cleaner: Cleaner,
    jobs: Mutex<mpsc::Receiver<Job>>,
    results: mpsc::Sender<Played>,
    watching: Box<Watching>,
    playing: RunningMatches,
    orders: watch::Receiver<Orders>,
    paused: PausedTime,
}

impl Pool {
    /// Starts the threads. `orders` go to every match, all agents are started in `sandbox`, and
    /// running matches are listed in `playing`.
    pub fn start(
        size: PoolSize,
        sandbox: Sandbox,
        orders: watch::Receiver<Orders>,
        paused: PausedTime,
        watching: Box<Watching>,
        playing: RunningMatches,
    ) -> io::Result<Self> {
        let launcher = Arc::new(Launcher::start(&sandbox.launcher)?);
        let (cleaner, cleaning) = Cleaner::start()?;
        let cores = cores::count();
        let matches = size.matches.max(1);
        let count = matches.min(cores);
        let (sender, results) = mpsc::channel(matches * 2);
        // Room for only one, so that a match is not begun long after it was queued.
        let (jobs, asked) = mpsc::channel(1);
        let shared = Arc::new(Shared {
            launcher,
            sandbox: Arc::new(sandbox),
            cleaner,
            jobs: Mutex::new(asked),
            results: sender,
            watching,
            playing,
            orders,
            paused,
        });
        let pinned_to = if size.pin { cores::allowed() } else { Vec::new() };
        let (started, starts) = std::sync::mpsc::channel();
        let matches = (0..count)
            .map(|thread| {
                let (shared, started) = (shared.clone(), started.clone());
                let core = pinned_to.get(thread).copied();
                let beside = size.beside(cores);
                let at_once = matches / count + usize::from(thread < matches % count);
                let run = move || match local_runtime() {
                    Ok((runtime, timer)) => {
                        started.send(Ok(())).ok();
                        one_core(&runtime, &shared, timer, at_once, (core, beside));
                    }
                    Err(error) => drop(started.send(Err(error))),
                };
                std::thread::Builder::new()
                    .name(format!("{}{thread}", cores::MATCH_THREAD))
                    .spawn(run)
            })
            .collect::<io::Result<Vec<_>>>()?;
        drop(started);
        starts.iter().take(count).collect::<io::Result<()>>()?;
        Ok(Self { jobs, results, threads: Threads { matches, cleaning } })
    }
}

/// Returns a runtime that stays on this thread, and a timer for its lag probe.
fn local_runtime() -> io::Result<(LocalRuntime, Ticker)> {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    let timer = runtime.block_on(async { Ticker::new(PERIOD) })?;
    Ok((runtime, timer))
}

/// Runs the matches of one core, some at once, until there are no more.
fn one_core(
    runtime: &LocalRuntime,
    shared: &Arc<Shared>,
    timer: Ticker,
    at_once: usize,
    (core, beside): (Option<usize>, usize),
) {
    runtime.block_on(async {
        let (orders, paused) = (shared.orders.clone(), shared.paused.clone());
        let (launcher, sandbox) = (shared.launcher.clone(), shared.sandbox.clone());
        let core = CoreContext::new(launcher, sandbox, orders, paused, timer, core, beside);
        let kept = KeptAgents::new(WorkFolders::new(shared.cleaner.clone()));
        let worker = || match_worker(shared.clone(), core.clone(), kept.clone());
        let workers: Vec<_> = (0..at_once).map(|_| tokio::task::spawn_local(worker())).collect();
        for worker in workers {
            worker.await.ok();
        }
        let is_stopped = shared.orders.borrow().stop.is_some();
        kept.end_all(if is_stopped { Duration::ZERO } else { GRACE }).await;
    });
}

async fn match_worker(shared: Arc<Shared>, core: CoreContext, kept: KeptAgents) {
    while let Some(job) = shared.next_job().await {
        let number = job.number;
        let (at, kept, with) = (core.clone(), kept.clone(), shared.clone());
        // A separate task: a panic loses the match, not the worker.
        let play = async move { job.play(&at, &kept, &with).await };
        let played = tokio::task::spawn_local(play).await.unwrap_or_else(|error| {
            let result = Err(io::Error::other(format!("internal error: {error}")));
            Played { number, result, transcript: None }
        });
        if shared.results.send(played).await.is_err() {
            return;
        }
    }
}

impl Shared {
    /// Returns the next match, unless no more may begin.
    async fn next_job(&self) -> Option<Job> {
        let job = self.jobs.lock().await.recv().await?;
        let orders = self.orders.borrow();
        (orders.stop.is_none() && !orders.last).then_some(job)
    }
}

impl Job {
    async fn play(self, core: &CoreContext, kept: &KeptAgents, shared: &Shared) -> Played {
        let number = self.number;
        let drawer = self.draw_key.as_ref().map_or_else(|| drawer(self.seed), drawer);
        let game = self.kind.start_later(&self.setup, drawer).await;
        let opened = game.map_err(io::Error::other).and_then(|game| {
            let header = self.header_of(game.as_ref(), &core.sandbox.recorded);
            Ok((self.destination.open(&header)?, header, game))
        });
        let ((sink, transcript), header, game) = match opened {
            Ok(opened) => opened,
            Err(error) => return Played { number, result: Err(error), transcript: None },
        };
        let begin = |path: &PathBuf| shared.playing.begin(number, path);
        let under_way = transcript.as_ref().map(begin);
        let result = self.drive((core, kept), header, game, sink, &shared.watching).await;
        drop(under_way);
        Played { number, result, transcript }
    }

    async fn drive(
        &self,
        (core, kept): (&CoreContext, &KeptAgents),
        mut header: Header,
        game: Box<dyn AnyGame>,
        sink: Sink,
        watching: &Watching,
    ) -> io::Result<Finished> {
        let starting = core.acquire_start().await;
        let mut participants = Vec::new();
        // The folder of each seat's process, and how many games that has played.
        let mut hosts = Vec::new();
        for (seat, spec) in Seat::all(self.seated.len()).zip(&self.seated) {
            let waiting =
                if self.conditions.reuse { kept.take(spec, self.kind).await } else { None };
            let (participant, work, games) = if let Some(agent) = waiting {
                (Participant::Process(agent.connection), agent.work, agent.games)
            } else {
                let mut work = kept.works.take();
                (self.participant(core, seat, spec, &mut work)?, work, 0)
            };
            header.seats[seat.index()].games_before = games;
            participants.push(participant);
            hosts.push((seat, work, games));
        }
        let mut watcher = watching(self.number);
        let draw_key = self.draw_key.clone();
        let hides = self.hides;
        let parts = MatchParts { game, header, draw_key, participants, sink, hides, starting };
        let driven = drive(core, parts, self.is_single, &mut watcher).await;
        let (finished, mut staying) = match driven {
            Ok((finished, staying)) => (Ok(finished), staying),
            Err(error) => (Err(error), Vec::new()),
        };
        // The first seat's last: the next match takes it first, and starts the same agent in it.
        let may_use = finished.as_ref().map_or(true, |finished| finished.has_left_processes);
        for (seat, work, games) in hosts.into_iter().rev() {
            if may_use {
                // A process may still use it.
                kept.works.remove(work).await;
            } else if let Some(at) = staying.iter().position(|(other, _)| *other == seat) {
                let (_, connection) = staying.swap_remove(at);
                let spec = self.seated[seat.index()].clone();
                let games = games + 1;
                let stop_at = Some(Instant::now() + FREEZE_AFTER);
                let program = spec.program_inside(self.kind).map(std::ptr::from_ref);
                let agent = KeptAgent { spec, program, connection, work, games, stop_at };
                kept.put(agent).await;
            } else {
                kept.works.put(work).await;
            }
        }
        finished
    }

    /// Returns a person, or a new process of an agent with this folder.
    fn participant(
        &self,
        core: &CoreContext,
        seat: Seat,
        spec: &Arc<AgentSpec>,
        work: &mut WorkFolder,
    ) -> io::Result<Participant> {
        if spec.launch.is_none() {
            return Ok(Participant::Person(self.human_input.human(seat)));
        }
        let started = self.start(core, spec, || work.path())?;
        Ok(started.unwrap_or_else(|error| {
            let text = format!("seat {seat} could not be started: {error}");
            // Nothing else of a start depends on the agent.
            let is_own_fault = error.kind() == io::ErrorKind::ArgumentListTooLong;
            Participant::Absent { text, is_own_fault }
        }))
    }

    /// Starts an agent, with this folder unless it has its own inside. The inner error is that of the start
    /// itself.
    fn start(
        &self,
        core: &CoreContext,
        spec: &Arc<AgentSpec>,
        folder: impl FnOnce() -> io::Result<PathBuf>,
    ) -> io::Result<io::Result<Participant>> {
        spec.check_rules_inside(self.kind, core.launcher.layers())?;
        let reachable = self.readable_files.of(core.launcher.layers(), spec);
        let inside = reachable.work_inside(core.launcher.layers());
        let folder = &inside.map_or_else(folder, Ok)?;
        let start = spec.start(
            folder,
            &self.conditions.limits,
            reachable.reach(folder),
            core.pinned_to,
            Some(self.kind),
        );
        let (launch, conditions) =
            start.ok_or_else(|| io::Error::other("a person can't be started"))?;
        let conditions = StartConditions {
            counts_cpu: self.conditions.clock.kind == ClockKind::Cpu
                || core.sandbox.recorded.pondering == Some(Pondering::Measure),
            ..conditions
        };
        let launch = core.sandbox.wrapped(&launch, folder)?;
        let dialect = spec.dialect(self.kind).map_err(io::Error::other)?;
        let started =
            AgentConnection::start(&core.launcher, &launch, conditions, dialect, &reachable);
        Ok(started.map(|mut connection| {
            connection.may_stay = self.conditions.reuse && SEES_SLEEP;
            Participant::Process(Box::new(connection))
        }))
    }

    /// Returns the header of the transcript.
    pub fn header(&self, sandbox: &SandboxRecord) -> io::Result<Header> {
        let game = self.kind.start(&self.setup).map_err(io::Error::other)?;
        Ok(self.header_of(game.as_ref(), sandbox))
    }

    fn header_of(&self, game: &dyn AnyGame, sandbox: &SandboxRecord) -> Header {
        let seated: Vec<&AgentSpec> = self.seated.iter().map(AsRef::as_ref).collect();
        let mut header = header(game, &seated, &self.conditions, sandbox, self.seed, self.number);
        header.draw_key_sha256 = self.draw_key.as_deref().map(draw_key_sha256);
        for seat in &mut header.seats {
            seat.no_void = self.no_void.contains(&seat.seat);
        }
        header
    }
}
