//! A contest that this worker plays in: its brief, checked; what its agents are started in; and the
//! agents, as they are needed.

use super::finding::Found;
use super::wanted::Unfit;
use crate::bundles::{WorkerAgents, fetching, read_object};
use crate::connect::Connection;
use crate::link::{CALL, within};
use crate::messages::FORM;
use crate::names::BRIEF;
use crate::{Brief, FaultCause, Names, WorkerFault, WorkerInfo, demand};
use async_nats::jetstream::Context;
use async_nats::jetstream::object_store::ObjectStore;
use referee_contest::Contest;
use referee_games::{GameKind, kind};
use referee_play::contender::Contender;
use referee_play::reach::{Reaches, ground};
use referee_process::Failure;
use referee_process::sandbox::{Depth, Enclosure, choose};
use referee_process::work_folder::create_in;
use referee_protocol::plain::{hex, tame};
use referee_runner::sandbox_wish;
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// The longest brief, in bytes.
const BRIEF_BYTES_MAX: u64 = 256 << 20;
/// How long it may take to come.
const BRIEF_TIME: Duration = Duration::from_secs(120);
/// Leases are no shorter than this, and no longer than that.
const LEASE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(3600));

/// A brief that makes sense.
#[derive(Debug)]
pub(super) struct Checked {
    /// As it came.
    pub(super) brief: Arc<Brief>,
    /// Its contest.
    pub(super) contest: Arc<Contest>,
    /// The kinds of its games, in the order of its list.
    pub(super) kinds: Vec<GameKind>,
    /// How many games a block has at most.
    pub(super) games_a_block: u64,
    /// How long an order is this worker's without a word.
    pub(super) lease: Duration,
}

/// A contest that this worker plays in.
pub(super) struct Joined {
    /// What it is called on the server.
    pub(super) names: Names,
    /// What it was announced as.
    pub(super) found: Found,
    /// Its brief.
    pub(super) checked: Checked,
    /// What agents are started in.
    pub(super) enclosure: Enclosure,
    /// Its objects.
    pub(super) bucket: ObjectStore,
    /// What agents may read.
    pub(super) reaches: Arc<Reaches>,
    agents: WorkerAgents,
    /// Where its agents and transcripts are; removed when nobody plays in it any more.
    folder: TempDir,
}

impl fmt::Debug for Joined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joined").field("found", &self.found).finish_non_exhaustive()
    }
}

impl Checked {
    /// Of a brief from the wire, in which anything may stand.
    pub(super) fn of(brief: Brief) -> Result<Self, String> {
        if brief.form != FORM {
            return Err(format!("its messages have form {}, and this knows {FORM}", brief.form));
        }
        let contest = Arc::new(brief.contest.clone());
        let seats = contest.seats();
        let mut kinds = Vec::new();
        for game in &contest.games {
            let name = tame(&game.game);
            let kind = kind(&game.game).ok_or_else(|| format!("there is no game {name}"))?;
            let start = kind.start(&game.setup).map_err(|it| format!("{name}: {it}"))?;
            if start.seats() != seats || game.seats != seats {
                return Err(format!("{name} hasn't the seats that it is said to have"));
            }
            kinds.push(kind);
        }
        if kinds.is_empty() {
            return Err("it has no games".to_owned());
        }
        if brief.agents.len() != contest.players.len() {
            return Err("it hasn't one agent a player".to_owned());
        }
        let lease = Duration::from_millis(brief.lease_ms).clamp(LEASE.0, LEASE.1);
        let games_a_block = contest.games_of_a_block() as u64;
        Ok(Self { brief: Arc::new(brief), contest, kinds, games_a_block, lease })
    }
}

