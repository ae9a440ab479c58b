//! The matches that this program plays: started from the page, or by the command that started the
//! server. Each match from the page has its own pool, so that it has its own pace and can be stopped
//! alone.

use super::errors::{ApiError, ApiResult};
use super::people::People;
use super::permits::{NoPermit, Permit, Permits};
use super::rows::Row;
use super::served_folder::{SeenBy, ServedFolder};
use super::visitor::{Asker, Session, Visitor};
use axum::http::StatusCode;
use rand::TryRng;
use rand::rngs::SysRng;
use referee_games::{GameKind, Turn};
use referee_match::draw_key;
use referee_match::times::read_clock;
use referee_play::agent_spec::AgentSpec;
use referee_play::core_context::{Orders, PausedTime};
use referee_play::destination::{DEFAULT_FOLDER, Destination};
use referee_play::human::{HumanInput, PlayerPrompts};
use referee_play::match_settings::MatchSettings;
use referee_play::pool::{Job, Pool, PoolSize, Watching};
use referee_play::reach::{self, ReadableFiles};
use referee_play::running_matches::RunningMatches;
use referee_process::Failure;
use referee_process::cores;
use referee_process::launcher::Share;
use referee_process::lock::lock;
use referee_process::sandbox::Sandbox;
use referee_protocol::{ClockSettings, Event, HeaderSeat, Seat};
use referee_runner::disk::is_nearly_full;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

/// How long agents may take to start.
pub(super) const START_TIME: Duration = Duration::from_secs(180);
/// The longest pause after a turn, in milliseconds.
const PACE_MS_MAX: u64 = 10_000;

/// The most matches with a person at once.
const WITH_PERSON_MAX: usize = 16;

/// The most failures that are kept.
const FAILURES_MAX: usize = 64;

/// Returns a sandbox for this number of agents at once.
pub type SandboxFactory = dyn Fn(usize) -> Result<Sandbox, Failure> + Send + Sync;

/// The matches that may be started from the page.
pub struct Play {
    /// The agents besides the built-in ones.
    pub agents: Vec<OfferedAgent>,
    /// The most matches without a person at once.
    pub jobs: usize,
    /// Files and folders that all agents may read; canonical.
    pub readable: Vec<PathBuf>,
    pub enclose: Box<SandboxFactory>,
}

/// An agent that visitors may start.
#[derive(Clone, Debug)]
pub struct OfferedAgent {
    /// The AGENT argument.
    pub agent: String,
    pub name: String,
    /// The games that it plays; empty: any.
    pub games: Vec<String>,
}

impl fmt::Debug for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agents, jobs, .. } = self;
        f.debug_struct("Play").field("agents", agents).field("jobs", jobs).finish_non_exhaustive()
    }
}

impl Play {
    /// Returns an agent that visitors may start: a built-in one, or one that was named when the server was
    /// started. Never a command typed on the page, and no folder only because it is served: a team's agent
    /// answers its opponents only if the person who runs the server says so.
    pub(super) fn spec(&self, agent: &str) -> ApiResult<AgentSpec> {
        if agent.starts_with('@') || self.agents.iter().any(|offered| offered.agent == agent) {
            return Ok(AgentSpec::read(agent)?);
        }
        Err(ApiError::unfit(format!("{agent:?} can't be started from the page"))
            .help("choose @human, a built-in agent, or one given with `referee serve --agent`"))
    }

    /// Returns a sandbox for this number of agents at once, whose agents slow no match that somebody else plays on
    /// this machine.
    pub(super) fn sandbox(&self, agents: usize) -> ApiResult<Sandbox> {
        let (free, all) = (cores::free_of_matches(), cores::allowed());
        if free.is_empty() && !all.is_empty() {
            let text = "a match is pinned to every core of this machine";
            return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, text).help(
                "wait for its end, or leave a core free with fewer `jobs` in the contest file",
            ));
        }
        Ok((self.enclose)(agents)?.sharing(Share::Rest(free)))
    }

    /// Returns the agent of a recorded seat, if visitors may start it: by the name that the transcript has, or
    /// by its files, since a contest names agents otherwise.
    pub(super) fn recorded(&self, seat: &HeaderSeat) -> ApiResult<AgentSpec> {
        let named = self.spec(seat.agent.as_deref().unwrap_or_default());
        named.or_else(|refused| {
            let mut offered = self.agents.iter().filter_map(|it| AgentSpec::read(&it.agent).ok());
            offered.find(|spec| spec.digest == seat.digest).ok_or(refused)
        })
    }
}

