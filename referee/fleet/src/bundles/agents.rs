//! The agents of a contest on a worker.

use super::Fetch;
use super::archive::Bounds;
use super::install::{Install, Unpacked, create_folder};
use crate::{Brief, BundleRef, FaultCause, WorkerFault};
use referee_play::contender::Contender;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{Mutex, OnceCell, OwnedMutexGuard};

/// The agents of a contest on a worker: each is unpacked and built once, when it is first needed.
pub struct WorkerAgents {
    folder: PathBuf,
    brief: Arc<Brief>,
    fetch: Fetch,
    lent: Arc<[PathBuf]>,
    /// By player: the agent, or why there will be none.
    agents: Vec<OnceCell<Result<Arc<Contender>, WorkerFault>>>,
    /// What all may read.
    shared: OnceCell<Arc<Unpacked>>,
    /// By player, and one more for what all may read: whose turn it is in its folder. Whoever waits
    /// for an agent may go before it is built, and the build goes on.
    turns: Vec<Arc<Mutex<()>>>,
}

impl fmt::Debug for WorkerAgents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerAgents").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl WorkerAgents {
    /// For this contest. What arrives is put into `folder`, which is there, which is this contest's
    /// alone, and which users of their own that agents may have can enter. `lent` are files and
    /// folders of this machine that agents may read if they ask for them.
    pub fn new(folder: PathBuf, brief: Arc<Brief>, fetch: Fetch, lent: Vec<PathBuf>) -> Self {
        let lent = lent.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
        let agents = brief.agents.iter().map(|_| OnceCell::new()).collect();
        let turns = (0..=brief.agents.len()).map(|_| Arc::default()).collect();
        Self { folder, brief, fetch, lent, agents, shared: OnceCell::new(), turns }
    }

    /// The agent of a player, by its place in the contest's list. It is there when this returns:
    /// unpacked, built, with the contest's name and digest. What can't be mended by trying again is
    /// not tried again.
    pub async fn contender(&self, player: usize) -> Result<Arc<Contender>, WorkerFault> {
        let Some(cell) = self.agents.get(player) else {
            return Err(WorkerFault::no_player(player));
        };
        cell.get_or_try_init(|| self.install(player)).await?.clone()
    }

    /// What all agents of the contest may read beside their own; canonical. And the folder that
    /// stands for the contest's, in which the program of a `wrapper` is looked for.
    pub async fn shared(&self) -> Result<(Vec<PathBuf>, PathBuf), WorkerFault> {
        let shared = self.shared_files().await?.clone();
        let (brief, lent) = (self.brief.clone(), self.lent.clone());
        blocking(move || shared.read_by_all(&brief, &lent)).await
    }

    /// Unpacks, builds and reads an agent. The outer error passes; the inner one will stay.
    async fn install(
        &self,
        player: usize,
    ) -> Result<Result<Arc<Contender>, WorkerFault>, WorkerFault> {
        let shared = self.shared_files().await?.clone();
        let bundle = self.brief.agents.get(player).and_then(|it| it.bundle.clone());
        let (unpacked, turn) = self.unpacked(format!("player-{player}"), player, bundle).await?;
        let (brief, lent) = (self.brief.clone(), self.lent.clone());
        blocking(move || {
            let _turn = turn;
            let install = Install::new(&brief, player, &unpacked, &lent)?;
            install.share(&shared)?;
            Ok(install.contender())
        })
        .await
    }

    /// What all may read, unpacked once.
    async fn shared_files(&self) -> Result<&Arc<Unpacked>, WorkerFault> {
        let unpacked = self.shared.get_or_try_init(async || {
            let (turn, bundle) = (self.brief.agents.len(), self.brief.shared.clone());
            let (unpacked, _turn) = self.unpacked("shared".to_owned(), turn, bundle).await?;
            Ok(Arc::new(unpacked))
        });
        unpacked.await
    }

    /// Gets a bundle, if there is one, and unpacks it into a folder of this name, which nobody else
    /// touches as long as the second part of the answer is held.
    async fn unpacked(
        &self,
        name: String,
        turn: usize,
        bundle: Option<BundleRef>,
    ) -> Result<(Unpacked, OwnedMutexGuard<()>), WorkerFault> {
        let root = self.folder.join(name);
        let packed = root.with_extension("bundle");
        let turn = self.turns[turn].clone().lock_owned().await;
        if let Some(bundle) = &bundle {
            let most = Bounds::default().bytes;
            if bundle.bytes > most {
                let text = format!("more than {most} bytes");
                return Err(WorkerFault::new(FaultCause::Bundle, text));
            }
            create_folder(&self.folder)?;
            std::fs::remove_file(&packed).ok();
            let fetched = (self.fetch)(bundle.clone(), packed.clone()).await;
            fetched.map_err(|error| {
                WorkerFault::new(FaultCause::Bundle, format!("{}: {error}", bundle.sha256))
            })?;
        }
        blocking(move || Ok((Unpacked::new(&root, &packed, bundle.as_ref())?, turn))).await
    }
}

/// Does what takes a while elsewhere.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkerFault> + Send + 'static,
) -> Result<T, WorkerFault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| WorkerFault::new(FaultCause::Machine, error.to_string()))?
}
