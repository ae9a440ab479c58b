//! Matches that this server plays: begun from the page, or by the command that started it. Each has a
//! pool of its own, so that it can be watched at its own pace and stopped alone.

use super::errors::{Answer, Refused};
use super::place::Place;
use super::rows::Row;
use axum::http::StatusCode;
use rand::TryRng;
use rand::rngs::SysRng;
use referee_games::kind;
use referee_match::times::{read_clock, read_time};
use referee_play::agent_spec::AgentSpec;
use referee_play::core_context::{Orders, PausedTime};
use referee_play::destination::{DEFAULT_FOLDER, Destination};
use referee_play::human::{HumanInput, PlayerPrompts};
use referee_play::match_settings::MatchSettings;
use referee_play::pool::{Job, Pool, PoolSize as OnCores, Watching};
use referee_play::reach::{self, ReadableFiles};
use referee_play::running_matches::RunningMatches as Noted;
use referee_process::Failure;
use referee_process::lock::lock;
use referee_process::sandbox::Enclosure;
use referee_protocol::{ClockSettings, Event};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

/// Seeds are below this, so that every language can hold one in a number.
const SEED_BOUND: u64 = 1 << 53;
/// The longest wait after a turn, in milliseconds.
const PACE_MS_MAX: u64 = 10_000;

/// So many matches with a person may be under way at once. They think for hours: their matches are
/// counted apart, so that they keep nobody else from playing.
const WITH_PERSON_MAX: u32 = 16;

/// So many failures are remembered.
const FAILURES_MAX: usize = 64;

/// Finds what agents are started in, so many of them at once.
pub type Enclose = dyn Fn(usize) -> Result<Enclosure, Failure> + Send + Sync;

/// What may be played here.
pub struct Play {
    /// Agents that may be named beside the built-in ones, as people write them.
    pub agents: Vec<String>,
    /// How many matches without a person may be under way at once.
    pub jobs: usize,
    /// What agents are started in.
    pub enclose: Box<Enclose>,
}

impl fmt::Debug for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agents, jobs, .. } = self;
        f.debug_struct("Play").field("agents", agents).field("jobs", jobs).finish_non_exhaustive()
    }
}

/// A match that somebody wants.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wish {
    game: String,
    #[serde(default = "no_setup")]
    setup: Value,
    seats: Vec<String>,
    clock: Option<String>,
    move_time: Option<String>,
    seed: Option<u64>,
    pace_ms: Option<u64>,
}

fn no_setup() -> Value {
    Value::Object(serde_json::Map::new())
}

/// A match that this program plays now.
#[derive(Clone, Debug)]
struct Own {
    desks: Arc<PlayerPrompts>,
    /// For this match alone; none where another part of the program has begun it.
    orders: Option<watch::Sender<Orders>>,
}

/// The matches that this program plays.
#[derive(Debug)]
pub(super) struct Hall {
    play: Option<Play>,
    orders: watch::Receiver<Orders>,
    paused: PausedTime,
    /// By the canonical path of the transcript.
    own: Mutex<BTreeMap<PathBuf, Own>>,
    /// The last matches whose transcript couldn't be written to its end, and why.
    failures: Mutex<VecDeque<(PathBuf, String)>>,
    /// Room for matches with a person, and for others.
    with_person: PoolSize,
    others: PoolSize,
}

/// Room for so many matches at once.
#[derive(Debug)]
struct PoolSize {
    most: u32,
    free: Arc<Semaphore>,
}

impl PoolSize {
    fn new(most: u32) -> Self {
        Self { most, free: Arc::new(Semaphore::new(most as usize)) }
    }

    /// Waits until nothing is played in it.
    async fn empty(&self) {
        self.free.acquire_many(self.most).await.map(drop).ok();
    }
}

impl Hall {
    /// `orders` and `paused` are those of the whole program.
    pub(super) fn new(
        play: Option<Play>,
        orders: watch::Receiver<Orders>,
        paused: PausedTime,
    ) -> Self {
        let jobs = play.as_ref().map_or(0, |play| play.jobs);
        let others = PoolSize::new(u32::try_from(jobs).unwrap_or(u32::MAX));
        let (own, failures) = (Mutex::default(), Mutex::default());
        let with_person = PoolSize::new(WITH_PERSON_MAX);
        Self { play, orders, paused, own, failures, with_person, others }
    }

