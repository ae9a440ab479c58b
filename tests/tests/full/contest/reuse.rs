//! Contests that keep agents' processes between games.

use crate::support::contest::{
    GATE, assert_whole, contest, gated, start, transcripts, wait_for_games, write,
};
use crate::support::lacks;
use crate::support::{TestDir, command_lines, eventually, script_agent};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::collections::BTreeSet;

/// One game at a time, so that the next one of an agent can have its process.
pub(crate) const KEPT: &str = "reuse = true\njobs = 1\nrounds = 2\n";
/// The test agent's file, which is in its command line.
const AGENT: &str = "/again.py";
/// What a program without a sandbox lacks.
pub(crate) const KEEPING: &str = "processes kept between games";
/// How many processes wait at most.
const WAITING_MAX: usize = 8;

/// Returns the test agent with this mode, under this name; its command line has the test's folder. `None`
/// without Python.
fn agent(dir: &TestDir, name: &str, mode: &str) -> Option<String> {
    let agent = script_agent("again.py", &format!("{mode} {}", mark(dir)))?;
    Some(format!("{name}={agent}"))
}

fn mark(dir: &TestDir) -> String {
    dir.path("").file_name().unwrap().to_str().unwrap().to_owned()
}

/// Returns the state letters of the agents' processes.
fn states(dir: &TestDir) -> Vec<char> {
    let mark = mark(dir);
    let is_agent =
        |words: &[String]| words.iter().any(|word| word.ends_with(AGENT)) && words.contains(&mark);
    let state = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.trim_start().chars().next()
    };
    let agents = command_lines().filter(|(_, words)| is_agent(words));
    agents.filter_map(|(pid, _)| state(pid)).collect()
}

/// What a player's process was in a game.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The games that it had played before, as the header says.
    before: u64,
    /// Its stderr, which begins with what identifies it.
    stderr: String,
    /// How many bytes of it were dropped.
    dropped: u64,
    /// Its peak of memory, in KiB.
    peak: Option<u64>,
}

/// Returns what the processes of a player were in its games, in order.
pub(crate) fn seen(dir: &TestDir, player: &str) -> Vec<Seen> {
    let of = |file: std::path::PathBuf| {
        let name = file.to_str().unwrap();
        let events = dir.events(name);
        let seat = events[0]["seats"].as_array().unwrap().iter().find(|it| it["name"] == player)?;
        let number = seat["seat"].as_u64().unwrap();
        let over = events.iter().find(|event| event["type"] == "over").unwrap();
        let own = &over["verdict"]["seats"][usize::try_from(number).unwrap()];
        assert_eq!(own["fault"], Value::Null, "{own}");
        let pieces = events.iter().filter(|it| it["type"] == "stderr" && it["seat"] == number);
        Some(Seen {
            before: seat["games_before"].as_u64().unwrap_or(0),
            stderr: dir.said(name, number),
            dropped: pieces.filter_map(|it| it["dropped_bytes"].as_u64()).sum(),
            peak: own["peak_memory_kb"].as_u64(),
        })
    };
    transcripts(dir, "d").into_iter().filter_map(of).collect()
}

/// Asserts that one process played all of a player's games.
#[track_caller]
pub(crate) fn assert_one(seen: &[Seen]) {
    let before: Vec<u64> = seen.iter().map(|it| it.before).collect();
    assert_eq!(before, (0..seen.len() as u64).collect::<Vec<_>>(), "{seen:?}");
    assert!(seen.iter().all(|it| it.stderr == seen[0].stderr), "{seen:?}");
}

/// Asserts that each of a player's games had a new process.
#[track_caller]
fn assert_new(seen: &[Seen]) {
    assert!(seen.len() > 1 && seen.iter().all(|it| it.before == 0), "{seen:?}");
    let processes: BTreeSet<&String> = seen.iter().map(|it| &it.stderr).collect();
    assert_eq!(processes.len(), seen.len(), "{seen:?}");
}

/// Runs the contest with these agents, and asserts that nothing is left of it.
fn run(dir: &TestDir, agents: &[&str], more: &str, games: usize) {
    write(dir, agents, more);
    contest(dir, &["run", "c.toml", "--out", "d"]).code(0);
    assert_eq!(states(dir), [' '; 0]);
    dir.assert_tmp_is_empty();
    assert_whole(dir, "d", games);
}

#[test]
fn a_process_plays_all_games_at_every_level() {
    if lacks(KEEPING) {
        return;
    }
    for level in ["none", "basic", "confined", "isolated", "metered"] {
        let dir = TestDir::new();
        write(&dir, &["@first", "@random"], &format!("{KEPT}sandbox.level = {level:?}\n"));
        let ran = contest(&dir, &["run", "c.toml", "--out", "d"]);
        if ran.exit == Some(4) && ran.stderr.contains("is unavailable") {
            println!("not tested: {}", ran.stderr.lines().next().unwrap());
            continue;
        }
        ran.code(0);
        assert_whole(&dir, "d", 4);
        for player in ["@first", "@random"] {
            assert_one(&seen(&dir, player));
        }
        dir.assert_tmp_is_empty();
        let report = contest(&dir, &["report", "d", "--format", "markdown"]).code(0);
        report.stdout_has("agents' processes").stdout_has("kept between games");
    }
}

