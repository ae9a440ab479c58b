//! The agents of a contest on a worker.

use super::Fetch;
use super::archive::Bounds;
use super::install::{Install, Unpacked, create_folder};
use crate::{AgentPackage, Brief, BundleRef, FaultCause, WorkerFault};
use referee_contest::{Player, PlayerInfo};
use referee_play::agent_spec::AgentSpec;
use referee_process::lock::lock;
use referee_process::sandbox::Sandbox;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, OnceCell, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// How many times as long as a failed try nobody tries again, and for how long at least: contests follow one another, and
/// an agent's author decides how long it takes.
const FAILED_TIMES: u32 = 20;
const FAILED_MIN: Duration = Duration::from_secs(10);

/// What is held while an agent is installed: its turn, and one of the builds at the same time.
struct Held {
    agent: Arc<InstalledAgent>,
    _turn: OwnedMutexGuard<()>,
    _build: Option<OwnedSemaphorePermit>,
}

impl Drop for Held {
    fn drop(&mut self) {
        *lock(&self.agent.since) = None;
    }
}

/// The agents that a worker has unpacked and built. A contest finds those that the contest before it had, too: whenever a
/// player joins an open ladder, workers see a new contest.
#[derive(Debug)]
pub(crate) struct KeptAgents {
    folder: PathBuf,
    /// By a hash of all that an agent is made from.
    agents: BTreeMap<[u8; 32], Arc<InstalledAgent>>,
    /// How many of them may be built at the same time.
    builds: Arc<Semaphore>,
    /// The number of agents so far.
    count: u64,
}

/// An agent of a worker: unpacked and built once, when it is first needed. Its folder is removed when no contest has it any
/// more.
#[derive(Debug)]
struct InstalledAgent {
    folder: PathBuf,
    /// Held while somebody installs it. A build continues when its caller is dropped.
    turn: Arc<Mutex<()>>,
    /// Since when somebody installs it.
    since: std::sync::Mutex<Option<Instant>>,
    spec: OnceLock<Arc<AgentSpec>>,
    /// Why it can't be built or started here, and until when it isn't tried again.
    failed: std::sync::Mutex<Option<(WorkerFault, Instant)>>,
}

impl KeptAgents {
    /// Creates a worker's agents. Files are written to `folder`, which exists, is empty, and can be entered by the users
    /// that agents may run as. At most half of this many `slots` have agents built.
    pub(crate) fn new(folder: PathBuf, slots: usize) -> Self {
        let builds = Arc::new(Semaphore::new((slots / 2).max(1)));
        Self { folder, agents: BTreeMap::new(), builds, count: 0 }
    }

    /// Returns the agents of a contest, by player, and forgets those that are only of earlier ones.
    fn of(&mut self, brief: &Brief) -> Vec<Arc<InstalledAgent>> {
        let mut agents = Vec::new();
        let before = std::mem::take(&mut self.agents);
        for (package, info) in brief.agents.iter().zip(&brief.contest.players) {
            let made_from = made_from(brief, package, info);
            let agent = before.get(&made_from).cloned().unwrap_or_else(|| {
                self.count += 1;
                let folder = self.folder.join(self.count.to_string());
                Arc::new(InstalledAgent {
                    folder,
                    turn: Arc::default(),
                    since: std::sync::Mutex::default(),
                    spec: OnceLock::new(),
                    failed: std::sync::Mutex::default(),
                })
            });
            self.agents.insert(made_from, agent.clone());
            agents.push(agent);
        }
        let is_played = |agent: &Arc<InstalledAgent>| Arc::strong_count(agent) > 1;
        for (made_from, agent) in before.into_iter().filter(|(_, agent)| is_played(agent)) {
            self.agents.entry(made_from).or_insert(agent);
        }
        agents
    }
}