    pub(super) fn can_play(&self) -> Option<&Play> {
        self.play.as_ref()
    }

    /// A match that another part of the program plays, whose people sit at these desks.
    pub(super) fn host(&self, transcript: PathBuf, desks: Arc<PlayerPrompts>) {
        lock(&self.own).insert(transcript, Own { desks, orders: None });
    }

    /// That match is not played any more.
    pub(super) fn release(&self, transcript: &Path) {
        lock(&self.own).remove(transcript);
    }

    /// Whether a transcript is written by this program.
    pub(super) fn plays(&self, transcript: &Path) -> bool {
        lock(&self.own).contains_key(transcript)
    }

    /// Whether a transcript is that of a match that [`Self::stop`] ends.
    pub(super) fn can_stop(&self, transcript: &Path) -> bool {
        lock(&self.own).get(transcript).is_some_and(|own| own.orders.is_some())
    }

    /// Says of each row whether its match can be stopped.
    pub(super) fn marked(&self, place: &Place, mut rows: Vec<Row>) -> Vec<Row> {
        for row in rows.iter_mut().filter(|row| row.live) {
            row.own = self.can_stop(&place.root().join(&row.file));
        }
        rows
    }

    /// Why a match that this server played has no end.
    pub(super) fn failure(&self, transcript: &Path) -> Option<String> {
        let failures = lock(&self.failures);
        let failure = failures.iter().rev().find(|(path, _)| path == transcript);
        failure.map(|(_, why)| why.clone())
    }

    fn remember(&self, transcript: PathBuf, why: String) {
        let mut failures = lock(&self.failures);
        if failures.len() >= FAILURES_MAX {
            failures.pop_front();
        }
        failures.push_back((transcript, why));
    }

    /// Where the people of a match sit, if it is played here.
    pub(super) fn desks(&self, transcript: &Path) -> Option<Arc<PlayerPrompts>> {
        lock(&self.own).get(transcript).map(|own| own.desks.clone())
    }

    /// Ends a match void.
    pub(super) fn stop(&self, transcript: &Path) -> Answer<()> {
        let own = lock(&self.own).get(transcript).cloned();
        let orders = own.and_then(|own| own.orders).ok_or_else(|| {
            Refused::conflict("this server isn't playing that match")
                .help("a match is stopped where it was started; it may be over")
        })?;
        orders.send_modify(|orders| orders.stop = Some("stopped from the page".to_owned()));
        Ok(())
    }

    /// Waits until nothing is played any more.
    pub(super) async fn empty(&self) {
        tokio::join!(self.with_person.empty(), self.others.empty());
    }

    /// Begins a match, and tells where its transcript is. Takes a moment.
    pub(super) fn begin(
        self: &Arc<Self>,
        place: &Place,
        agents: &[String],
        wish: &Wish,
    ) -> Answer<PathBuf> {
        let Some(known) = &self.play else {
            let told = "this server plays no matches";
            return Err(
                Refused::new(StatusCode::FORBIDDEN, told).help("it was started with --no-play")
            );
        };
        if self.orders.borrow().stop.is_some() {
            return Err(Refused::conflict("the server is about to end"));
        }
        let pace_ms = wish.pace_ms.unwrap_or(0);
        if pace_ms > PACE_MS_MAX {
            let told = format!("pace_ms: {pace_ms} ms after a turn are too long a wait");
            return Err(Refused::unfit(told).help(format!("{PACE_MS_MAX} ms at most")));
        }
        let job = job(place, known, agents, wish)?;
        let permit = self.enter(with_person(&job.seated))?;
        let enclosure = (known.enclose)(programs(&job) * known.jobs)?;
        job.readable_files.check(enclosure.jail.layers, &job.seated)?;
        self.start(job, enclosure, Duration::from_millis(pace_ms), permit)
    }

