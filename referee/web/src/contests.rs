//! Contests: their progress, standings and games. They are read from the store, also while another program
//! plays; nothing is written there.

use super::App;
use super::course::{Audience, site};
use super::errors::{ApiError, ApiResult, run_costly};
use super::listing::games_of;
use super::overview::{COUNT, COUNT_MAX};
use super::workers::{name_workers, worker_rows};
use axum::Json;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use referee_contest::ratings::Ends;
use referee_contest::report::{GameRow, OwnRatings, Report};
use referee_contest::{Contest, Player, Record};
use referee_games::Games;
use referee_process::Failure;
use referee_process::launcher::background_thread;
use referee_process::lock::lock;
use referee_runner::course::{NextGame, Team, is_awaiting_agents, progress};
use referee_runner::folder::{Folder, STORE_FILE};
use referee_runner::records::{GameFilter, StoredRecords};
use referee_runner::results::{Progress, assemble, report_failure, schedule};
use referee_runner::store::{Store, VoidAttempt};
use referee_runner::workers;
use serde::Deserialize;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, TryLockError, mpsc};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// A cached value is computed again at the earliest after this many times the time that it took: running
/// matches need the cores.
const PAUSE_FACTOR: u32 = 20;
/// How many of the games that come next a page shows.
pub(super) const NEXT_SHOWN: usize = 10;
/// The most games that come next of which it is known who plays.
const NEXT_MAX: usize = 10_000;
/// The most contests in the list.
const CONTESTS_MAX: usize = 200;

/// Larger cross tables can't be read on a page.
const CROSS_PLAYERS_MAX: usize = 40;

/// Cached values of contests.
#[derive(Debug, Default)]
pub(super) struct Contests {
    progress: Cache<Progress>,
    reports: Cache<Arc<Report>>,
    rated: Cache<Arc<Rated>>,
    next: Cache<Arc<Vec<NextGame>>>,
    unopened: Mutex<BTreeMap<String, Unopened>>,
}

/// A contest that can't be opened.
#[derive(Debug)]
struct Unopened {
    why: ApiError,
    at: Instant,
    took: Duration,
}

impl Contests {
    /// Opens a contest for the home page, which everybody visits: one that can't be opened is tried again after a while.
    fn opened(&self, app: &App, name: &str) -> ApiResult<Opened> {
        if let Some(known) = lock(&self.unopened).get(name)
            && known.at.elapsed() < known.took * PAUSE_FACTOR
        {
            return Err(known.why.clone());
        }
        let began = Instant::now();
        let opened = open(app, name, false);
        let mut unopened = lock(&self.unopened);
        match &opened {
            Ok(_) => drop(unopened.remove(name)),
            Err(why) => {
                let (why, at, took) = (why.clone(), Instant::now(), began.elapsed());
                // Names come and go.
                if unopened.len() >= CONTESTS_MAX {
                    unopened.clear();
                }
                unopened.insert(name.to_owned(), Unopened { why, at, took });
            }
        }
        opened
    }
}

/// A report with the intervals of its ratings over games, which take longer than the report.
#[derive(Debug)]
struct Rated {
    report: Arc<Report>,
    intervals: Vec<Vec<Ends>>,
}

/// Each contest has its own lock, so that a slow one keeps only those waiting who want to see it.
type Cache<T> = Mutex<BTreeMap<String, Arc<Mutex<Option<Cached<T>>>>>>;

/// A value that depends on a contest's results, or why it can't be computed.
#[derive(Debug)]
struct Cached<T> {
    value: ApiResult<T>,
    /// What it was computed from.
    basis: Basis,
    at: Instant,
    took: Duration,
}

/// What tells the results of a contest from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Basis {
    /// The number of games that count.
    games: u64,
    /// The numbers of void games and of changes.
    voids: u64,
    changes: u64,
    is_awaiting: bool,
}

