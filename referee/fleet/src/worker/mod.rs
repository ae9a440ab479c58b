//! A worker: plays games of contests that are coordinated elsewhere. It finds contests on the server,
//! takes orders, plays them as a contest on one machine is played, and reports what came of them.
//!
//! It decides nothing: whatever goes wrong here is reported as this worker's fault or not at all, and
//! somebody plays the order again. It trusts nothing that comes from the wire, and its agents get
//! nothing of its own: neither its environment nor its files.

mod pulse;
mod machine;
mod finding;
mod wanted;
mod joined;
mod orders;
mod hands;
mod desk;
mod phase;
mod playing;
mod reporting;
mod root;
mod session;
mod supply;

use self::finding::{Found, has_orders, look};
use self::joined::Joined;
use self::phase::Why;
use self::root::Root;
use self::session::Session;
use self::wanted::{Unfit, Wanted};
use super::connect::Connection;
use crate::link::hand;
use crate::messages::BEAT_MS;
use crate::{Beat, WorkerInfo};
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_process::Failure;
use referee_protocol::plain::tame;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often contests are looked for while there is none.
const LOOK: Duration = Duration::from_secs(2);
/// How long the last messages may take to leave.
const LAST: Duration = Duration::from_secs(2);

/// What a worker is started with.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// What people call it; the machine's name unless it is given.
    pub name: Option<String>,
    /// What contests may ask for.
    pub class: String,
    /// How many matches it plays at once.
    pub slots: usize,
    /// Only the contest of this name or id.
    pub contest: Option<String>,
    /// It ends when there was nothing to do for so long.
    pub idle: Option<Duration>,
    /// How long it may take to end when it is asked to.
    pub drain: Option<Duration>,
    /// Where its own folder is made; where temporary files are unless it is given.
    pub folder: Option<PathBuf>,
    /// Files and folders of this machine that agents may read if they ask for them.
    pub lent: Vec<PathBuf>,
}

/// How a worker does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The contest that it plays in.
    pub contest: Option<String>,
    /// How many orders it has.
    pub orders: usize,
    /// How many games are under way.
    pub games: usize,
    /// Games that it has reported, over all contests.
    pub played: u64,
    /// Whether the server can be reached.
    pub up: bool,
    /// It takes no more orders of this contest.
    pub leaving: bool,
}

/// Somebody who wants to know.
pub trait Audience {
    /// How it does, several times a second.
    fn see(&mut self, status: &Status);

    /// Something worth a line has happened.
    fn tell(&mut self, text: &str);
}

/// Why a worker has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By a signal.
    Interrupted(Interrupt),
    /// There was nothing to do for as long as it was to wait.
    Idle,
}

/// A worker.
#[derive(Debug)]
pub struct Worker {
    settings: Settings,
    info: WorkerInfo,
    /// Everything it keeps.
    root: Root,
    wanted: Wanted,
    joined: BTreeMap<String, Arc<Joined>>,
    /// The contest that it left for another.
    left: Option<String>,
    /// When it had something to do last.
    busy: Instant,
    beat_at: Instant,
    played: u64,
}

impl Worker {
    /// Makes ready, which takes about a second: it measures the machine.
    pub fn new(settings: Settings) -> Result<Self, Failure> {
        let parent = settings.folder.clone().unwrap_or_else(std::env::temp_dir);
        let root = Root::create(&parent).map_err(|error| {
            Failure::machine(format!("{}: {error}", parent.display()))
                .help("--work names a folder in which the worker can make one of its own")
        })?;
        let mut info =
            machine::describe(settings.name.as_deref(), &settings.class, settings.slots)?;
        (info.speed, info.noise) = machine::measure(settings.slots);
        let (now, wanted) = (Instant::now(), Wanted::new(settings.contest.clone()));
        let (joined, left) = (BTreeMap::new(), None);
        let (busy, beat_at, played) = (now, now, 0);
        Ok(Self { settings, info, root, wanted, joined, left, busy, beat_at, played })
    }

    /// What it says of itself.
    pub fn info(&self) -> &WorkerInfo {
        &self.info
    }

    /// Games that it has played.
    pub fn played(&self) -> u64 {
        self.played
    }

    /// Works until it is told to end, or has nothing to do for too long.
    pub async fn work(
        &mut self,
        connection: &Connection,
        interrupts: &mut Interrupts,
        audience: &mut impl Audience,
    ) -> End {
        let end = loop {
            if let Some(end) = self.end(interrupts) {
                break end;
            }
            let next = tokio::select! {
                next = self.next(connection, audience) => next,
                () = interrupts.next() => continue,
            };
            if let Some(joined) = next {
                Box::pin(self.play(connection, joined, interrupts, audience)).await;
            }
        };
        tokio::time::timeout(LAST, connection.client.flush()).await.ok();
        end
    }

    fn end(&self, interrupts: &Interrupts) -> Option<End> {
        let idle = self.settings.idle.is_some_and(|idle| self.busy.elapsed() > idle);
        let interrupted = interrupts.received().map(End::Interrupted);
        interrupted.or(idle.then_some(End::Idle))
    }