/// A request to start a match.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MatchRequest {
    pub(super) game: String,
    #[serde(default)]
    pub(super) setup: Map<String, Value>,
    pub(super) seats: Vec<String>,
    pub(super) clock: Option<String>,
    #[serde(default)]
    pub(super) pace_ms: u64,
}

/// A match that this program plays.
#[derive(Clone, Debug)]
struct HostedMatch {
    people: Arc<People>,
    /// Controls this match alone; `None` if another part of the program started it.
    orders: Option<watch::Sender<Orders>>,
}

/// The matches that this program plays.
#[derive(Debug)]
pub(super) struct HostedMatches {
    play: Option<Play>,
    orders: watch::Receiver<Orders>,
    paused: PausedTime,
    /// By the canonical path of the transcript.
    running: Mutex<BTreeMap<PathBuf, HostedMatch>>,
    /// The last matches that failed, with the reason, by the path of the transcript.
    failures: Mutex<VecDeque<(PathBuf, String)>>,
    with_person: Permits,
    others: Permits,
    questions: Permits,
}

/// What runs in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// A match with a person, who may think for hours: it must not block others.
    WithPerson,
    /// A match between agents.
    Others,
    /// A question to one agent, for seconds.
    Question,
}

impl HostedMatches {
    /// `orders` and `paused` are those of the whole program.
    pub(super) fn new(
        play: Option<Play>,
        orders: watch::Receiver<Orders>,
        paused: PausedTime,
    ) -> Self {
        let jobs = play.as_ref().map_or(0, |play| play.jobs);
        let [others, questions] = [(); 2].map(|()| Permits::new(jobs));
        let (running, failures) = (Mutex::default(), Mutex::default());
        let with_person = Permits::new(WITH_PERSON_MAX);
        Self { play, orders, paused, running, failures, with_person, others, questions }
    }

    pub(super) fn can_play(&self) -> Option<&Play> {
        self.play.as_ref()
    }

    /// Adds a match that another part of the program plays, with its people.
    pub(super) fn register(&self, transcript: PathBuf, prompts: Arc<PlayerPrompts>) {
        let people = Arc::new(People::new(prompts, None, &[]));
        lock(&self.running).insert(transcript, HostedMatch { people, orders: None });
    }

    /// Removes that match.
    pub(super) fn unregister(&self, transcript: &Path) {
        lock(&self.running).remove(transcript);
    }

    /// Returns whether this program plays the match of a transcript.
    pub(super) fn plays(&self, transcript: &Path) -> bool {
        lock(&self.running).contains_key(transcript)
    }

    /// Returns whether this visitor can [`Self::stop`] the match of a transcript.
    pub(super) fn can_stop(&self, transcript: &Path, who: &Session) -> bool {
        let running = lock(&self.running);
        let hosted = running.get(transcript).filter(|hosted| hosted.orders.is_some());
        hosted.is_some_and(|hosted| hosted.people.may_stop(who))
    }

    /// Sets in each row whether this visitor can stop its match.
    pub(super) fn with_stop_flag(
        &self,
        served: &ServedFolder,
        mut rows: Vec<Row>,
        who: &Session,
    ) -> Vec<Row> {
        for row in rows.iter_mut().filter(|row| row.live) {
            row.own = self.can_stop(&served.root().join(&row.file), who);
        }
        rows
    }

    /// Returns why a match of this server failed.
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

