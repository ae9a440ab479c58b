//! The agents of a contest on a worker.

use super::Fetch;
use super::archive::Bounds;
use super::install::{Install, Unpacked, create_folder};
use crate::{Brief, BundleRef, FaultCause, WorkerFault};
use referee_play::agent_spec::AgentSpec;
use referee_process::sandbox::Sandbox;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{Mutex, OnceCell, OwnedMutexGuard};

/// The agents of a contest on a worker. Each is unpacked and built once, when it is first needed.
pub(crate) struct WorkerAgents {
    folder: PathBuf,
    brief: Arc<Brief>,
    fetch: Fetch,
    readable: Arc<[PathBuf]>,
    /// By player: the agent, or why it will never be available.
    agents: Vec<OnceCell<Result<Arc<AgentSpec>, WorkerFault>>>,
    /// The files that all agents may read.
    shared: OnceCell<Arc<Unpacked>>,
    /// Locks of the folders, one per player and one for the shared files. A build continues when
    /// its caller is dropped.
    locks: Vec<Arc<Mutex<()>>>,
}

impl WorkerAgents {
    /// Creates the agents of a contest. Files are written to `folder`, which exists, belongs to
    /// this contest alone, and can be entered by the users that agents may run as. `readable` are
    /// files and folders of this machine that agents may read if they request them.
    pub(crate) fn new(
        folder: PathBuf,
        brief: Arc<Brief>,
        fetch: Fetch,
        readable: Vec<PathBuf>,
    ) -> Self {
        let readable = readable.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
        let agents = brief.agents.iter().map(|_| OnceCell::new()).collect();
        let locks = (0..=brief.agents.len()).map(|_| Arc::default()).collect();
        Self { folder, brief, fetch, readable, agents, shared: OnceCell::new(), locks }
    }

    /// Returns a player's agent, by its index in the contest, once it is unpacked and built, with
    /// the contest's name and digest. It is built in this sandbox. Permanent errors are remembered and not tried again.
    pub(crate) async fn spec(
        &self,
        player: usize,
        sandbox: &Sandbox,
    ) -> Result<Arc<AgentSpec>, WorkerFault> {
        let Some(cell) = self.agents.get(player) else {
            let text = format!("the contest has no player {player}");
            return Err(WorkerFault::new(FaultCause::Bundle, text));
        };
        cell.get_or_try_init(|| self.install(player, sandbox.clone())).await?.clone()
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
        player: usize,
        sandbox: Sandbox,
    ) -> Result<Result<Arc<AgentSpec>, WorkerFault>, WorkerFault> {
        let shared = self.shared_files().await?.clone();
        let bundle = self.brief.agents.get(player).and_then(|it| it.bundle.clone());
        let (unpacked, turn) = self.unpacked(format!("player-{player}"), player, bundle).await?;
        let (brief, readable) = (self.brief.clone(), self.readable.clone());
        blocking(move || {
            let _turn = turn;
            let install = Install::new(&brief, player, &unpacked, &readable, &sandbox)?;
            install.share(&shared)?;
            Ok(install.spec())
        })
        .await
    }

    /// Returns the shared files, unpacked once.
    async fn shared_files(&self) -> Result<&Arc<Unpacked>, WorkerFault> {
        let unpacked = self.shared.get_or_try_init(async || {
            let (turn, bundle) = (self.brief.agents.len(), self.brief.shared.clone());
            let (unpacked, _turn) = self.unpacked("shared".to_owned(), turn, bundle).await?;
            Ok(Arc::new(unpacked))
        });
        unpacked.await
    }

    /// Fetches a bundle, if there is one, and unpacks it into a folder of this name, which is
    /// locked as long as the guard is held.
    async fn unpacked(
        &self,
        name: String,
        turn: usize,
        bundle: Option<BundleRef>,
    ) -> Result<(Unpacked, OwnedMutexGuard<()>), WorkerFault> {
        let root = self.folder.join(name);
        let turn = self.locks[turn].clone().lock_owned().await;
        fetched(&self.fetch, root, bundle, turn).await
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