    /// A contest to play in; none yet, after a while.
    async fn next(
        &mut self,
        connection: &Connection,
        audience: &mut impl Audience,
    ) -> Option<Arc<Joined>> {
        let up = connection.is_up();
        audience.see(&Status { played: self.played, up, ..Status::default() });
        // Without a server nobody answers, and whoever waits for so long waits too long.
        let looked = if up { look(connection).await } else { Err("no connection".to_owned()) };
        let found = match looked {
            Ok(found) => {
                self.wanted.keep(&found);
                self.joined.retain(|_, known| found.contains(&known.found));
                found
            }
            Err(error) => {
                tracing::debug!("contests can't be listed: {error}");
                Vec::new()
            }
        };
        for found in self.in_order(connection, &found).await {
            if self.wanted.wants(found)
                && let Some(joined) = self.join(connection, found, audience).await
            {
                return Some(joined);
            }
        }
        self.beat(connection).await;
        tokio::time::sleep(LOOK).await;
        None
    }

    /// Where it goes first: to contests that have something to play, in the order in which they were begun;
    /// last to where it just was.
    async fn in_order<'a>(
        &self,
        connection: &Connection,
        found: &'a [Found],
    ) -> impl Iterator<Item = &'a Found> + use<'a> {
        let several = found.len() > 1;
        let mut ranked = Vec::new();
        for found in found {
            let wanted = several && self.wanted.wants(found);
            let has_orders = wanted && has_orders(connection, &found.names).await;
            let is_left = self.left.as_ref() == Some(&found.names.id);
            ranked.push((if has_orders { 0 } else { 1 + u8::from(is_left) }, found));
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, found)| found)
    }

    async fn join(
        &mut self,
        connection: &Connection,
        found: &Found,
        audience: &mut impl Audience,
    ) -> Option<Arc<Joined>> {
        let id = &found.names.id;
        if let Some(known) = self.joined.get(id).filter(|known| known.found == *found) {
            return Some(known.clone());
        }
        let (root, lent) = (self.root.path(), &self.settings.lent);
        match Joined::join(found, connection, &self.info, root, lent).await {
            Ok(joined) => {
                self.wanted.accept(found);
                audience.tell(&format!("plays in {}", found.name()));
                let joined = Arc::new(joined);
                self.joined.insert(id.clone(), joined.clone());
                Some(joined)
            }
            Err(unfit) => {
                self.refuse(found, unfit, audience);
                None
            }
        }
    }

    fn refuse(&mut self, found: &Found, unfit: Unfit, audience: &mut impl Audience) {
        let text = format!("does not play in {}: {}", found.name(), tame(&unfit.why));
        if self.wanted.refuse(found, unfit) {
            audience.tell(&text);
        }
    }

    /// Says in contests that it doesn't fit that it is there, and why it doesn't play.
    async fn beat(&mut self, connection: &Connection) {
        let now = Instant::now();
        if !connection.is_up() || now < self.beat_at {
            return;
        }
        self.beat_at = now + Duration::from_millis(BEAT_MS);
        for refused in self.wanted.refused() {
            let beat = Beat {
                worker: self.info.clone(),
                refused: Some(refused.unfit.why.clone()),
                ..Beat::default()
            };
            let bytes = serde_json::to_vec(&beat).unwrap_or_default();
            let subject = refused.found.names.beats();
            hand(connection.client.publish(subject, bytes.into())).await;
        }
    }

    /// Plays in a contest as long as there is a reason to.
    async fn play(
        &mut self,
        connection: &Connection,
        joined: Arc<Joined>,
        interrupts: &mut Interrupts,
        audience: &mut impl Audience,
    ) {
        let found = joined.found.clone();
        let wanted = self.wanted.clone();
        let session = async {
            let session = Session::new(connection.clone(), joined, &self.info, wanted)?;
            Box::pin(session.run(&self.settings, &mut self.busy, interrupts, audience)).await
        };
        let (why, played) = match session.await {
            Ok(left) => left,
            Err(error) => {
                let why = format!("matches can't be played: {error}");
                return self.refuse(&found, why.into(), audience);
            }
        };
        self.played += played;
        self.left = Some(found.names.id.clone());
        let name = found.name();
        match why {
            Why::Over => {
                self.joined.remove(&found.names.id);
                audience.tell(&format!("{name} is over; {played} games played in it"));
            }
            Why::Stalled(gap) => {
                // Its place in the order of contests is what it was.
                self.left = None;
                let seconds = gap.as_secs();
                audience.tell(&format!(
                    "stood still for {seconds} s: the matches that were under way are left to others"
                ));
            }
            Why::Broken => {
                let why = "matches can't be played any more".to_owned();
                self.refuse(&found, why.into(), audience);
            }
            Why::Stopped | Why::Elsewhere | Why::Idle | Why::Interrupted => {}
        }
    }
}
