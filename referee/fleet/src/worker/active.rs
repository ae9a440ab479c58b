//! A contest that this worker plays: its checked brief, its sandbox, and its agents, which are
//! installed when they are first needed.

use super::announced::AnnouncedContest;
use super::filter::Mismatch;
use crate::bundles::{KeptAgents, WorkerAgents, bundle_fetcher, read_object, unpack_games};
use crate::connect::Connection;
use crate::link::{call, with_timeout};
use crate::names::BRIEF;
use crate::{Brief, FaultCause, WorkerFault, WorkerInfo};
use async_nats::jetstream::object_store::ObjectStore;
use referee_contest::{Contest, Player};
use referee_games::{GameKind, Games};
use referee_play::agent_spec::AgentSpec;
use referee_play::game_program::{Chosen, load};
use referee_play::pool::PoolSize;
use referee_play::reach::{ReadableFiles, shared_rules};
use referee_process::Failure;
use referee_process::sandbox::{Depth, Sandbox, choose};
use referee_process::work_folder::{close_but_to_agents, create_named};
use referee_protocol::encode::to_hex;
use referee_protocol::plain_error;
use referee_protocol::sanitize::sanitize;
use referee_runner::sandbox_request;
use sha2::{Digest, Sha256};
use std::env::consts::ARCH;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tempfile::TempDir;

/// The maximum size of a brief, in bytes.
const BRIEF_BYTES_MAX: u64 = 256 << 20;
/// The timeout for reading a brief.
const BRIEF_TIME: Duration = Duration::from_secs(120);
/// The range to which leases are limited.
const LEASE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(3600));

/// A valid brief.
#[derive(Debug)]
pub(super) struct CheckedBrief {
    /// The brief as received.
    pub(super) brief: Arc<Brief>,
    /// Its contest.
    pub(super) contest: Arc<Contest>,
    /// The game rules, in the order of the contest's games.
    pub(super) kinds: Vec<GameKind>,
    /// How long the worker keeps an order without renewing it.
    pub(super) lease: Duration,
}

/// A contest that this worker plays in.
pub(super) struct ActiveContest {
    /// Its announcement.
    pub(super) announced: AnnouncedContest,
    /// Its brief.
    pub(super) checked: CheckedBrief,
    /// The sandbox in which agents run.
    pub(super) sandbox: Sandbox,
    /// Its bucket of objects.
    pub(super) bucket: ObjectStore,
    /// The files that agents may read.
    pub(super) readable_files: Arc<ReadableFiles>,
    agents: WorkerAgents,
    /// Games that this worker has reported.
    pub(super) played: AtomicU64,
    /// The folder for transcripts and the files that agents share; removed with the last reference to it.
    pub(super) folder: TempDir,
}

impl fmt::Debug for ActiveContest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveContest").field("announced", &self.announced).finish_non_exhaustive()
    }
}

impl CheckedBrief {
    /// Checks a brief from the wire, whose fields may be anything.
    pub(super) fn of(brief: Brief, games: &Games) -> Result<Self, String> {
        let contest = Arc::new(brief.contest.clone());
        let seats = contest.seats();
        let mut kinds = Vec::new();
        for game in &contest.games {
            let name = sanitize(&game.game);
            let kind = game.kind(games).map_err(|error| sanitize(&error.to_string()))?;
            let start = kind.start(&game.setup).map_err(|it| sanitize(&format!("{name}: {it}")))?;
            if start.seats() != seats || game.seats != seats {
                return Err(format!("{name} has a different number of seats than its brief says"));
            }
            kinds.push(kind);
        }
        if kinds.is_empty() {
            return Err("it has no games".to_owned());
        }
        if brief.agents.len() != contest.players.len() {
            return Err("its numbers of agents and players differ".to_owned());
        }
        if brief.arch != ARCH {
            let arch = sanitize(&brief.arch);
            return Err(format!("its agents are built for {arch}, but this machine is {ARCH}"));
        }
        let lease = Duration::from_millis(brief.lease_ms).clamp(LEASE.0, LEASE.1);
        Ok(Self { brief: Arc::new(brief), contest, kinds, lease })
    }
}

