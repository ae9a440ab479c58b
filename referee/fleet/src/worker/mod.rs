//! The worker: finds contests on the server, takes orders, plays them as a local contest would,
//! and reports the matches.
//!
//! It decides no results. A problem of its machine is reported as its own fault, and another
//! worker plays the order. Messages from the server are treated as hostile, and agents see neither
//! the worker's environment nor its files.

mod stall;
mod announced;
mod filter;
mod shares;
mod active;
mod orders;
mod leases;
mod job_router;
mod phase;
mod setbacks;
mod playing;
mod reporting;
mod root;
mod session;
mod order_loop;

use self::active::{ActiveContest, agents_folder};
pub(crate) use self::announced::list;
use self::announced::{AnnouncedContest, has_orders};
use self::filter::{ContestFilter, Mismatch};
use self::phase::LeaveReason;
use self::root::Root;
use self::session::{Session, SharedState};
use self::shares::Shares;
use super::connect::Connection;
use crate::bundles::KeptAgents;
use crate::link::send_unacknowledged;
use crate::messages::HEARTBEAT_MS;
use crate::{BUILD, Heartbeat, Names, WorkerInfo};
use rand::TryRng;
use rand::rngs::SysRng;
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_process::Failure;
use referee_process::cores;
use referee_process::lock::lock;
use referee_protocol::encode::to_hex;
use referee_protocol::sanitize::{sanitize, sanitize_name};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The interval at which it looks for contests.
const LOOK: Duration = Duration::from_secs(2);
/// The timeout for the last messages.
const LAST: Duration = Duration::from_secs(2);

/// A worker's settings.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Its name; the host name if `None`.
    pub name: Option<String>,
    /// How many matches it plays at once.
    pub slots: usize,
    /// Plays only the contest of this name or id.
    pub contest: Option<String>,
    /// Exits after this time without work.
    pub idle: Option<Duration>,
    /// The time to finish running games after the first signal.
    pub drain: Option<Duration>,
    /// Where its own folder is created; the system's temporary folder if `None`.
    pub folder: Option<PathBuf>,
    /// Files and folders of this machine that agents may read if they request them.
    pub readable_paths: Vec<PathBuf>,
}

/// A worker's status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The contest that it plays.
    pub contest: Option<String>,
    /// The number of orders that it holds.
    pub orders: usize,
    /// The number of running games.
    pub games: usize,
    /// Games that it has reported, in all contests.
    pub played: u64,
    /// Whether it is connected to the server.
    pub up: bool,
    /// Whether it takes no more orders of this contest.
    pub leaving: bool,
}

/// Receives a worker's status and messages.
pub trait StatusSink {
    /// Called several times a second.
    fn status(&mut self, status: &Status);

    /// Called with a line to print.
    fn message(&mut self, text: &str);
}

/// Why a worker has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerExit {
    /// It received a signal.
    Interrupted(Interrupt),
    /// It had no work for the time in its settings.
    Idle,
}

/// A worker.
#[derive(Debug)]
pub struct Worker {
    settings: Settings,
    /// Its description.
    pub info: WorkerInfo,
    /// Its own folder.
    root: Root,
    filter: ContestFilter,
    shares: Arc<Mutex<Shares>>,
    contests: BTreeMap<String, Arc<ActiveContest>>,
    /// The agents of these contests.
    agents: KeptAgents,
    /// The contest that it left for another.
    left: Option<String>,
    /// When it last had work.
    busy: Instant,
    beat_at: Instant,
    /// How many games it has played.
    played: Arc<AtomicU64>,
}

impl Worker {
    /// Creates a worker and its folder.
    pub fn new(settings: Settings) -> Result<Self, Failure> {
        let parent = settings.folder.clone().unwrap_or_else(std::env::temp_dir);
        let created =
            Root::create(&parent).and_then(|root| Ok((agents_folder(root.path())?, root)));
        let (agents, root) = created.map_err(|error| {
            Failure::machine(format!("{}: {error}", parent.display()))
                .help("give a folder that this user can write to with --work DIR")
        })?;
        let info = describe(settings.name.as_deref(), settings.slots)?;
        let (now, filter) = (Instant::now(), ContestFilter::new(settings.contest.clone()));
        let shares = Arc::new(Mutex::new(Shares::default()));
        let (contests, agents, left) =
            (BTreeMap::new(), KeptAgents::new(agents, settings.slots), None);
        let (busy, beat_at, played) = (now, now, Arc::default());
        Ok(Self {
            settings,
            info,
            root,
            filter,
            shares,
            contests,
            agents,
            left,
            busy,
            beat_at,
            played,
        })
    }