    /// A permit for a match, where there is room for one more.
    fn enter(&self, person: bool) -> Answer<OwnedSemaphorePermit> {
        let room = if person { &self.with_person } else { &self.others };
        if let Ok(permit) = room.free.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let most = room.most;
        let (what, help) = if person {
            ("with a person", "stop one of them on the page, or play it to its end")
        } else {
            (
                "between agents",
                "stop one of them on the page, or wait for its end; `referee serve --jobs N` \
                 allows more",
            )
        };
        let told = format!("matches {what} that are played already: {most}, the most at once");
        Err(Refused::new(StatusCode::TOO_MANY_REQUESTS, told).help(help))
    }

    fn start(
        self: &Arc<Self>,
        mut job: Job,
        enclosure: Enclosure,
        pace: Duration,
        permit: OwnedSemaphorePermit,
    ) -> Answer<PathBuf> {
        let failed = |error: std::io::Error| Refused::machine(error.to_string());
        let (header, _) = job.header(&enclosure.told).map_err(failed)?;
        job.destination = job.destination.reserved(&header).map_err(failed)?;
        let desks = Arc::<PlayerPrompts>::default();
        job.human_input = HumanInput::Prompts(desks.clone());
        let Destination::File { path, .. } = &job.destination else {
            return Err(Refused::machine("a match without a file"));
        };
        let path = path.canonicalize().map_err(failed)?;
        let orders = {
            // What is ordered meanwhile is either here already, or passed on to what is in the list.
            let mut own = lock(&self.own);
            let orders = watch::Sender::new(self.orders.borrow().clone());
            own.insert(path.clone(), Own { desks, orders: Some(orders.clone()) });
            orders
        };
        let (begun, told) = oneshot::channel();
        let match_of = Playing { hall: self.clone(), path: path.clone(), _permit: permit };
        let paused = self.paused.clone();
        std::thread::Builder::new()
            .name("match".to_owned())
            .spawn(move || {
                let room = OnCores { matches: 1, pin: false };
                let (watching, noted) = (watching(pace), Noted::default());
                let orders = orders.subscribe();
                let pool = Pool::start(room, enclosure, orders, paused, watching, noted);
                match pool {
                    Ok(pool) => {
                        begun.send(Ok(())).ok();
                        if let Err(error) = play_one(pool, job) {
                            tracing::warn!("a match from the page doesn't count: {error}");
                            let why = format!("the match ended without a result: {error}");
                            match_of.hall.remember(match_of.path.clone(), why);
                        }
                    }
                    Err(error) => {
                        begun.send(Err(error)).ok();
                    }
                }
                drop(match_of);
            })
            .map_err(failed)?;
        let begun = told.blocking_recv();
        begun.map_err(|_| Refused::machine("the match ended before it began"))?.map_err(failed)?;
        Ok(path)
    }

    /// Passes what is ordered of the whole program on to each match, until everything is to stop.
    pub(super) async fn pass_on(&self) {
        let mut all = self.orders.clone();
        loop {
            let orders = all.borrow_and_update().clone();
            for own in lock(&self.own).values() {
                if let Some(own) = &own.orders {
                    own.send_modify(|known| {
                        known.paused = orders.paused;
                        known.stop = known.stop.take().or(orders.stop.clone());
                    });
                }
            }
            if orders.stop.is_some() || all.changed().await.is_err() {
                return;
            }
        }
    }
}

/// A match under way; it is not any more when this is dropped.
struct Playing {
    hall: Arc<Hall>,
    path: PathBuf,
    /// Dropped after the rest.
    _permit: OwnedSemaphorePermit,
}

impl Drop for Playing {
    fn drop(&mut self) {
        lock(&self.hall.own).remove(&self.path);
    }
}

fn play_one(pool: Pool, job: Job) -> std::io::Result<()> {
    let Pool { jobs, mut results, threads } = pool;
    let sent = jobs.blocking_send(job).is_ok();
    let played = if sent { results.blocking_recv() } else { None };
    drop(jobs);
    threads.join();
    played.map_or(Ok(()), |played| played.result.map(|_| ()))
}

fn watching(pace: Duration) -> Box<Watching> {
    Box::new(move |_| {
        Box::new(move |event, _| {
            if matches!(event, Event::Played(_)) {
                std::thread::sleep(pace);
            }
        })
    })
}