impl ActiveContest {
    /// Reads a contest's brief and prepares to play it, or returns why this worker does not.
    /// Everything is written to `root`, which only this worker uses, as are `known_agents`; agents may read
    /// `readable_paths` if they request them.
    pub(super) async fn join(
        announced: &AnnouncedContest,
        connection: &Connection,
        info: &WorkerInfo,
        root: &Path,
        known_agents: &mut KeptAgents,
        readable_paths: &[PathBuf],
    ) -> Result<Self, Mismatch> {
        let passing = |why: String| Mismatch { why, passing: true };
        if let Some(reason) = announced.incompatibility() {
            return Err(reason.into());
        }
        let bucket_name = announced.names.bucket();
        let bucket = connection.jetstream.get_object_store(&bucket_name);
        let bucket = call(bucket).await.map_err(passing)?;
        let brief = brief(connection, announced)
            .await
            .map_err(|error| passing(format!("invalid brief: {error}")))?;
        let fault = |fault: WorkerFault| passing(sanitize(&fault.text));
        let fetch = bundle_fetcher(connection, bucket_name);
        let games = root.join("games");
        let games = unpack_games(&brief, &fetch, &games, readable_paths).await.map_err(fault)?;
        let checked = tokio::task::spawn_blocking(move || {
            let loaded = games.iter().map(|folder| {
                let kind = load(folder, Chosen::ByName)
                    .map_err(|failure| sanitize(&one_line(&failure)))?;
                Ok((folder.display().to_string(), kind))
            });
            let games = Games::default().with(loaded.collect::<Result<Vec<_>, String>>()?);
            CheckedBrief::of(brief, &games)
        });
        let checked = checked.await.map_err(|error| error.to_string())??;
        let folder = create_named("referee-", root).map_err(|error| error.to_string())?;
        let shared = agents_folder(folder.path()).map_err(|error| error.to_string())?;
        let (brief, readable_paths) = (checked.brief.clone(), readable_paths.to_vec());
        let agents = WorkerAgents::new(shared, known_agents, brief, fetch, readable_paths);
        let (readable, base) = agents.shared().await.map_err(fault)?;
        let sandbox = choose_sandbox(&checked.brief, base, info.slots).await?;
        // Everything of this worker is unreachable, except an agent's own files.
        let records = [root.to_owned()];
        let readable_files = Arc::new(ReadableFiles::new(shared_rules(&[], &records, &readable)));
        let announced = announced.clone();
        let played = AtomicU64::new(0);
        Ok(Self { announced, checked, sandbox, bucket, readable_files, agents, played, folder })
    }

    /// Whether a player's agent has a build that was not run here yet.
    pub(super) fn is_to_be_built(&self, player: Player) -> bool {
        self.agents.is_to_be_built(player)
    }

    /// Returns the players whose agents are built here now, and for how many milliseconds so far.
    pub(super) fn building(&self) -> Vec<(Player, u64)> {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.agents.building().into_iter().map(|(player, time)| (player, ms(time))).collect()
    }

    /// Returns a player's agent once it is installed, or `None` while another order has it installed. All matches
    /// share it.
    pub(super) async fn spec(&self, player: Player) -> Result<Option<Arc<AgentSpec>>, WorkerFault> {
        let Some(spec) = self.agents.spec(player, &self.sandbox).await? else { return Ok(None) };
        let layers = self.sandbox.launcher.layers;
        let checked = self.readable_files.check(layers, std::slice::from_ref(&spec));
        checked.map_err(|failure| WorkerFault::new(FaultCause::Machine, one_line(&failure)))?;
        Ok(Some(spec))
    }
}

/// Creates a folder for files of agents in a folder of this worker. Agents may run as other users, who need to enter it.
pub(super) fn agents_folder(parent: &Path) -> io::Result<PathBuf> {
    let folder = parent.join("agents");
    std::fs::create_dir(&folder)?;
    close_but_to_agents(&folder)?;
    Ok(folder)
}

/// Returns a failure and its help in one line.
pub(super) fn one_line(failure: &Failure) -> String {
    let help = failure.help_text().map_or_else(String::new, |help| format!(" ({help})"));
    format!("{failure}{help}")
}

/// Reads the announced brief. The hash is checked since workers may write objects, so one of them
/// could replace it.
async fn brief(connection: &Connection, announced: &AnnouncedContest) -> Result<Brief, String> {
    let bucket = announced.names.bucket();
    let Connection { jetstream, up, .. } = connection;
    let read = read_object(jetstream, up, &bucket, BRIEF, BRIEF_BYTES_MAX);
    let bytes = with_timeout(BRIEF_TIME, read).await?.ok_or("it is missing on the server")?;
    if to_hex(&Sha256::digest(&bytes)) != announced.announcement.brief_sha256 {
        return Err("it is not the announced one".to_owned());
    }
    serde_json::from_slice(&bytes).map_err(|error| sanitize(&plain_error(&error.to_string())))
}

/// Prepares the sandbox for this many slots, and tests it with a short attack.
async fn choose_sandbox(brief: &Brief, base: PathBuf, slots: u32) -> Result<Sandbox, String> {
    let settings = &brief.contest.sandbox;
    let request = sandbox_request(settings, base);
    let chosen = tokio::task::spawn_blocking(move || choose(&request, Depth::Start)).await;
    let chosen = chosen.map_err(|error| error.to_string())?;
    let chosen = chosen.map_err(|failure| one_line(&failure))?;
    let size = PoolSize { matches: slots as usize, pin: brief.pin, uses_free_cores: true };
    Ok(chosen.pondering(settings.pondering, size.agents(brief.contest.seats())))
}