    /// Returns the people of a match, if this program plays it.
    pub(super) fn people(&self, transcript: &Path) -> Option<Arc<People>> {
        lock(&self.running).get(transcript).map(|hosted| hosted.people.clone())
    }

    /// Stops a match, if this visitor may; it is void.
    pub(super) fn stop(&self, transcript: &Path, who: &Session) -> ApiResult<()> {
        let hosted = lock(&self.running).get(transcript).cloned();
        let hosted = hosted.and_then(|HostedMatch { people, orders }| Some((people, orders?)));
        let (people, orders) = hosted.ok_or_else(|| {
            ApiError::conflict("this server isn't playing that match")
                .help("it may be over, or another program plays it")
        })?;
        if !people.may_stop(who) {
            let text = "another visitor started that match";
            return Err(ApiError::new(StatusCode::FORBIDDEN, text).help(
                "only they can stop it, or anyone once its person has been away for 10 minutes",
            ));
        }
        orders.send_modify(|orders| orders.stop = Some("stopped from the page".to_owned()));
        Ok(())
    }

    /// Waits until no agent from the page is running.
    pub(super) async fn wait_empty(&self) {
        let Self { with_person, others, questions, .. } = self;
        tokio::join!(
            with_person.wait_until_free(),
            others.wait_until_free(),
            questions.wait_until_free()
        );
    }