impl Basis {
    /// Returns the present one of a contest in `folder`, of which `store` may have older results.
    fn of(folder: &Folder, store: &Store) -> Result<Self, Failure> {
        Ok(Self {
            games: store.count()?,
            voids: store.count_voids()?,
            changes: store.count_changes()?,
            is_awaiting: is_awaiting_agents(folder, &store.contest_file()?.0),
        })
    }
}

/// How long the home page waits for what contests say, which may be large or anyone's.
const SUMMARIES_WAIT: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize)]
pub(super) struct FolderQuery {
    #[serde(default)]
    folder: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct GamesQuery {
    #[serde(default)]
    folder: String,
    #[serde(default)]
    from: u64,
    count: Option<usize>,
    agent: Option<String>,
    #[serde(default)]
    faults: bool,
    #[serde(default)]
    lost: bool,
}

impl<T: Clone> Cached<T> {
    /// Returns the value unless there are new games and it is old.
    fn get(&self, basis: Basis) -> Option<ApiResult<T>> {
        let is_recent = self.at.elapsed() < self.took * PAUSE_FACTOR;
        (self.basis == basis || is_recent).then(|| self.value.clone())
    }
}

/// Returns the cached value, or computes it; other requests for it wait meanwhile.
fn cached<T: Clone>(
    cache: &Cache<T>,
    folder: &str,
    basis: Basis,
    compute: impl FnOnce() -> ApiResult<T>,
) -> ApiResult<T> {
    let own = lock(cache).entry(folder.to_owned()).or_default().clone();
    value_in(&mut lock(&own), basis, compute)
}

fn value_in<T: Clone>(
    own: &mut Option<Cached<T>>,
    basis: Basis,
    compute: impl FnOnce() -> ApiResult<T>,
) -> ApiResult<T> {
    if let Some(value) = own.as_ref().and_then(|cached| cached.get(basis)) {
        return value;
    }
    let began = Instant::now();
    let value = compute();
    let took = began.elapsed();
    *own = Some(Cached { value: value.clone(), basis, at: Instant::now(), took });
    value
}

/// The same until then; afterwards it is computed beside all requests, at the rate that matches leave.
fn cached_by<T: Clone + Send + 'static>(
    cache: &Cache<T>,
    folder: &str,
    basis: Basis,
    end: Instant,
    compute: impl FnOnce() -> ApiResult<T> + Send + 'static,
) -> ApiResult<T> {
    let own = lock(cache).entry(folder.to_owned()).or_default().clone();
    match own.try_lock().as_deref() {
        Ok(Some(cached)) => {
            if let Some(value) = cached.get(basis) {
                return value;
            }
        }
        Err(TryLockError::WouldBlock) => return Err(not_yet()),
        Ok(None) | Err(TryLockError::Poisoned(_)) => {}
    }
    let (computed, received) = mpsc::channel();
    let thread = std::thread::Builder::new().name("summary".to_owned()).spawn(move || {
        background_thread();
        computed.send(value_in(&mut lock(&own), basis, compute)).ok();
    });
    thread.map_err(|error| ApiError::machine(format!("the referee failed: {error}")))?;
    let left = end.saturating_duration_since(Instant::now());
    received.recv_timeout(left).unwrap_or_else(|_| Err(not_yet()))
}

/// Returns the value that was computed last, whatever has changed since.
fn last_known<T: Clone>(cache: &Cache<T>, folder: &str) -> ApiResult<T> {
    let own = lock(cache).get(folder).cloned();
    let last =
        own.as_ref().and_then(|own| own.try_lock().ok()?.as_ref().map(|it| it.value.clone()));
    last.unwrap_or_else(|| Err(not_yet()))
}

fn not_yet() -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "it is still being read")
}

/// A contest that is looked at.
struct Opened {
    folder: Folder,
    /// The folder with its store: another one if the visitor sees older results.
    stored: Folder,
    store: Store,
    /// What its results are cached by: the folder of its store, so that older results aren't taken for newer ones.
    key: String,
    basis: Basis,
}

