//! Contests: how far they are, their standings, their games. Read from the store while another
//! program may be playing; nothing is ever written there.

use super::App;
use super::errors::{Answer, Refused, aside};
use super::listing::games_of;
use super::overview::{COUNT, COUNT_MAX};
use super::pages::REPORT;
use super::rows::Row;
use super::workers::{WorkerRow, name_workers, rows};
use axum::Json;
use axum::extract::{Query, State};
use referee_contest::{Contest, Player, Record, Schedule};
use referee_games::kind;
use referee_match::telling::placed;
use referee_process::lock::lock;
use referee_runner::folder::Folder;
use referee_runner::records::Which;
use referee_runner::results::{Progress, assemble, progress};
use referee_runner::store::Store;
use referee_runner::workers;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What is reckoned is reckoned again after so many times as long as it took: the matches that are
/// played beside it need the cores more.
const REST: u32 = 20;
/// So many contests are listed.
const CONTESTS_MAX: usize = 200;

/// What has been reckoned of contests.
#[derive(Debug, Default)]
pub(super) struct Contests {
    progress: Mutex<BTreeMap<String, Kept<Progress>>>,
    tables: Mutex<BTreeMap<String, Kept<Arc<Table>>>>,
}

/// Something of a contest that is a function of its results.
#[derive(Debug)]
struct Kept<T> {
    of: T,
    /// The games, void ones too, that it was made of.
    games: (u64, u64),
    at: Instant,
    took: Duration,
}

/// The standings.
#[derive(Debug)]
struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

/// A contest in a list.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    folder: String,
    name: String,
    format: String,
    games: u64,
    played: u64,
    running: bool,
    /// Why no more is known.
    problem: Option<String>,
}