/// Returns a hash of all that decides what a player's folder contains, and how it is started.
fn made_from(brief: &Brief, package: &AgentPackage, info: &PlayerInfo) -> [u8; 32] {
    let Brief { contest, folder, shared, build, build_ms, pin, .. } = brief;
    let player = (package, &info.name, &info.run, &info.digest);
    let all =
        (player, folder, shared, build, build_ms, pin, &contest.sandbox, contest.policy.strict);
    Sha256::digest(serde_json::to_vec(&all).unwrap_or_default()).into()
}

impl InstalledAgent {
    /// Why it can't be built or started here, as long as that isn't tried again.
    fn known_fault(&self) -> Option<WorkerFault> {
        let failed = lock(&self.failed);
        failed.as_ref().filter(|(_, until)| Instant::now() < *until).map(|(fault, _)| fault.clone())
    }
}

impl Drop for InstalledAgent {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

/// The agents of a contest on a worker.
pub(crate) struct WorkerAgents {
    folder: PathBuf,
    brief: Arc<Brief>,
    fetch: Fetch,
    readable: Arc<[PathBuf]>,
    /// By player.
    agents: Vec<Arc<InstalledAgent>>,
    builds: Arc<Semaphore>,
    /// The files that all agents may read.
    shared: OnceCell<Arc<Unpacked>>,
    /// Locked while they are unpacked.
    shared_turn: Arc<Mutex<()>>,
}

impl WorkerAgents {
    /// Creates the agents of a contest, some of which may be known. The files that all of them may read are written to
    /// `folder`, which exists and belongs to this contest alone. `readable` are files and folders of this machine that
    /// agents may read if they request them.
    pub(crate) fn new(
        folder: PathBuf,
        known: &mut KeptAgents,
        brief: Arc<Brief>,
        fetch: Fetch,
        readable: Vec<PathBuf>,
    ) -> Self {
        let readable = readable.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
        let (agents, builds) = (known.of(&brief), known.builds.clone());
        let (shared, shared_turn) = (OnceCell::new(), Arc::default());
        Self { folder, brief, fetch, readable, agents, builds, shared, shared_turn }
    }

    /// Returns a player's agent, by its index in the contest, with the contest's name and digest, once it is unpacked and
    /// built; `None` while another caller installs it, or as many builds run as are allowed. It is built in this sandbox.
    /// What failed because of the agent is tried again after [`FAILED_TIMES`] times as long as it took.
    pub(crate) async fn spec(
        &self,
        player: Player,
        sandbox: &Sandbox,
    ) -> Result<Option<Arc<AgentSpec>>, WorkerFault> {
        let Some(agent) = self.agents.get(player.index()) else {
            let text = format!("the contest has no player {}", player.index());
            return Err(WorkerFault::new(FaultCause::Bundle, text));
        };
        let turn = agent.turn.clone().try_lock_owned();
        if let Some(known) = agent.spec.get() {
            return Ok(Some(known.clone()));
        }
        if let Some(fault) = agent.known_fault() {
            return Err(fault);
        }
        let Ok(turn) = turn else { return Ok(None) };
        let build =
            self.has_build(player).then(|| self.builds.clone().try_acquire_owned()).transpose();
        let Ok(build) = build else { return Ok(None) };
        let began = Instant::now();
        *lock(&agent.since) = Some(began);
        let held = Held { agent: agent.clone(), _turn: turn, _build: build };
        let installed = self.install(player, held, sandbox.clone()).await?;
        // A failure of which no caller heard may be that of a worker that was paused.
        installed.map(Some).inspect_err(|fault| {
            let pause = FAILED_MIN.max(began.elapsed() * FAILED_TIMES);
            *lock(&agent.failed) = Some((fault.clone(), Instant::now() + pause));
        })
    }

    /// Whether a player's agent has a build that was not run here yet.
    pub(crate) fn is_to_be_built(&self, player: Player) -> bool {
        let is_open =
            |it: &Arc<InstalledAgent>| it.spec.get().is_none() && it.known_fault().is_none();
        self.has_build(player) && self.agents.get(player.index()).is_some_and(is_open)
    }

