//! Live views of a contest whose games are played elsewhere: transcripts, page and workers.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::support::contest::{file, query};
use crate::support::http::ask;
use crate::support::serving::Serving;
use crate::support::{TestDir, eventually, program};
use serde_json::Value;

/// Writes a contest of one game, slow enough that the page shows the worker while it is played.
fn slow_contest(size: u32) -> TestDir {
    let dir = TestDir::new();
    let slowly = "while read -r line; do sleep 1.5; echo \"$line\"; done";
    dir.write("slow/agent.toml", "command = [\"./slow\"]");
    let program = program();
    dir.program("slow/slow", &format!("#!/bin/sh\n'{program}' agent first | {slowly}\n"));
    let small = file(&["slow", "@first"], "seat_orders = \"one\"\nsandbox.level = \"none\"\n");
    dir.write("slow.toml", small.replace("size = 3", &format!("size = {size}")));
    dir
}

/// Waits for a running match on the contest's page with at least this many turns.
fn live_match(serving: &Serving, turns: u64) -> Value {
    let mut found = Value::Null;
    let is_there = eventually(|| {
        let output = serving.json("/api/contest?folder=cup");
        found = output["live"][0].clone();
        found["turns"].as_u64().is_some_and(|played| played >= turns)
    });
    assert!(is_there, "{found}");
    found
}

/// Follows a match to its end and returns its plies.
fn followed(serving: &Serving, file: &str) -> Vec<Value> {
    let path = format!("/api/follow?file={}", file.replace('/', "%2F"));
    let mut plies = Vec::new();
    for (name, _, data) in ask(serving.port, "GET", &path, &[], "").events() {
        if name == "end" {
            assert_eq!(data, "over");
            return plies;
        }
        assert_eq!(name, "plies");
        let output: Value = serde_json::from_str(&data).unwrap();
        plies.extend(output["plies"].as_array().unwrap().iter().cloned());
    }
    panic!("{file} has no end: {plies:?}");
}

#[test]
fn a_match_on_a_worker_is_followed_like_a_local_one() {
    let Some(server) = Server::start() else { return };
    let dir = slow_contest(5);
    let url = server.url();
    let coordinator = start_coordinator(&dir, &["run", "slow.toml", "--out", "cup"], &url);
    let worker = start_worker(&dir, &url, &["--jobs", "1", "--name", "room\u{1b}-3"]);
    let serving = {
        assert!(eventually(|| dir.path("cup/contest.db").exists()));
        Serving::start(&dir, &["--no-play"])
    };
    let live = live_match(&serving, 1);
    let file = live["file"].as_str().unwrap().to_owned();
    assert!(file.starts_with("cup/games/0000/000000"), "{live}");
    assert_eq!(query(&dir, "cup", "select count(*) from games"), ["0"]);

    // The page shows the worker after the worker's next heartbeat.
    let page = || serving.json("/api/contest?folder=cup");
    let named = |output: &Value| output["live"][0]["worker"] == "room\u{FFFD}-3";
    assert!(eventually(|| named(&page())), "{}", page());
    assert_eq!(page()["workers"][0]["slots"], 1);
    let output =
        crate::support::contest::contest(&dir, &["status", "cup", "--json"]).code(0).json();
    assert_eq!(output["workers"][0]["name"], "room\u{FFFD}-3", "{output}");
    crate::support::contest::contest(&dir, &["status", "cup"]).code(0).stdout_has("room\u{FFFD}-3");

    let plies = followed(&serving, &file);
    let sheet = serving.json(&format!("/api/match?file={file}"));
    assert_eq!(sheet["state"], "over");
    assert_eq!(sheet["plies"].as_array().unwrap(), &plies);
    coordinator.wait().code(0);
    dir.run(&["verify", "cup"]).code(0);
    worker.terminate().code(143);
    let output = serving.json("/api/contest?folder=cup");
    assert_eq!((&output["played"], &output["live"]), (&1.into(), &Value::Array(Vec::new())));
    serving.end();
}

#[test]
fn a_resumed_coordinator_catches_up_with_a_match() {
    let Some(server) = Server::start() else { return };
    // The match takes longer than restarting the coordinator, also on a slow machine.
    let dir = slow_contest(7);
    let url = server.url();
    let coordinator = start_coordinator(&dir, &["run", "slow.toml", "--out", "cup"], &url);
    let _worker = start_worker(&dir, &url, &["--jobs", "1"]);
    assert!(eventually(|| dir.path("cup/contest.db").exists()));
    let serving = Serving::start(&dir, &["--no-play"]);
    let file = live_match(&serving, 2)["file"].as_str().unwrap().to_owned();
    coordinator.kill();
    // The worker plays on without a coordinator.
    let before = dir.events(&file).len();
    let coordinator = start_coordinator(&dir, &["resume", "cup"], &url);
    let grown = || dir.events(&file).len() > before;
    assert!(eventually(grown), "{before} lines, and no more");
    // The lines did not come with the final report.
    assert_eq!(query(&dir, "cup", "select count(*) from games"), ["0"]);
    let plies = followed(&serving, &file);
    let sheet = serving.json(&format!("/api/match?file={file}"));
    assert_eq!(sheet["plies"].as_array().unwrap(), &plies);
    coordinator.wait().code(0);
    dir.run(&["verify", "cup"]).code(0);
    serving.end();
}