/// Opens the contest of a folder as the public sees it; with `newest`, with results that the public doesn't see yet.
fn open(app: &App, name: &str, newest: bool) -> ApiResult<Opened> {
    let (folder, stored) = places(app, name, newest)?;
    let refused = refused(folder.root(), name);
    let store = Store::open_foreign(&stored).map_err(&refused)?;
    Opened::new(folder, stored, store).map_err(&refused)
}

/// Returns the contest's folder and that of its store.
fn places(app: &App, name: &str, newest: bool) -> ApiResult<(Folder, Folder)> {
    let path = app.served.find(name)?;
    let frozen = if newest { None } else { app.frozen()? };
    let folder = Folder::open(&path).map_err(refused(&path, name))?;
    Ok((folder.clone(), frozen.unwrap_or(folder)))
}

/// Turns failures into errors that don't show where the contest's folder is.
fn refused(place: &Path, name: &str) -> impl Fn(Failure) -> ApiError + use<> {
    let own = place.display().to_string();
    let shown = if name.is_empty() { "." } else { name }.to_owned();
    move |error| ApiError::unfit(error.to_string().replace(&own, &shown))
}

/// Returns what the results in the store of this folder are cached by.
fn key(stored: &Folder) -> String {
    stored.root().display().to_string()
}

impl Opened {
    fn new(folder: Folder, stored: Folder, store: Store) -> Result<Self, Failure> {
        let basis = Basis::of(&folder, &store)?;
        let key = key(&stored);
        Ok(Self { folder, stored, store, key, basis })
    }

    fn report(&self, app: &App) -> ApiResult<Arc<Report>> {
        cached(&app.contests.reports, &self.key, self.basis, || {
            let stored = self.store.contest()?;
            let schedule = Arc::new(schedule(Arc::new(stored.contest.clone()), &self.store)?);
            let games = StoredRecords { folder: self.stored.clone(), open: Store::open_foreign };
            let mut made = assemble(&stored, &schedule, games, &self.store.voids()?, Vec::new())?;
            made.progress.over &= !self.basis.is_awaiting;
            Ok(Arc::new(made))
        })
    }

    fn progress(&self, app: &App) -> ApiResult<Progress> {
        cached(&app.contests.progress, &self.key, self.basis, || {
            Ok(progress(&self.folder, &self.store)?)
        })
    }
}

/// Everything about a contest, also what the public doesn't see.
pub(super) struct Whole {
    pub(super) contest: Contest,
    pub(super) report: Arc<Report>,
    pub(super) progress: Progress,
    /// The void attempts, in order, without those that counted once.
    pub(super) voids: Vec<VoidAttempt>,
}

/// Returns everything about the contest in a folder.
pub(super) fn whole(app: &App, folder: &Folder) -> ApiResult<Whole> {
    let opened = Opened::new(folder.clone(), folder.clone(), Store::open_foreign(folder)?)?;
    let mut voids = opened.store.voids()?;
    voids.retain(|void| !void.is_removed());
    let contest = opened.store.contest()?.contest;
    Ok(Whole { contest, report: opened.report(app)?, progress: opened.progress(app)?, voids })
}

/// Returns the games of the served contest that have no result yet, as far as its schedule has decided them.
pub(super) fn next_games(app: &App) -> ApiResult<Arc<Vec<NextGame>>> {
    let folder = Folder::open(app.served.root())?;
    let store = Store::open_foreign(&folder)?;
    let contest = Arc::new(store.contest()?.contest);
    cached(&app.contests.next, "", Basis::of(&folder, &store)?, || {
        let schedule = schedule(contest.clone(), &store)?;
        let names = |players: &[Player]| {
            players.iter().map(|player| contest.players[player.index()].name.clone()).collect()
        };
        let open = (0..schedule.known()).filter(|&it| schedule.counts(it) && !schedule.has(it));
        let games = open.filter_map(|number| schedule.fixture(number)).map(|fixture| NextGame {
            number: fixture.number,
            round: fixture.round,
            game: contest.games[fixture.game].game.clone(),
            players: names(&fixture.players),
        });
        Ok(Arc::new(games.take(NEXT_MAX).collect()))
    })
}