    /// Returns the players whose agents are built here now, and for how long so far.
    pub(crate) fn building(&self) -> Vec<(Player, Duration)> {
        let time =
            |player: Player| (*lock(&self.agents[player.index()].since)).map(|it| it.elapsed());
        let built = Player::all(self.agents.len()).filter(|it| self.has_build(*it));
        built.filter_map(|player| Some((player, time(player)?))).collect()
    }

    fn has_build(&self, player: Player) -> bool {
        self.brief.agents.get(player.index()).is_some_and(|package| package.build_ms.is_some())
    }

    /// Returns the canonical paths that all agents of the contest may read besides their own files,
    /// and the contest's folder, relative to which the program of a `wrapper` is found.
    pub(crate) async fn shared(&self) -> Result<(Vec<PathBuf>, PathBuf), WorkerFault> {
        let shared = self.shared_files().await?.clone();
        let (brief, readable) = (self.brief.clone(), self.readable.clone());
        blocking(move || shared.read_by_all(&brief, &readable)).await
    }

    /// Unpacks, builds and loads an agent. The outer error is temporary, the inner one permanent.
    async fn install(
        &self,
        player: Player,
        held: Held,
        sandbox: Sandbox,
    ) -> Result<Result<Arc<AgentSpec>, WorkerFault>, WorkerFault> {
        let shared = self.shared_files().await?.clone();
        let bundle = self.brief.agents.get(player.index()).and_then(|it| it.bundle.clone());
        let root = held.agent.folder.clone();
        let (unpacked, held) = fetched(&self.fetch, root, bundle, held).await?;
        let (brief, readable) = (self.brief.clone(), self.readable.clone());
        blocking(move || {
            let install = Install::new(&brief, player, &unpacked, &readable, &sandbox)?;
            install.share(&shared)?;
            Ok(install.spec().map(|spec| held.agent.spec.get_or_init(|| spec).clone()))
        })
        .await
    }

    /// Returns the shared files, unpacked once.
    async fn shared_files(&self) -> Result<&Arc<Unpacked>, WorkerFault> {
        let unpacked = self.shared.get_or_try_init(async || {
            let (root, bundle) = (self.folder.join("shared"), self.brief.shared.clone());
            let turn = self.shared_turn.clone().lock_owned().await;
            let (unpacked, _turn) = fetched(&self.fetch, root, bundle, turn).await?;
            Ok(Arc::new(unpacked))
        });
        unpacked.await
    }
}

/// Fetches a bundle, if there is one, and unpacks it into a new folder. Returns what was `held` meanwhile, even if
/// the caller is dropped.
pub(super) async fn fetched<T: Send + 'static>(
    fetch: &Fetch,
    root: PathBuf,
    bundle: Option<BundleRef>,
    held: T,
) -> Result<(Unpacked, T), WorkerFault> {
    let packed = root.with_extension("bundle");
    if let Some(bundle) = &bundle {
        let most = Bounds::default().packed_bytes();
        if bundle.bytes > most {
            let text = format!("more than {most} bytes");
            return Err(WorkerFault::new(FaultCause::Bundle, text));
        }
        create_folder(root.parent().unwrap_or(&root))?;
        std::fs::remove_file(&packed).ok();
        fetch(bundle.clone(), packed.clone()).await.map_err(|error| {
            WorkerFault::new(FaultCause::Bundle, format!("{}: {error}", bundle.sha256))
        })?;
    }
    blocking(move || {
        let unpacked = Unpacked::new(&root, &packed, bundle.as_ref());
        std::fs::remove_file(&packed).ok();
        Ok((unpacked?, held))
    })
    .await
}

/// Runs blocking work on another thread.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkerFault> + Send + 'static,
) -> Result<T, WorkerFault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| WorkerFault::new(FaultCause::Machine, error.to_string()))?
}
