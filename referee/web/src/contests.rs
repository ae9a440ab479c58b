//! Contests: how far they are, their standings, their games. Read from the store while another
//! program may be playing; nothing is ever written there.

use super::App;
use super::errors::{Answer, Refused};
use super::listing::games_of;
use super::overview::{COUNT, COUNT_MAX};
use super::pages::REPORT;
use super::workers::{name_workers, rows};
use referee_contest::{Contest, Player, Record, Schedule};
use referee_games::kind;
use referee_match::summary::Summary;
use referee_process::Failure;
use referee_process::lock::lock;
use referee_runner::folder::Folder;
use referee_runner::records::Which;
use referee_runner::results::{Progress, assemble, progress};
use referee_runner::store::Store;
use referee_runner::workers;
use serde::Deserialize;
use serde_json::{Value, json};
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
    progress: Cache<Progress>,
    tables: Cache<Arc<Table>>,
}

type Cache<T> = Mutex<BTreeMap<String, Kept<T>>>;

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

impl<T: Clone> Kept<T> {
    /// What is known, unless it is old and there is something new.
    fn good(&self, games: (u64, u64)) -> Option<T> {
        let rests = self.at.elapsed() < self.took * REST;
        (self.games == games || rests).then(|| self.of.clone())
    }
}

/// What was kept, or what is reckoned now. Whoever comes meanwhile waits for the same.
fn keep<T: Clone>(
    all: &Cache<T>,
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
    let refused = |error: Failure| {
        // Where the folder lies is no business of who looks.
        let own = path.display().to_string();
        let shown = if name.is_empty() { "." } else { name };
        Refused::unfit(error.to_string().replace(&own, shown))
    };
    let folder = Folder::open(&path).map_err(refused)?;
    let store = Store::look(&folder).map_err(|error| {
        refused(error).help(
            "a contest can be looked at where this program may write into its folder: its \
             database needs an index beside it",
        )
    })?;
    let counted = store.count().and_then(|count| Ok((count, store.voids()?.len() as u64)));
    let counted = counted.map_err(refused)?;
    Ok((folder, store, counted))
}

/// All contests below the served folder; of one that can't be read, why.
pub(super) fn summaries(app: &App, folders: &[String]) -> Vec<Value> {
    let summary = |name: &String| {
        summary(app, name).unwrap_or_else(|error| {
            json!({ "folder": name, "name": name, "format": "", "games": 0, "played": 0,
                    "running": false, "problem": error.text() })
        })
    };
    folders.iter().take(CONTESTS_MAX).map(summary).collect()
}

fn summary(app: &App, name: &str) -> Answer<Value> {
    let (folder, store, games) = open(app, name)?;
    let known = keep(&app.contests.progress, name, games, || Ok(progress(&folder, &store)?))?;
    Ok(json!({ "folder": name, "name": known.name, "format": known.format,
               "games": known.games, "played": known.played,
               "running": folder.is_locked(), "problem": null }))
}

fn table(store: &Store) -> Answer<Table> {
    let kept = store.kept()?;
    let records = store.records()?;
    let mut schedule = Schedule::new(Arc::new(kept.contest.clone()));
    for record in &records {
        schedule.record(record.number, &record.places);
    }
    let voids = store.voids()?;
    let report = assemble(&kept, &schedule, records, &voids, Vec::new());
    let (head, rows) = report.table();
    Ok(Table { head, rows, notes: report.remarks() })
}

pub(super) fn contest(app: &App, wish: &Wish) -> Answer<Value> {
    let name = wish.folder.trim_end_matches('/');
    let (folder, store, games) = open(app, name)?;
    let known = keep(&app.contests.progress, name, games, || Ok(progress(&folder, &store)?))?;
    let table = keep(&app.contests.tables, name, games, || table(&store).map(Arc::new))?;
    let players = store.kept()?.contest.players;
    let found = app.listing.look(&app.place);
    let (running, workers) = (folder.is_locked(), workers::read(&folder));
    let mut live = app.listing.live(&app.place, &found, &games_of(name));
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
        "head": table.head,
        "rows": table.rows,
        "notes": table.notes,
        "players": players.iter().map(|player| &player.name).collect::<Vec<_>>(),
        "report": folder.path(REPORT).is_file(),
        "live": live,
        "workers": rows(&workers, running),
    }))
}

pub(super) fn games(app: &App, wish: &GamesWish) -> Answer<Value> {
    let name = wish.folder.trim_end_matches('/');
    let (_, store, _) = open(app, name)?;
    let contest = store.kept()?.contest;
    let player = wish.agent.as_ref().filter(|agent| !agent.is_empty()).map(|agent| {
        let mut players = Player::all(contest.players.len()).zip(&contest.players);
        let found = players.find(|(_, info)| info.name == *agent).map(|(player, _)| player);
        found.ok_or_else(|| {
            Refused::missing(format!("nobody called {agent:?} plays in this contest"))
        })
    });
    let which = Which { player: player.transpose()?, faults: wish.faults, lost: wish.lost };
    let count = wish.count.unwrap_or(COUNT).min(COUNT_MAX) as u64;
    let (total, records) = store.some(&which, wish.from, count)?;
    let colours = colours(&contest);
    let rows: Vec<Value> =
        records.iter().map(|record| row(name, &contest, &colours, record)).collect();
    Ok(json!({ "total": total, "rows": rows }))
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

/// A game of a contest: what a [`Row`](super::rows::Row) has, and its place in the contest.
fn row(folder: &str, contest: &Contest, colours: &[Vec<String>], record: &Record) -> Value {
    let name = |player: &Player| {
        contest.players.get(player.index()).map_or("?", |player| player.name.as_str())
    };
    let names: Vec<&str> = record.players.iter().map(name).collect();
    let faults = record.seats.iter().enumerate().filter_map(|(seat, part)| {
        Some(json!({ "seat": seat, "kind": part.fault?.name(), "text": part.fault_text }))
    });
    let played = contest.games.get(record.game);
    let kinds: Vec<_> = record.seats.iter().map(|part| part.fault).collect();
    let summary = Summary {
        game: played.map_or("?", |game| game.game.as_str()),
        setup: played.map_or(&Value::Null, |game| &game.setup),
        names: &names,
        result: record.result,
        reason: &record.reason,
        places: &record.places,
        faults: &kinds,
    };
    let separator = if folder.is_empty() { "" } else { "/" };
    json!({
        "file": format!("{folder}{separator}{}", record.transcript),
        "game": summary.game,
        "result": summary.sentence(),
        "names": names,
        "colours": colours.get(record.game).cloned().unwrap_or_default(),
        "turns": record.turns,
        "live": false,
        "started": "",
        "fault": record.seats.iter().find_map(|part| Some(part.fault?.name())),
        "number": record.number,
        "round": record.round,
        "places": record.places,
        "faults": faults.collect::<Vec<_>>(),
    })
}