/// Returns the contests below the served folder, the last changed first; for one that can't be read, the
/// reason.
pub(super) fn summaries(app: &App, folders: &[String]) -> Vec<Value> {
    let end = Instant::now() + SUMMARIES_WAIT;
    let summary = |name: &String| {
        let changed = changed(app, name);
        summary(app, name, changed, end).unwrap_or_else(|error| {
            json!({ "folder": name, "name": name, "format": "", "games": 0, "played": 0,
                    "changed": changed, "running": false, "problem": error.text() })
        })
    };
    let mut summaries: Vec<Value> = folders.iter().take(CONTESTS_MAX).map(summary).collect();
    summaries.sort_by_key(|summary| Reverse(summary["changed"].as_u64()));
    summaries
}

/// Returns when the contest's results last changed, in milliseconds since 1970, if it is known.
fn changed(app: &App, name: &str) -> Option<u64> {
    let store = app.served.find(name).ok()?.join(STORE_FILE);
    let since = store.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

fn summary(app: &App, name: &str, changed: Option<u64>, end: Instant) -> ApiResult<Value> {
    let (folder, stored) = places(app, name, false)?;
    let running = folder.is_locked();
    let known = if Instant::now() < end {
        let Opened { folder, store, key, basis, .. } = app.contests.opened(app, name)?;
        cached_by(&app.contests.progress, &key, basis, end, move || Ok(progress(&folder, &store)?))?
    } else {
        // To open it may take time, too.
        last_known(&app.contests.progress, &key(&stored))?
    };
    Ok(json!({ "folder": name, "name": known.name, "format": known.format,
               "games": known.games, "played": known.played, "changed": changed,
               "running": running, "problem": null }))
}

/// Returns the progress of the contest in this folder.
pub(super) fn progress_of(app: &App, name: &str) -> ApiResult<Progress> {
    let opened = open(app, name, false)?;
    let mut known = opened.progress(app)?;
    // These change without a game.
    known.running = opened.folder.is_locked();
    known.workers = workers::read(&opened.folder).workers;
    Ok(known)
}

/// Returns the report of a contest as a page. It is made here: a file of this name may be anyone's.
pub(super) fn report_page(app: &App, name: &str) -> ApiResult<Vec<u8>> {
    let opened = open(app, name, false)?;
    let html = opened.report(app)?.html("");
    let html = html.map_err(|error| report_failure(error, &opened.folder.store()))?;
    Ok(html.into_bytes())
}

/// Returns the ratings of a team's versions as the public sees them: they show results of others.
pub(super) fn team_ratings(app: &App, team: &Team) -> ApiResult<OwnRatings> {
    let opened = open(app, "", false)?;
    let rated = cached(&app.contests.rated, &opened.key, opened.basis, || {
        let report = opened.report(app)?;
        Ok(Arc::new(Rated { intervals: report.history_intervals(), report }))
    })?;
    let is_own = |player: &str| site(app).course().is_of_team(team, player);
    Ok(rated.report.ratings_of(is_own, &rated.intervals))
}

pub(super) fn contest(app: &App, query: &FolderQuery) -> ApiResult<Value> {
    let name = query.folder.trim_end_matches('/');
    let opened = open(app, name, false)?;
    let (known, results) = (opened.progress(app)?, opened.report(app)?);
    let Opened { folder, stored, store, .. } = opened;
    let (head, rows) = results.table();
    let players = store.contest()?.contest.players;
    let found = app.listing.contents(&app.served);
    let running = folder.is_locked();
    // Which machines play is nothing for the public of a course.
    let shown = app.site.is_none().then(|| workers::read(&folder));
    let workers = shown.unwrap_or_default();
    let last = store.page(&GameFilter::default(), 0, 1)?.1.pop();
    let is_frozen = stored.root() != folder.root();
    let mut notes = results.remarks();
    let mut live = Vec::new();
    if is_frozen {
        notes.insert(0, "Newer results are not shown yet; teams see their own games.".to_owned());
    } else {
        live = app.listing.live(&app.served, &found, &games_of(name));
    }
    if running {
        name_workers(&mut live, name, &workers);
    }
    Ok(json!({
        "name": known.name,
        "format": known.format,
        "games": known.games,
        "games_most": known.games_most,
        "played": known.played,
        "void": known.void,
        "running": running,
        "over": known.over,
        "head": head,
        "rows": rows,
        "cross": results.cross_table(CROSS_PLAYERS_MAX).map(|(head, rows)| json!({ "head": head, "rows": rows })),
        "notes": notes,
        "players": players.iter().map(|player| &player.name).collect::<Vec<_>>(),
        "last": last.filter(|_| app.site.is_none()).map(|record| file(name, &record)),
        "public": app.site.is_some(),
        "live": live,
        "workers": worker_rows(&workers, running),
    }))
}

pub(super) async fn games(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(query): Query<GamesQuery>,
) -> ApiResult<Json<Value>> {
    let (shared, folder) = (app.clone(), query.folder.clone());
    let games = move || games_for(&app, &query, &Audience::of(&app, &headers));
    run_costly(&shared.replaying, &folder, games).await.map(Json)
}

fn games_for(app: &App, query: &GamesQuery, audience: &Audience) -> ApiResult<Value> {
    let name = query.folder.trim_end_matches('/');
    let is_own = query.agent.as_ref().is_some_and(|agent| audience.has(agent));
    let Opened { folder, store, .. } = open(app, name, is_own)?;
    let contest = store.contest()?.contest;
    let player = query.agent.as_ref().filter(|agent| !agent.is_empty()).map(|agent| {
        let mut players = Player::all(contest.players.len()).zip(&contest.players);
        let found = players.find(|(_, info)| info.name == *agent).map(|(player, _)| player);
        found.ok_or_else(|| ApiError::missing(format!("this contest has no agent {agent:?}")))
    });
    let filter = GameFilter { player: player.transpose()?, faults: query.faults, lost: query.lost };
    let count = query.count.unwrap_or(COUNT).min(COUNT_MAX) as u64;
    let (total, records) = store.page(&filter, query.from, count)?;
    let colours = colours(&contest, &app.served.games_of(folder.root()));
    let rows: Vec<Value> =
        records.iter().map(|record| row(name, &contest, &colours, record)).collect();
    Ok(json!({ "total": total, "rows": rows }))
}

/// Returns the colours of the seats, by game.
fn colours(contest: &Contest, games: &Games) -> Vec<Vec<String>> {
    let of = |game: &referee_contest::ContestGame| {
        let started = game.kind(games).ok().and_then(|kind| kind.start(&game.setup).ok());
        let colours = started.map(|game| game.colours()).unwrap_or_default();
        colours.into_iter().map(str::to_owned).collect()
    };
    contest.games.iter().map(of).collect()
}

/// Returns the transcript of a game, relative to the served folder.
fn file(folder: &str, record: &Record) -> String {
    let separator = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{separator}{}", record.transcript)
}

/// Returns a game of a contest: the fields of a [`Row`](super::rows::Row), its number, round and places.
fn row(folder: &str, contest: &Contest, colours: &[Vec<String>], record: &Record) -> Value {
    let name = |player: &Player| {
        contest.players.get(player.index()).map_or("?", |player| player.name.as_str())
    };
    let names: Vec<&str> = record.players.iter().map(name).collect();
    let game = contest.games.get(record.game).map_or("?", |game| game.game.as_str());
    let GameRow { text, faults, .. } = GameRow::new(contest, record);
    json!({
        "file": file(folder, record),
        "game": game,
        "result": text,
        "names": names,
        "colours": colours.get(record.game).cloned().unwrap_or_default(),
        "turns": record.turns,
        "live": false,
        "started": "",
        "fault": faults.first().map(|fault| fault.kind),
        "number": record.number,
        "round": record.round,
        "places": record.places,
        "faults": faults,
    })
}