#[test]
fn the_next_game_has_the_same_process_if_both_sides_want_that() {
    if lacks(KEEPING) {
        return;
    }
    for level in ["none", "isolated"] {
        let dir = TestDir::new();
        let Some(kept) = agent(&dir, "kept", "plays") else { return };
        let Some(once) = agent(&dir, "once", "once") else { return };
        let level = format!("sandbox.level = {level:?}\n");
        run(&dir, &[&kept, &once], &format!("{KEPT}{level}"), 4);
        assert_one(&seen(&dir, "kept"));
        assert_new(&seen(&dir, "once"));
        std::fs::remove_dir_all(dir.path("d")).unwrap();
        run(&dir, &[&kept, &once], &format!("{level}jobs = 1\n"), 2);
        assert_new(&seen(&dir, "kept"));
    }
}

#[test]
fn an_agent_that_is_not_silent_between_games_is_started_anew() {
    if lacks(KEEPING) {
        return;
    }
    for mode in ["speaks", "exits", "computes"] {
        let dir = TestDir::new();
        let Some(kept) = agent(&dir, "kept", "plays") else { return };
        let Some(other) = agent(&dir, "other", mode) else { return };
        run(&dir, &[&kept, &other], KEPT, 4);
        assert_one(&seen(&dir, "kept"));
        assert_new(&seen(&dir, "other"));
    }
}

/// Its answer would come in the next game.
#[test]
fn an_agent_that_was_asked_when_the_game_ended_is_started_anew() {
    if lacks(KEEPING) {
        return;
    }
    let dir = TestDir::new();
    let Some(sleeps) = agent(&dir, "sleeps", "sleeps") else { return };
    let Some(other) = agent(&dir, "other", "interrupts") else { return };
    run(&dir, &[&sleeps, &other], KEPT, 4);
    assert_new(&seen(&dir, "sleeps"));
}

#[test]
fn memory_and_stderr_count_for_each_game() {
    if lacks(KEEPING) {
        return;
    }
    let dir = TestDir::new();
    let Some(grows) = agent(&dir, "grows", "grows") else { return };
    let Some(shouts) = agent(&dir, "shouts", "shouts") else { return };
    let more = format!("{KEPT}limits.stderr_bytes = 1000\nsandbox.level = \"none\"\n");
    run(&dir, &[&grows, &shouts], &more, 4);
    let seen_shouts = seen(&dir, "shouts");
    assert_one(&seen_shouts);
    for game in &seen_shouts {
        assert_eq!(game.stderr.len(), 2000);
        assert_eq!(game.dropped, seen_shouts[0].dropped);
    }
    let peaks: Vec<u64> = seen(&dir, "grows").iter().map(|it| it.peak.unwrap()).collect();
    let large = 64 << 10;
    assert!(peaks[0] > large && peaks[1..].iter().all(|&peak| peak < large), "{peaks:?}");
}

/// Plays until the last game waits for the gate.
fn waiting(dir: &TestDir) -> Option<crate::support::Running> {
    let names = (0..12).map(|number| format!("player-{number}"));
    let mut agents: Vec<String> =
        names.map(|name| agent(dir, &name, "plays")).collect::<Option<_>>()?;
    agents.push(gated(dir, "gated.sh"));
    let agents: Vec<&str> = agents.iter().map(String::as_str).collect();
    let more = "reuse = true\njobs = 1\nformat = \"gauntlet\"\nseat_orders = \"one\"\n\
                sandbox.level = \"none\"\n";
    write(dir, &agents, more);
    let running = start(dir, &["run", "c.toml", "--out", "d"]);
    wait_for_games(dir, "d", 12);
    Some(running)
}

#[test]
fn waiting_processes_are_few_stopped_and_end_with_the_contest() {
    if lacks(KEEPING) {
        return;
    }
    for interrupted in [false, true] {
        let dir = TestDir::new();
        let Some(running) = waiting(&dir) else { return };
        // The first player was the last of them, and is in the game.
        let settled = || {
            let states = states(&dir);
            let stopped = states.iter().filter(|&&state| state == 'T').count();
            (states.len(), stopped) == (WAITING_MAX, WAITING_MAX - 1)
        };
        assert!(eventually(settled), "{:?}", states(&dir));
        if interrupted {
            running.send(Signal::SIGTERM);
            running.wait().code(143);
        } else {
            dir.write(GATE, "");
            running.wait().code(0);
            assert_whole(&dir, "d", 12);
            assert_one(&seen(&dir, "player-0"));
        }
        assert_eq!(states(&dir), [' '; 0]);
        dir.assert_tmp_is_empty();
    }
}