    /// Returns how many games it has played.
    pub fn played(&self) -> u64 {
        self.played.load(Ordering::Relaxed)
    }

    /// Runs until it is interrupted or has no work for too long.
    pub async fn work(
        &mut self,
        connection: &Connection,
        interrupts: &mut Interrupts,
        status: &mut impl StatusSink,
    ) -> WorkerExit {
        let end = loop {
            if let Some(end) = self.end(interrupts) {
                break end;
            }
            let next = tokio::select! {
                next = self.next(connection, status) => next,
                () = interrupts.next() => continue,
            };
            if let Some(contest) = next {
                Box::pin(self.play(connection, contest, interrupts, status)).await;
            }
        };
        let last = async {
            self.say_goodbye(connection).await;
            connection.client.flush().await.ok();
        };
        tokio::time::timeout(LAST, last).await.ok();
        end
    }

    fn end(&self, interrupts: &Interrupts) -> Option<WorkerExit> {
        let idle = self.settings.idle.is_some_and(|idle| self.busy.elapsed() > idle);
        let interrupted = interrupts.received().map(WorkerExit::Interrupted);
        interrupted.or(idle.then_some(WorkerExit::Idle))
    }

    /// Returns a contest to play; `None` after a while without one.
    async fn next(
        &mut self,
        connection: &Connection,
        status: &mut impl StatusSink,
    ) -> Option<Arc<ActiveContest>> {
        let up = connection.is_up();
        status.status(&Status { played: self.played(), up, ..Status::default() });
        // Without a server calls would only time out.
        let listed = if up { list(connection).await } else { Err("no connection".to_owned()) };
        let announced = match listed {
            Ok(announced) => {
                self.filter.keep(&announced);
                lock(&self.shares).keep(&announced);
                self.contests.retain(|_, known| announced.contains(&known.announced));
                announced
            }
            Err(error) => {
                tracing::debug!("can't list contests: {error}");
                Vec::new()
            }
        };
        for announced in self.in_order(connection, &announced).await {
            if self.filter.wants(announced)
                && let Some(contest) = self.join(connection, announced, status).await
            {
                return Some(contest);
            }
        }
        self.beat(connection).await;
        tokio::time::sleep(LOOK).await;
        None
    }