impl Joined {
    /// Reads a contest's brief and makes ready for it, or says why the worker doesn't play in it.
    /// Everything is put into `root`, which is nobody else's; agents may read what is `lent`, if they ask
    /// for it.
    pub(super) async fn join(
        found: &Found,
        connection: &Connection,
        info: &WorkerInfo,
        root: &Path,
        lent: &[PathBuf],
    ) -> Result<Self, Unfit> {
        let passing = |why: String| Unfit { why, passing: true };
        if let Some(reason) = found.is_foreign() {
            return Err(reason.into());
        }
        let names = found.names.clone();
        let bucket = connection.jetstream.get_object_store(names.bucket());
        let bucket = within(CALL, bucket).await.map_err(passing)?;
        let brief = brief(&connection.jetstream, found)
            .await
            .map_err(|error| passing(format!("its brief: {error}")))?;
        let checked = Checked::of(brief)?;
        if let Some(reason) = demand::misfit(&checked.brief, info) {
            return Err(reason.into());
        }
        let folder = create_in(root).map_err(|error| error.to_string())?;
        let agents = folder.path().join("agents");
        // Users of their own that agents may have go through it.
        std::fs::create_dir(&agents)
            .and_then(|()| folder.path().metadata())
            .and_then(|it| std::fs::set_permissions(&agents, it.permissions()))
            .map_err(|error| error.to_string())?;
        let (brief, lent) = (checked.brief.clone(), lent.to_vec());
        let fetch = fetching(connection.jetstream.clone(), names.bucket());
        let agents = WorkerAgents::new(agents, brief, fetch, lent);
        let fault = |fault: WorkerFault| passing(tame(&fault.text));
        let (readable, base) = agents.shared().await.map_err(fault)?;
        let enclosure = enclosure(&checked.contest, base, info.slots).await?;
        let known = WorkerInfo { sandbox: Some(enclosure.told.clone()), ..info.clone() };
        if let Some(reason) = demand::misfit(&checked.brief, &known) {
            return Err(reason.into());
        }
        // Everything of this worker's is out of reach, but for what is an agent's own.
        let records = [root.to_owned()];
        let reaches = Arc::new(Reaches::new(ground(&[], &records, &readable)));
        let found = found.clone();
        Ok(Self { names, found, checked, enclosure, bucket, reaches, agents, folder })
    }

    /// Where it keeps what it has.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The agent of a player, as soon as it is there; all matches have the same one.
    pub(super) async fn contender(&self, player: usize) -> Result<Arc<Contender>, WorkerFault> {
        let contender = self.agents.contender(player).await?;
        let layers = self.enclosure.jail.layers;
        let checked = self.reaches.check(layers, std::slice::from_ref(&contender));
        checked.map_err(|failure| WorkerFault::new(FaultCause::Machine, told(&failure)))?;
        Ok(contender)
    }
}

/// A failure with what to do, in one line.
pub(super) fn told(failure: &Failure) -> String {
    let help = failure.help_text().map_or_else(String::new, |help| format!(" ({help})"));
    format!("{failure}{help}")
}

/// What was announced, and nothing else: whoever may write objects, as workers may, could put another one
/// in its place.
async fn brief(jetstream: &Context, found: &Found) -> Result<Brief, String> {
    let bucket = found.names.bucket();
    let read = read_object(jetstream, &bucket, BRIEF, BRIEF_BYTES_MAX);
    let bytes = within(BRIEF_TIME, read).await?;
    if hex(&Sha256::digest(&bytes)) != found.announcement.brief_sha256 {
        return Err("it isn't the one that the contest was announced with".to_owned());
    }
    serde_json::from_slice(&bytes).map_err(|error| tame(&error.to_string()))
}

/// What agents of this contest are started in, on so many slots. It is attacked before it is
/// trusted, which takes a moment.
async fn enclosure(contest: &Contest, base: PathBuf, slots: u32) -> Result<Enclosure, String> {
    let settings = &contest.sandbox;
    let wish = sandbox_wish(settings, base);
    let chosen = tokio::task::spawn_blocking(move || choose(&wish, Depth::Start)).await;
    let chosen = chosen.map_err(|error| error.to_string())?;
    let chosen = chosen.map_err(|failure| told(&failure))?;
    let agents = contest.seats().saturating_mul(slots as usize);
    Ok(chosen.pondering(settings.pondering, agents))
}