/// A contest.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    name: String,
    format: String,
    games: u64,
    games_most: u64,
    played: u64,
    void: u64,
    running: bool,
    over: bool,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
    /// Who plays, for filters.
    players: Vec<String>,
    /// There is a report.
    report: bool,
    /// The matches that are under way.
    live: Vec<Row>,
    /// Who plays it, where that is on many machines.
    workers: Vec<WorkerRow>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Wish {
    #[serde(default)]
    folder: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct GamesWish {
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

/// Games of a contest.
#[derive(Debug, Serialize)]
pub(super) struct Games {
    total: u64,
    rows: Vec<GameRow>,
}

/// A game of a contest: what a [`Row`] has, and its place in the contest.
#[derive(Debug, Serialize)]
struct GameRow {
    file: String,
    game: String,
    names: Vec<String>,
    colours: Vec<String>,
    turns: u64,
    result: String,
    live: bool,
    started: String,
    fault: Option<&'static str>,
    number: u64,
    round: u32,
    places: Vec<u32>,
    faults: Vec<SeatFault>,
}

#[derive(Debug, Serialize)]
struct SeatFault {
    seat: usize,
    kind: &'static str,
    text: Option<String>,
}

impl<T: Clone> Kept<T> {
    /// What is known, unless it is old and there is something new.
    fn good(&self, games: (u64, u64)) -> Option<T> {
        let rests = self.at.elapsed() < self.took * REST;
        (self.games == games || rests).then(|| self.of.clone())
    }
}

/// What was kept, or what is reckoned now. Whoever comes meanwhile waits for the same.
fn keep<T: Clone>(
    all: &Mutex<BTreeMap<String, Kept<T>>>,
    folder: &str,
    games: (u64, u64),
    reckon: impl FnOnce() -> Answer<T>,
) -> Answer<T> {
    let mut all = lock(all);
    if let Some(known) = all.get(folder).and_then(|kept| kept.good(games)) {
        return Ok(known);
    }
    let began = Instant::now();
    let of = reckon()?;
    let took = began.elapsed();
    all.insert(folder.to_owned(), Kept { of: of.clone(), games, at: Instant::now(), took });
    Ok(of)
}

/// The contest of a folder.
fn open(app: &App, name: &str) -> Answer<(Folder, Store, (u64, u64))> {
    let path = app.place.find(name)?;
    let refused = |error: &dyn std::fmt::Display, help: Option<&str>| {
        // Where the folder lies is no business of who looks.
        let own = path.display().to_string();
        let told = Refused::unfit(
            error.to_string().replace(&own, if name.is_empty() { "." } else { name }),
        );
        match help {
            Some(help) => told.help(help),
            None => told,
        }
    };
    let folder = Folder::open(&path).map_err(|error| refused(&error, None))?;
    let store = Store::look(&folder).map_err(|error| {
        refused(
            &error,
            Some(
                "a contest can be looked at where this program may write into its \
                folder: its database needs an index beside it",
            ),
        )
    })?;
    let counted = store.count().and_then(|count| Ok((count, store.voids()?.len() as u64)));
    let counted = counted.map_err(|error| refused(&error, None))?;
    Ok((folder, store, counted))
}

/// All contests below the served folder.
pub(super) fn summaries(app: &App, folders: &[String]) -> Vec<Summary> {
    let summary = |folder: &String| {
        summary(app, folder).unwrap_or_else(|error| Summary {
            folder: folder.clone(),
            name: folder.clone(),
            format: String::new(),
            games: 0,
            played: 0,
            running: false,
            problem: Some(error.text().to_owned()),
        })
    };
    folders.iter().take(CONTESTS_MAX).map(summary).collect()
}

fn summary(app: &App, name: &str) -> Answer<Summary> {
    let (folder, store, games) = open(app, name)?;
    let known = app.contests.progress(name, games, &folder, &store)?;
    Ok(Summary {
        folder: name.to_owned(),
        name: known.name,
        format: known.format,
        games: known.games,
        played: known.played,
        running: folder.is_locked(),
        problem: None,
    })
}

impl Contests {
    fn progress(
        &self,
        name: &str,
        games: (u64, u64),
        folder: &Folder,
        store: &Store,
    ) -> Answer<Progress> {
        keep(&self.progress, name, games, || Ok(progress(folder, store)?))
    }

    fn table(&self, name: &str, games: (u64, u64), store: &Store) -> Answer<Arc<Table>> {
        keep(&self.tables, name, games, || table(store).map(Arc::new))
    }
}

fn table(store: &Store) -> Answer<Table> {
    let failed = |error| Refused::from(referee_process::Failure::from(error));
    let kept = store.kept().map_err(failed)?;
    let records = store.records().map_err(failed)?;
    let mut schedule = Schedule::new(Arc::new(kept.contest.clone()));
    for record in &records {
        schedule.record(record.number, &record.places);
    }
    let voids = store.voids().map_err(failed)?;
    let report = assemble(&kept, &schedule, records, &voids, Vec::new());
    let (head, rows) = report.table();
    Ok(Table { head, rows, notes: report.remarks() })
}

pub(super) async fn contest(
    State(app): State<Arc<App>>,
    Query(wish): Query<Wish>,
) -> Answer<Json<Told>> {
    let told = aside(move || {
        let name = wish.folder.trim_end_matches('/');
        let (folder, store, games) = open(&app, name)?;
        let known = app.contests.progress(name, games, &folder, &store)?;
        let table = app.contests.table(name, games, &store)?;
        let kept = store.kept().map_err(referee_process::Failure::from)?;
        let found = app.listing.look(&app.place);
        let names = kept.contest.players.iter().map(|player| player.name.clone());
        let (running, workers) = (folder.is_locked(), workers::read(&folder));
        let mut live = app.listing.live(&app.place, &found, &games_of(name));
        if running {
            name_workers(&mut live, name, &workers);
        }
        Ok(Told {
            name: known.name,
            format: known.format,
            games: known.games,
            games_most: known.games_most,
            played: known.played,
            void: known.void,
            running,
            over: known.over,
            head: table.head.clone(),
            rows: table.rows.clone(),
            notes: table.notes.clone(),
            players: names.collect(),
            report: folder.path(REPORT).is_file(),
            live,
            workers: rows(&workers, running),
        })
    });
    Ok(Json(told.await?))
}

pub(super) async fn games(
    State(app): State<Arc<App>>,
    Query(wish): Query<GamesWish>,
) -> Answer<Json<Games>> {
    let rows = aside(move || {
        let name = wish.folder.trim_end_matches('/');
        let (_, store, _) = open(&app, name)?;
        let failed = |error| Refused::from(referee_process::Failure::from(error));
        let contest = store.kept().map_err(failed)?.contest;
        let player = wish.agent.as_ref().filter(|agent| !agent.is_empty()).map(|agent| {
            let index = contest.players.iter().position(|player| player.name == *agent);
            index.and_then(|index| u32::try_from(index).ok()).map(Player).ok_or_else(|| {
                Refused::missing(format!("nobody called {agent:?} plays in this contest"))
            })
        });
        let which = Which { player: player.transpose()?, faults: wish.faults, lost: wish.lost };
        let count = wish.count.unwrap_or(COUNT).min(COUNT_MAX) as u64;
        let (total, records) = store.some(&which, wish.from, count).map_err(failed)?;
        let colours = colours(&contest);
        let row = |record: Record| GameRow::of(name, &contest, &colours, record);
        Ok(Games { total, rows: records.into_iter().map(row).collect() })
    });
    Ok(Json(rows.await?))
}

/// The colours of the seats, by game.
fn colours(contest: &Contest) -> Vec<Vec<String>> {
    let of = |game: &referee_contest::ContestGame| {
        let started = kind(&game.game).and_then(|kind| kind.start(&game.setup).ok());
        let colours = started.map(|game| game.colours()).unwrap_or_default();
        colours.into_iter().map(str::to_owned).collect()
    };
    contest.games.iter().map(of).collect()
}

impl GameRow {
    fn of(folder: &str, contest: &Contest, colours: &[Vec<String>], record: Record) -> Self {
        let name = |player: &Player| {
            let known = contest.players.get(player.index());
            known.map_or_else(|| "?".to_owned(), |player| player.name.clone())
        };
        let names: Vec<String> = record.players.iter().map(name).collect();
        let borrowed: Vec<&str> = names.iter().map(String::as_str).collect();
        let faults = record.seats.iter().enumerate().filter_map(|(seat, part)| {
            let kind = part.fault?.name();
            Some(SeatFault { seat, kind, text: part.fault_text.clone() })
        });
        let faults: Vec<SeatFault> = faults.collect();
        let game = contest.games.get(record.game);
        let separator = if folder.is_empty() { "" } else { "/" };
        Self {
            file: format!("{folder}{separator}{}", record.transcript),
            game: game.map_or_else(|| "?".to_owned(), |game| game.game.clone()),
            result: placed(&borrowed, &record.places, &record.reason),
            names,
            colours: colours.get(record.game).cloned().unwrap_or_default(),
            turns: record.turns,
            live: false,
            started: String::new(),
            fault: faults.first().map(|fault| fault.kind),
            number: record.number,
            round: record.round,
            places: record.places,
            faults,
        }
    }
}
