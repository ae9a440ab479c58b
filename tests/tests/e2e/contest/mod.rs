//! Whole contests from outside: run, killed, resumed, looked at, told. The store is read as anybody
//! can read it, with `SQLite` alone, and not with the program's own code.

mod interrupts;
mod kills;
pub(crate) mod sameness;
mod lock;
mod changes;
mod forged;
mod voids;
mod full_disk;
mod faults;
mod names;
mod builds;
mod formats;
mod quick;
mod versions;

use crate::support::{PROGRAM, Place, Ran, Running, eventually};
use nix::sys::signal::Signal;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A clock that no agent runs out of, on however busy a machine.
pub(crate) const AMPLE: &str = "clock = { bank = \"1h\", start = \"10m\" }\n";
/// The file that agents wait for before they are ready; in a folder of its own, so that agents may be
/// shown it.
const GATE: &str = "gate/open";

/// A contest file: a small board, an opening ply, [`AMPLE`] time unless it is said in `more`, which
/// comes before any table.
pub(crate) fn file(agents: &[&str], more: &str) -> String {
    let clock = if more.contains("clock") { "" } else { AMPLE };
    format!(
        "name = \"autumn\"\nseed = 7\nagents = {agents:?}\n{more}{clock}[openings]\nplies = 1\n\
         [[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
    )
}

/// Writes it into `c.toml`.
pub(crate) fn write(place: &Place, agents: &[&str], more: &str) {
    place.write("c.toml", file(agents, more));
}

/// An agent that is ready when there is a file called [`GATE`], and plays the first legal action.
fn gated(place: &Place, name: &str) -> String {
    let gate = place.path(GATE);
    fs::create_dir_all(gate.parent().unwrap()).unwrap();
    let gate = gate.display();
    let wait = format!("while [ ! -e '{gate}' ]; do sleep 0.05; done");
    place.program(name, &format!("#!/bin/sh\n{wait}\nexec '{PROGRAM}' agent first\n"))
}

fn start(place: &Place, words: &[&str]) -> Running {
    place.start(&[&["contest"], words].concat())
}

pub(crate) fn contest(place: &Place, words: &[&str]) -> Ran {
    place.run(&[&["contest"], words].concat())
}

/// The rows of a query to the store in a folder, columns joined by `|`; none while there is no store.
pub(crate) fn query(place: &Place, folder: &str, sql: &str) -> Vec<String> {
    let path = place.path(folder).join("contest.db");
    if !path.exists() {
        return Vec::new();
    }
    let store = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    store.busy_timeout(Duration::from_secs(60)).unwrap();
    let mut statement = store.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let texts = (0..columns).map(|column| {
            Ok(match row.get_ref(column)? {
                ValueRef::Null => String::new(),
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            })
        });
        Ok(texts.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

/// How many games count.
pub(crate) fn count(place: &Place, folder: &str) -> usize {
    query(place, folder, "select number from games").len()
}

/// The transcripts in a contest's folder but those of void attempts.
fn transcripts(place: &Place, folder: &str) -> Vec<PathBuf> {
    let outer = fs::read_dir(place.path(folder).join("games")).into_iter().flatten();
    let inner = outer.flat_map(|entry| fs::read_dir(entry.unwrap().path()).unwrap());
    let mut files: Vec<PathBuf> = inner.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| !file.to_string_lossy().contains("-void-"));
    files.sort();
    files
}

/// Waits until so many games are under way that none of has ended.
#[track_caller]
fn wait_for_games(place: &Place, folder: &str, games: usize) {
    let begun = eventually(|| transcripts(place, folder).len() >= games);
    assert!(begun, "only {:?}", transcripts(place, folder));
}

/// Stops the contest of a file, in the folder `d`, while so many of its games wait for the gate; and
/// opens that.
#[track_caller]
fn stopped(place: &Place, file: &str, games: usize) {
    let running = start(place, &["run", file, "--out", "d"]);
    wait_for_games(place, "d", games);
    running.send(Signal::SIGTERM);
    running.wait().code(143);
    place.write(GATE, "");
}

pub(crate) fn status(place: &Place, folder: &str) -> Value {
    contest(place, &["status", folder, "--json"]).code(0).json()
}

/// The contest is over, and every one of its games is there exactly once and fits.
#[track_caller]
pub(crate) fn assert_whole(place: &Place, folder: &str, games: usize) {
    let told = status(place, folder);
    assert_eq!(told["over"], true, "{told}");
    assert_eq!(told["running"], false, "{told}");
    assert_eq!(told["played"], told["games"], "{told}");
    assert_eq!(told["played"], games, "{told}");
    let wanted: Vec<String> = (0..games).map(|number| number.to_string()).collect();
    assert_eq!(query(place, folder, "select number from games order by number"), wanted);
    let files = query(place, folder, "select transcript from games order by number");
    let files: Vec<PathBuf> = files.iter().map(|file| place.path(folder).join(file)).collect();
    assert_eq!(transcripts(place, folder), files);
    let verified = place.run(&["verify", folder, "--json"]).code(0).json_lines();
    assert!(verified.iter().all(|line| line["status"] == "ok"), "{verified:?}");
    assert!(verified.len() > games, "{} lines for {games} games", verified.len());
    assert_eq!(query(place, folder, "pragma integrity_check"), ["ok"]);
}
