//! Contests in tests: their files, runs and stores. Tests read the store with plain `SQLite`, not with the
//! program's own code.

use super::{RunResult, Running, TestDir, eventually, program, remove_fields};
use nix::sys::signal::Signal;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A clock that no agent runs out of, even on a busy machine.
pub const AMPLE: &str = "clock = { bank = \"1h\", start = \"10m\" }\n";
/// The file that agents wait for before they are ready, in a separate folder that agents may read.
pub const GATE: &str = "gate/open";

/// Returns a contest file with a small board, an opening ply and the clock [`AMPLE`] unless `more` sets
/// one. `more` is inserted before any table.
pub fn file(agents: &[&str], more: &str) -> String {
    let clock = if more.contains("clock") { "" } else { AMPLE };
    // As in `TestDir::new`.
    let sandbox = if more.contains("sandbox") { "" } else { "sandbox.level = \"none\"\n" };
    format!(
        "name = \"autumn\"\nseed = 7\nagents = {agents:?}\n{more}{clock}{sandbox}[openings]\nplies = 1\n\
         [[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
    )
}

/// Writes a contest file to `c.toml`.
pub fn write(dir: &TestDir, agents: &[&str], more: &str) {
    dir.write("c.toml", file(agents, more));
}

/// Writes an agent that is ready once the file [`GATE`] exists, and plays the first legal action.
pub fn gated(dir: &TestDir, name: &str) -> String {
    let gate = dir.path(GATE);
    fs::create_dir_all(gate.parent().unwrap()).unwrap();
    let gate = gate.display();
    let wait = format!("while [ ! -e '{gate}' ]; do sleep 0.05; done");
    let program = program();
    dir.program(name, &format!("#!/bin/sh\n{wait}\nexec '{program}' agent first\n"))
}

pub fn start(dir: &TestDir, words: &[&str]) -> Running {
    dir.start(&[&["contest"], words].concat())
}

pub fn contest(dir: &TestDir, words: &[&str]) -> RunResult {
    dir.run(&[&["contest"], words].concat())
}

/// Queries the store in a folder; returns rows with columns joined by `|`, none without a store.
pub fn query(dir: &TestDir, folder: &str, sql: &str) -> Vec<String> {
    let path = dir.path(folder).join("contest.db");
    if !path.exists() {
        return Vec::new();
    }
    let store = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    store.busy_timeout(Duration::from_secs(60)).unwrap();
    let mut statement = store.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let strings = (0..columns).map(|column| {
            Ok(match row.get_ref(column)? {
                ValueRef::Null => String::new(),
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            })
        });
        Ok(strings.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

/// Counts the games in the store.
pub fn count(dir: &TestDir, folder: &str) -> usize {
    query(dir, folder, "select number from games").len()
}

/// Lists the transcripts in a contest's folder, without those of void attempts.
pub fn transcripts(dir: &TestDir, folder: &str) -> Vec<PathBuf> {
    let outer = fs::read_dir(dir.path(folder).join("games")).into_iter().flatten();
    let inner = outer.flat_map(|entry| fs::read_dir(entry.unwrap().path()).unwrap());
    let mut files: Vec<PathBuf> = inner.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| !file.to_string_lossy().contains("-void-"));
    files.sort();
    files
}

/// Waits until this many games are running.
#[track_caller]
pub fn wait_for_games(dir: &TestDir, folder: &str, games: usize) {
    let begun = eventually(|| transcripts(dir, folder).len() >= games);
    assert!(begun, "only {:?}", transcripts(dir, folder));
}

/// Runs a contest in the folder `d`, stops it while `games` games wait for the gate, and opens the gate.
#[track_caller]
pub fn stopped(dir: &TestDir, file: &str, games: usize) {
    let running = start(dir, &["run", file, "--out", "d"]);
    wait_for_games(dir, "d", games);
    running.send(Signal::SIGTERM);
    running.wait().code(143);
    dir.write(GATE, "");
}

pub fn status(dir: &TestDir, folder: &str) -> Value {
    contest(dir, &["status", folder, "--json"]).code(0).json()
}

/// Asserts that the contest is over, has every game exactly once, and verifies.
#[track_caller]
pub fn assert_whole(dir: &TestDir, folder: &str, games: usize) {
    let output = status(dir, folder);
    assert_eq!(output["over"], true, "{output}");
    assert_eq!(output["running"], false, "{output}");
    assert_eq!(output["played"], output["games"], "{output}");
    assert_eq!(output["played"], games, "{output}");
    let wanted: Vec<String> = (0..games).map(|number| number.to_string()).collect();
    assert_eq!(query(dir, folder, "select number from games order by number"), wanted);
    let files = query(dir, folder, "select transcript from games order by number");
    let files: Vec<PathBuf> = files.iter().map(|file| dir.path(folder).join(file)).collect();
    assert_eq!(transcripts(dir, folder), files);
    let verified = dir.run(&["verify", folder, "--json"]).code(0).json_lines();
    assert!(verified.iter().all(|line| line["status"] == "ok"), "{verified:?}");
    assert!(verified.len() > games, "{} lines for {games} games", verified.len());
    assert_eq!(query(dir, folder, "pragma integrity_check"), ["ok"]);
    check_sums(dir, folder);
}

/// Checks the list of digests with another program.
#[track_caller]
pub fn check_sums(dir: &TestDir, folder: &str) {
    dir.shell(&format!("cd {folder} && sha256sum --check --strict --quiet SHA256SUMS")).code(0);
}

/// Queries for everything in the store except times: games, then seats.
pub const ROWS: [&str; 2] = [
    "select number, block, round, game, match_id, seed, result, reason, scores, turns, moves, \
     transcript from games order by number",
    "select game, seat, player, place, score, turns, fault, fault_text from seats \
     order by game, seat",
];

/// Reads a report without times, without commands that contain the folder's name, and without the
/// sandbox, which the machine decides each time.
pub fn report(dir: &TestDir, folder: &str) -> Value {
    let mut output = contest(dir, &["report", folder, "--json"]).code(0).json();
    remove_fields(&mut output, &["time", "marked", "commands"]);
    let settings = output["settings"].as_array_mut().unwrap();
    settings.retain(|setting| setting["name"] != "sandbox");
    output
}

/// An agent that plays as a built-in one would, in a folder.
pub fn agent(dir: &TestDir, folder: &str, note: &str) {
    let bot = "import json, sys\nfor line in sys.stdin:\n    message = json.loads(line)\n    if \
               message['type'] == 'hello':\n        print(json.dumps({'type': 'ready', 'want': \
               ['actions']}), flush=True)\n    elif message['type'] == 'turn':\n        \
               print(json.dumps({'type': 'action', 'turn': message['turn'], 'action': \
               message['actions'][0]}), flush=True)\n";
    dir.write(&format!("{folder}/agent.toml"), "command = [\"python3\", \"bot.py\"]\n");
    dir.write(&format!("{folder}/bot.py"), format!("# {note}\n{bot}"));
}