    /// Returns the contests in the order to try them: those with waiting orders first, by their
    /// shares, then the others by age, and last the one that it just left.
    async fn in_order<'a>(
        &self,
        connection: &Connection,
        announced: &'a [AnnouncedContest],
    ) -> impl Iterator<Item = &'a AnnouncedContest> + use<'a> {
        let several = announced.len() > 1;
        let mut ranked = Vec::new();
        for announced in announced {
            let wanted = several && self.filter.wants(announced);
            let has_orders = wanted && has_orders(connection, &announced.names).await;
            let is_left = self.left.as_ref() == Some(&announced.names.id);
            let next = if has_orders { lock(&self.shares).next_turn(announced) } else { 0.0 };
            let rank = if has_orders { 0 } else { 1 + u8::from(is_left) };
            ranked.push((rank, next, announced));
        }
        ranked.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        ranked.into_iter().map(|(_, _, announced)| announced)
    }

    async fn join(
        &mut self,
        connection: &Connection,
        announced: &AnnouncedContest,
        status: &mut impl StatusSink,
    ) -> Option<Arc<ActiveContest>> {
        let id = &announced.names.id;
        if let Some(known) = self.contests.get(id).filter(|known| known.announced == *announced) {
            return Some(known.clone());
        }
        let (info, root, agents) = (&self.info, self.root.path(), &mut self.agents);
        let readable_paths = &self.settings.readable_paths;
        let joined =
            ActiveContest::join(announced, connection, info, root, agents, readable_paths).await;
        match joined {
            Ok(contest) => {
                self.filter.accept(announced);
                status.message(&format!("playing contest {}", announced.name()));
                let contest = Arc::new(contest);
                self.contests.insert(id.clone(), contest.clone());
                Some(contest)
            }
            Err(mismatch) => {
                self.refuse(announced, mismatch, status);
                None
            }
        }
    }

    fn refuse(
        &mut self,
        announced: &AnnouncedContest,
        mismatch: Mismatch,
        status: &mut impl StatusSink,
    ) {
        let text = format!("not playing contest {}: {}", announced.name(), sanitize(&mismatch.why));
        if self.filter.refuse(announced, mismatch) {
            status.message(&text);
        }
    }

    /// Sends heartbeats to contests that it does not play, with the reason.
    async fn beat(&mut self, connection: &Connection) {
        let now = Instant::now();
        if !connection.is_up() || now < self.beat_at {
            return;
        }
        self.beat_at = now + Duration::from_millis(HEARTBEAT_MS);
        for refused in self.filter.refused() {
            let refusal = Some(refused.mismatch.why.clone());
            let beat = Heartbeat { refused: refusal, ..self.idle_beat() };
            send_heartbeat(connection, &refused.announced.names, &beat).await;
        }
    }

    /// Reports to the contests that it has played that it does not come back.
    async fn say_goodbye(&self, connection: &Connection) {
        let beat = Heartbeat { leaving: true, ..self.idle_beat() };
        for contest in self.contests.values().filter(|_| connection.is_up()) {
            send_heartbeat(connection, &contest.announced.names, &beat).await;
        }
    }

    /// Returns a heartbeat for a contest that it does not play.
    fn idle_beat(&self) -> Heartbeat {
        Heartbeat { worker: self.info.clone(), ..Heartbeat::default() }
    }

    /// Plays a contest until there is a reason to leave it.
    async fn play(
        &mut self,
        connection: &Connection,
        contest: Arc<ActiveContest>,
        interrupts: &mut Interrupts,
        status: &mut impl StatusSink,
    ) {
        let announced = contest.announced.clone();
        let state = SharedState {
            info: self.info.clone(),
            filter: self.filter.clone(),
            shares: self.shares.clone(),
            played: self.played.clone(),
        };
        let count = contest.clone();
        let session = async {
            let session = Session::new(connection.clone(), contest, state)?;
            Box::pin(session.run(&self.settings, &mut self.busy, interrupts, status)).await
        };
        let why = match session.await {
            Ok(why) => why,
            Err(error) => {
                let why = format!("can't play matches: {error}");
                return self.refuse(&announced, why.into(), status);
            }
        };
        self.left = Some(announced.names.id.clone());
        let name = announced.name();
        match why {
            LeaveReason::Over => {
                self.contests.remove(&announced.names.id);
                let played = count.played.load(Ordering::Relaxed);
                status.message(&format!("contest {name} is over; played {played} of its games"));
            }
            LeaveReason::Stalled(gap) => {
                // It may continue with the same contest.
                self.left = None;
                let seconds = gap.as_secs();
                status.message(&format!(
                    "this worker was paused for {seconds} s; the games that it was playing are played again"
                ));
            }
            LeaveReason::Broken => {
                let why = "the match threads have stopped".to_owned();
                self.refuse(&announced, why.into(), status);
            }
            LeaveReason::Stopped
            | LeaveReason::Elsewhere
            | LeaveReason::Idle
            | LeaveReason::Interrupted => {}
        }
    }
}

/// Describes this worker, with a random id.
fn describe(name: Option<&str>, slots: usize) -> Result<WorkerInfo, Failure> {
    let mut id = [0; 8];
    SysRng
        .try_fill_bytes(&mut id)
        .map_err(|error| Failure::machine(format!("can't read random numbers: {error}")))?;
    let host = || nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    let name = name.map(str::to_owned).or_else(host).unwrap_or_else(|| "worker".to_owned());
    Ok(WorkerInfo {
        id: to_hex(&id),
        name: sanitize_name(&name),
        referee: BUILD.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        slots: u32::try_from(slots).unwrap_or(u32::MAX),
        cores: u32::try_from(cores::count()).unwrap_or(u32::MAX),
        ..WorkerInfo::default()
    })
}

/// Sends a heartbeat to a contest's coordinator.
async fn send_heartbeat(connection: &Connection, names: &Names, beat: &Heartbeat) {
    let bytes = serde_json::to_vec(beat).unwrap_or_default();
    send_unacknowledged(connection.client.publish(names.beats(), bytes.into())).await;
}
