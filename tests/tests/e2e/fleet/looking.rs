//! Looking on at a contest whose games are played elsewhere: its transcripts, its page, its workers.

use super::people::Member;
use super::server::Server;
use crate::contest::{file, query};
use crate::serve::Serving;
use crate::serve::http::ask;
use crate::support::{PROGRAM, Place, eventually};
use serde_json::Value;

/// A contest of one game on a board of this size, which takes longer than it takes until it is known
/// who plays it.
fn slow_contest(size: u32) -> Place {
    let place = Place::new();
    let slowly = "while read -r line; do sleep 1.5; echo \"$line\"; done";
    place.write("slow/agent.toml", "command = [\"./slow\"]");
    place.program("slow/slow", &format!("#!/bin/sh\n'{PROGRAM}' agent first | {slowly}\n"));
    let small = file(&["slow", "@first"], "seat_orders = \"one\"\nsandbox.level = \"none\"\n");
    place.write("slow.toml", small.replace("size = 3", &format!("size = {size}")));
    place
}

/// The first match that is under way on the contest's page, with so many turns at least.
fn live_match(serving: &Serving, turns: u64) -> Value {
    let mut found = Value::Null;
    let is_there = eventually(|| {
        let told = serving.json("/api/contest?folder=cup");
        found = told["live"][0].clone();
        found["turns"].as_u64().is_some_and(|played| played >= turns)
    });
    assert!(is_there, "{found}");
    found
}

/// The kinds of all plies of a match that is followed to its end, with their texts.
fn followed(serving: &Serving, file: &str) -> Vec<Value> {
    let path = format!("/api/follow?file={}", file.replace('/', "%2F"));
    let mut plies = Vec::new();
    for (name, _, data) in ask(serving.port, "GET", &path, &[], "").events() {
        if name == "end" {
            assert_eq!(data, "over");
            return plies;
        }
        assert_eq!(name, "plies");
        let told: Value = serde_json::from_str(&data).unwrap();
        plies.extend(told["plies"].as_array().unwrap().iter().cloned());
    }
    panic!("{file} has no end: {plies:?}");
}

#[test]
fn a_match_on_a_worker_is_followed_as_one_that_is_played_here() {
    let Some(server) = Server::start() else { return };
    let place = slow_contest(5);
    let url = server.url();
    let coordinator = Member::coordinator(&place, &["run", "slow.toml", "--out", "cup"], &url);
    let words = ["--slots", "1", "--name", "room\u{1b}-3", "--class", "lab"];
    let worker = Member::worker(&place, &url, &words);
    let serving = {
        assert!(eventually(|| place.path("cup/contest.db").exists()));
        Serving::start(&place, &["--no-play"])
    };
    let live = live_match(&serving, 1);
    let file = live["file"].as_str().unwrap().to_owned();
    assert!(file.starts_with("cup/games/0000/000000"), "{live}");
    assert_eq!(query(&place, "cup", "select count(*) from games"), ["0"]);

    // Who plays it is known from its worker's next beat on.
    let told_by_page = || serving.json("/api/contest?folder=cup");
    let named = |told: &Value| told["live"][0]["worker"] == "room\u{FFFD}-3";
    assert!(eventually(|| named(&told_by_page())), "{}", told_by_page());
    let worker_row = told_by_page()["workers"][0].clone();
    assert_eq!((&worker_row["class"], &worker_row["slots"]), (&"lab".into(), &1.into()));
    let told = crate::contest::contest(&place, &["status", "cup", "--json"]).code(0).json();
    assert_eq!(told["workers"][0]["name"], "room\u{FFFD}-3", "{told}");
    crate::contest::contest(&place, &["status", "cup"]).code(0).prints("room\u{FFFD}-3");

    let plies = followed(&serving, &file);
    let sheet = serving.json(&format!("/api/match?file={file}"));
    assert_eq!(sheet["state"], "over");
    assert_eq!(sheet["plies"].as_array().unwrap(), &plies);
    coordinator.wait().code(0);
    place.run(&["verify", "cup"]).code(0);
    worker.dismiss().code(143);
    let told = serving.json("/api/contest?folder=cup");
    assert_eq!((&told["played"], &told["live"]), (&1.into(), &Value::Array(Vec::new())));
    serving.end();
}

#[test]
fn a_coordinator_that_comes_back_catches_up_with_a_match() {
    let Some(server) = Server::start() else { return };
    // The match lasts for longer than it takes until a coordinator is back, on a slow machine too.
    let place = slow_contest(7);
    let url = server.url();
    let coordinator = Member::coordinator(&place, &["run", "slow.toml", "--out", "cup"], &url);
    let _worker = Member::worker(&place, &url, &["--slots", "1"]);
    assert!(eventually(|| place.path("cup/contest.db").exists()));
    let serving = Serving::start(&place, &["--no-play"]);
    let file = live_match(&serving, 2)["file"].as_str().unwrap().to_owned();
    coordinator.kill();
    // The worker plays on, and nobody hears of it.
    let before = place.events(&file).len();
    let coordinator = Member::coordinator(&place, &["resume", "cup"], &url);
    let grown = || place.events(&file).len() > before;
    assert!(eventually(grown), "{before} lines, and no more");
    // Not by the report at the end.
    assert_eq!(query(&place, "cup", "select count(*) from games"), ["0"]);
    let plies = followed(&serving, &file);
    let sheet = serving.json(&format!("/api/match?file={file}"));
    assert_eq!(sheet["plies"].as_array().unwrap(), &plies);
    coordinator.wait().code(0);
    place.run(&["verify", "cup"]).code(0);
    serving.end();
}