fn with_person(specs: &[Arc<AgentSpec>]) -> bool {
    specs.iter().any(|spec| spec.launch.is_none())
}

fn programs(job: &Job) -> usize {
    job.seated.iter().filter(|spec| spec.launch.is_some()).count()
}

/// What is to be played, if everything about it is as it should be.
fn job(place: &Place, play: &Play, agents: &[String], wish: &Wish) -> Answer<Job> {
    let kind = kind(&wish.game)
        .ok_or_else(|| Refused::unfit(format!("there is no game {:?}", wish.game)))?;
    let game = kind.start(&wish.setup).map_err(|error| {
        let refused = Refused::unfit(error.to_string());
        error.help().map(|help| refused.clone().help(help)).unwrap_or(refused)
    })?;
    let (seats, given) = (game.seats(), wish.seats.len());
    if seats != given {
        let told = format!("{} is played by {seats} here, not by {given}", kind.name);
        return Err(Refused::unfit(told).help("name an agent for every seat"));
    }
    let read = |agent: &String| spec(place, play, agents, agent).map(Arc::new);
    let specs: Vec<Arc<AgentSpec>> = wish.seats.iter().map(read).collect::<Answer<_>>()?;
    for spec in &specs {
        spec.check_plays(kind)?;
    }
    let person = with_person(&specs);
    let destination = Destination::Folder(place.root().join(DEFAULT_FOLDER));
    let ground = reach::ground(&specs, &destination.places(), &[]);
    Ok(Job {
        number: 0,
        kind,
        setup: wish.setup.clone(),
        seated: specs,
        conditions: MatchSettings { clock: clock(wish, person)?, ..MatchSettings::default() },
        seed: seed(wish.seed)?,
        readable_files: Arc::new(ReadableFiles::new(ground)),
        human_input: HumanInput::default(),
        destination,
        durable: true,
    })
}

/// An agent that may be started from the page: never a command that somebody typed there.
fn spec(place: &Place, play: &Play, below: &[String], agent: &str) -> Answer<AgentSpec> {
    if agent.starts_with('@') || play.agents.iter().any(|given| given == agent) {
        return Ok(AgentSpec::read(agent)?);
    }
    if below.iter().any(|folder| folder == agent) {
        let folder = place.find(agent)?;
        let mut spec = AgentSpec::read_in("./", &folder)?;
        agent.clone_into(&mut spec.written);
        return Ok(spec);
    }
    Err(Refused::unfit(format!("{agent:?} isn't one of the agents that may be named here")).help(
        "there are @human, the built-in ones, those that `referee serve --agent` was given, and \
         folders with an agent.toml below the one that is served",
    ))
}

/// As `play` has it: a person without a clock takes their time.
fn clock(wish: &Wish, person: bool) -> Answer<ClockSettings> {
    let unfit =
        |name: &str, text: &str, error: String| Refused::unfit(format!("{name} {text:?}: {error}"));
    let time = |text: &String| read_time(text).map_err(|error| unfit("move_time", text, error));
    let move_ms = wish.move_time.as_ref().map(time).transpose()?;
    let default = ClockSettings::default();
    let (bank_ms, increment_ms) = match (&wish.clock, move_ms) {
        (Some(text), _) => {
            let read = read_clock(text).map_err(|error| unfit("clock", text, error))?;
            (Some(read.0), read.1)
        }
        (None, Some(_)) => (None, 0),
        (None, None) if person => (Some(ClockSettings::MS_MAX), 0),
        (None, None) => (default.bank_ms, default.increment_ms),
    };
    let settings = ClockSettings { bank_ms, increment_ms, move_ms, ..default };
    settings.check().map_err(|error| Refused::unfit(format!("clock: {error}")))?;
    Ok(settings)
}

fn seed(given: Option<u64>) -> Answer<u64> {
    if let Some(seed) = given {
        let fits = (seed < SEED_BOUND).then_some(seed);
        return fits.ok_or_else(|| Refused::unfit("a seed is below 2^53"));
    }
    let drawn = SysRng.try_next_u64();
    let drawn = drawn.map_err(|error| Refused::machine(format!("no randomness: {error}")))?;
    Ok(drawn % SEED_BOUND)
}
