//! Row n: the memory of a report on a contest of a million games. Its store is made without playing them.

use crate::measure::kilobytes;
use crate::report::Bounds::AtMost;
use crate::report::Row;
use referee_contest::{Fixture, Player, Record, Schedule, SeatRecord};
use referee_protocol::MatchResult;
use referee_runner::folder::Folder;
use referee_runner::store::Store;
use referee_runner::{Broken, Builds, prepare};
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The players, who all meet in each round, in both seat orders.
const PLAYERS: u64 = 100;
const ROUNDS: u64 = 101;
/// Games that are written to the store at once.
const BATCH_GAMES: usize = 1000;
/// The interval between samples of the memory.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Measures the report.
pub(crate) fn rows(_runs: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let contest = folder.path().join("contest");
    let games = make(folder.path(), &contest)?;
    let begin = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["contest", "report", "-q"]).arg(&contest);
    command.arg("--out").arg(folder.path().join("report.json"));
    let peak_kb = peak(command.stdin(Stdio::null()).spawn()?)?;
    let row = Row {
        letter: 'n',
        what: "report of a million games as JSON: peak memory",
        figure: peak_kb / 1e3,
        unit: "MB",
        bounds: AtMost(100.0, 120.0),
        note: format!(
            "{games} games of {PLAYERS} agents in {:.0} s",
            begin.elapsed().as_secs_f64()
        ),
    };
    Ok(vec![row])
}

/// Waits for a process, and returns the most memory that it had, in kilobytes.
fn peak(mut child: Child) -> Result<f64, Box<dyn Error>> {
    let mut peak_kb = f64::NAN;
    while child.try_wait()?.is_none() {
        peak_kb = kilobytes(&child, "VmHWM:").unwrap_or(peak_kb);
        std::thread::sleep(POLL_INTERVAL);
    }
    let status = child.wait()?;
    if status.success() { Ok(peak_kb) } else { Err(format!("contest report: {status}").into()) }
}

/// Makes the folder of a contest whose games have all been played, without transcripts. Returns how many.
fn make(folder: &Path, contest: &Path) -> Result<u64, Box<dyn Error>> {
    let file = folder.join("contest.toml");
    let mut text = format!("seed = 1\nrounds = {ROUNDS}\ngame = \"hex\"\nagents = [\n");
    for number in 0..PLAYERS {
        writeln!(text, "{{ name = \"agent {number}\", run = \"@random\" }},")?;
    }
    std::fs::write(&file, text + "]\n")?;
    let prepared = prepare(&file, Builds::Later, Broken::AsWritten)?;
    let schedule = Schedule::new(prepared.contest.clone());
    let mut store = Store::create(
        &Folder::create(contest)?,
        &prepared.to_stored("2026-01-01T00:00:00Z".to_owned(), None),
    )?;
    let mut batch = Vec::with_capacity(BATCH_GAMES);
    for number in 0..schedule.known() {
        let fixture = schedule.fixture(number).ok_or("an unknown game")?;
        batch.push((record(fixture), None));
        if batch.len() == BATCH_GAMES {
            store.add(&batch, &[])?;
            batch.clear();
        }
    }
    store.add(&batch, &[])?;
    Ok(schedule.known())
}

/// Returns a record that a game could have: the player with the lower number wins three of four games.
fn record(fixture: Fixture) -> Record {
    let Fixture { number, block, round, game, players, seed, .. } = fixture;
    // Fibonacci hashing spreads the numbers.
    let dice = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let first_wins = (players[0] < players[1]) == (dice % 4 > 0);
    let seat = |player: &Player| SeatRecord {
        used_ms: 100 + u64::from(player.0),
        cpu_ms: 90,
        peak_memory_kb: Some(10_000),
        turns: 30,
        fault: None,
        fault_text: None,
    };
    Record {
        number,
        block,
        round,
        game,
        match_id: format!("{number:016x}"),
        seed,
        result: MatchResult::Played,
        reason: "connected".to_owned(),
        places: if first_wins { vec![1, 2] } else { vec![2, 1] },
        scores: None,
        seats: players.iter().map(seat).collect(),
        players,
        turns: 60,
        lag_ns: 10_000,
        marked: false,
        moves: format!("{number:064x}"),
        transcript: Folder::transcript(number),
        seal: format!("{dice:064x}"),
    }
}