    /// Starts a match and returns the path of its transcript. Blocks until it has started.
    pub(super) fn start_match(
        self: &Arc<Self>,
        served: &ServedFolder,
        request: &MatchRequest,
        who: &Asker,
    ) -> ApiResult<PathBuf> {
        let known = self.allowed()?;
        if served.is_in_contest() {
            let text = "the served folder is a contest's, in which there are only the contest's own matches";
            return Err(ApiError::conflict(text).help("serve the folder above it to start others"));
        }
        if is_nearly_full(served.root()) {
            let text = "the disk is nearly full, so no match is started from the page";
            return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, text).help(
                "free some space, for example remove what is no longer needed in `matches`",
            ));
        }
        let pace_ms = request.pace_ms;
        if pace_ms > PACE_MS_MAX {
            let text = format!("the pause after a turn is at most {PACE_MS_MAX} ms, not {pace_ms}");
            return Err(ApiError::unfit(text));
        }
        let kind = served
            .games()
            .find(&request.game)
            .ok_or_else(|| ApiError::unfit(format!("unknown game {:?}", request.game)))?;
        let job = job(served, kind, known, request)?;
        let slot =
            if people(&job.seated).next().is_some() { Slot::WithPerson } else { Slot::Others };
        let (session, from) = who;
        let permit = self.enter(slot, *from)?;
        let sandbox = known.sandbox(programs(&job) * known.jobs)?;
        job.readable_files.check(sandbox.launcher.layers, &job.seated)?;
        let seen_by = served.seen_by().clone();
        self.start(job, sandbox, Duration::from_millis(pace_ms), permit, session, seen_by)
    }

    /// Returns what may be started now.
    pub(super) fn allowed(&self) -> ApiResult<&Play> {
        if self.orders.borrow().stop.is_some() {
            return Err(ApiError::conflict("the server is stopping"));
        }
        self.play.as_ref().ok_or_else(|| {
            ApiError::new(StatusCode::FORBIDDEN, "this server doesn't start matches")
                .help("it was started with --no-play")
        })
    }

    /// Takes a slot for a visitor, if one is free. Programs on this machine may take all.
    pub(super) fn enter(&self, slot: Slot, from: Visitor) -> ApiResult<Permit> {
        let (permits, what, help) = match slot {
            Slot::WithPerson => (
                &self.with_person,
                "matches with a person are running",
                "finish or stop one of them on the page",
            ),
            Slot::Others => (
                &self.others,
                "matches between agents are running",
                "wait for one to end, stop one on the page, or allow more with `referee serve --jobs N`",
            ),
            Slot::Question => (
                &self.questions,
                "agents are being asked",
                "wait some seconds, or allow more with `referee serve --jobs N`",
            ),
        };
        let whose = (!from.is_this_machine()).then(|| from.to_string());
        let refused = match permits.try_take(whose.as_deref()) {
            Ok(permit) => return Ok(permit),
            Err(refused) => refused,
        };
        let text = match refused {
            NoPermit::AllTaken => format!("{} {what}, the most at once", permits.most()),
            NoPermit::HasHalf => format!("{} {what} for you, the most at once", permits.half()),
        };
        Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, text).help(help))
    }

    fn start(
        self: &Arc<Self>,
        mut job: Job,
        sandbox: Sandbox,
        pace: Duration,
        permit: Permit,
        who: &Session,
        seen_by: SeenBy,
    ) -> ApiResult<PathBuf> {
        let failed = |error: std::io::Error| ApiError::machine(error.to_string());
        let header = job.header(&sandbox.recorded).map_err(failed)?;
        job.destination = job.destination.reserved(&header).map_err(failed)?;
        let prompts = Arc::<PlayerPrompts>::default();
        job.human_input = HumanInput::Prompts(prompts.clone());
        let Destination::File { path, .. } = &job.destination else {
            return Err(ApiError::machine("the match has no transcript file"));
        };
        let path = path.canonicalize().map_err(failed)?;
        let seats: Vec<Seat> = people(&job.seated).collect();
        if let Some(seat) = seats.first().filter(|_| job.kind.is_hidden()) {
            lock(&seen_by).insert(path.clone(), *seat);
        }
        let people = Arc::new(People::new(prompts, Some(who.clone()), &seats));
        let orders = {
            // Under the lock: new orders are either read here or forwarded to the list.
            let mut running = lock(&self.running);
            let orders = watch::Sender::new(self.orders.borrow().clone());
            running.insert(path.clone(), HostedMatch { people, orders: Some(orders.clone()) });
            orders
        };
        let guard =
            MatchGuard { matches: self.clone(), path: path.clone(), seen_by, _permit: permit };
        let (watching, live) = (watching(pace), RunningMatches::default());
        let (size, orders) =
            (PoolSize { matches: 1, pin: false, uses_free_cores: false }, orders.subscribe());
        let pool = Pool::start(size, sandbox, orders, self.paused.clone(), watching, live);
        let pool = pool.map_err(failed)?;
        let play = move || {
            if let Err(error) = play_one(pool, job) {
                tracing::warn!("a match from the page failed: {error}");
                let why = format!("the match ended without a result: {error}");
                guard.matches.remember(guard.path.clone(), why);
            }
            drop(guard);
        };
        std::thread::Builder::new().name("match".to_owned()).spawn(play).map_err(failed)?;
        Ok(path)
    }

    /// Forwards the orders of the whole program to each match, until they say stop.
    pub(super) async fn forward_orders(&self) {
        let mut all = self.orders.clone();
        loop {
            let orders = all.borrow_and_update().clone();
            for hosted in lock(&self.running).values() {
                if let Some(sender) = &hosted.orders {
                    sender.send_modify(|known| {
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

/// Removes a match from the list when it is dropped.
struct MatchGuard {
    matches: Arc<HostedMatches>,
    path: PathBuf,
    seen_by: SeenBy,
    /// Dropped after the rest.
    _permit: Permit,
}

impl Drop for MatchGuard {
    fn drop(&mut self) {
        lock(&self.matches.running).remove(&self.path);
        lock(&self.seen_by).remove(&self.path);
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

/// Pauses between the moves of two agents; a person waits for nobody.
fn watching(pace: Duration) -> Box<Watching> {
    Box::new(move |_| {
        Box::new(move |event, state| {
            let Event::Played(played) = event else { return };
            let is_agent = |seat: Seat| !state.header().seats[seat.index()].is_human();
            if let Turn::Of(next) = state.game().turn()
                && is_agent(played.seat)
                && is_agent(next)
            {
                std::thread::sleep(pace);
            }
        })
    })
}

/// Returns the seats that people play.
fn people(specs: &[Arc<AgentSpec>]) -> impl Iterator<Item = Seat> {
    let seats = Seat::all(specs.len()).zip(specs);
    seats.filter(|(_, spec)| spec.launch.is_none()).map(|(seat, _)| seat)
}

fn programs(job: &Job) -> usize {
    job.seated.iter().filter(|spec| spec.launch.is_some()).count()
}

/// Checks a request and returns its match.
pub(super) fn job(
    served: &ServedFolder,
    kind: GameKind,
    play: &Play,
    request: &MatchRequest,
) -> ApiResult<Job> {
    let setup = Value::Object(request.setup.clone());
    let game =
        kind.start(&setup).map_err(|error| ApiError::unfit(error.to_string()).help(&error.help))?;
    let (seats, given) = (game.seats(), request.seats.len());
    if seats != given {
        let text = format!("{} needs {seats} agents, {given} were given", kind.name);
        return Err(ApiError::unfit(text).help("choose an agent for every seat"));
    }
    let read = |agent: &String| play.spec(agent).map(Arc::new);
    let specs: Vec<Arc<AgentSpec>> = request.seats.iter().map(read).collect::<ApiResult<_>>()?;
    for spec in &specs {
        spec.check_plays(kind)?;
    }
    let people = people(&specs).count();
    if kind.is_hidden() && people > 1 {
        let text = format!("{} has hidden information, and all would see the same page", kind.name);
        return Err(ApiError::unfit(text).help("let a person play in one seat only"));
    }
    let folder = served.root().join(DEFAULT_FOLDER);
    if folder.is_symlink() {
        let text = format!("{DEFAULT_FOLDER} is a link, so no transcript is written there");
        return Err(ApiError::conflict(text).help("replace it with a folder"));
    }
    let destination = Destination::Folder(folder);
    let shared_rules = reach::shared_rules(&specs, &destination.places(), &play.readable);
    Ok(Job {
        number: 0,
        kind,
        setup,
        seated: specs,
        conditions: MatchSettings {
            clock: clock(request, people > 0)?,
            ..MatchSettings::default()
        },
        no_void: Vec::new(),
        seed: seed()?,
        draw_key: new_draw_key(kind)?,
        readable_files: Arc::new(ReadableFiles::new(shared_rules)),
        human_input: HumanInput::default(),
        destination,
        hides: people == 0,
        is_single: true,
    })
}

/// Returns the clock, as in `referee play`: by default a match with a person has no limit. Agents that run behind everything
/// else on this machine may take longer to start.
fn clock(request: &MatchRequest, person: bool) -> ApiResult<ClockSettings> {
    let start_ms = START_TIME.as_secs() * 1000;
    let mut settings = ClockSettings { start_ms, ..ClockSettings::default() };
    if let Some(text) = &request.clock {
        let read = read_clock(text);
        let unfit = |error| ApiError::unfit(format!("clock {text:?}: {error}"));
        let (bank_ms, increment_ms) = read.map_err(unfit)?;
        settings = ClockSettings { bank_ms: Some(bank_ms), increment_ms, ..settings };
    } else if person {
        let bank_ms = Some(ClockSettings::MS_MAX);
        settings = ClockSettings { bank_ms, increment_ms: 0, ..settings };
    }
    settings.check().map_err(|error| ApiError::unfit(format!("clock: {error}")))?;
    Ok(settings)
}

/// Draws a key for a game in which draws are hidden.
fn new_draw_key(kind: GameKind) -> ApiResult<Option<String>> {
    let needs_key = kind.program().is_some_and(|it| it.has_chance() && it.is_hidden());
    needs_key.then(|| Ok(draw_key(&format!("{}{}", seed()?, seed()?), seed()?))).transpose()
}

/// Draws a seed below 2^53, which every language can represent exactly.
fn seed() -> ApiResult<u64> {
    let drawn = SysRng.try_next_u64();
    let failed =
        |error| ApiError::machine(format!("cannot get random bytes from the system: {error}"));
    Ok(drawn.map_err(failed)? >> 11)
}
