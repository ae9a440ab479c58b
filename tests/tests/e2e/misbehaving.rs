//! The built-in agents that misbehave: each has its own fault, which ends the match or its own part
//! in it, and never changes the exit code unless that was asked for.

use crate::support::Place;
use serde_json::{Value, json};

/// Who misbehaves on which clock, its fault, and what is said of it.
const ROWS: &[(&str, &[&str], &str, &str)] = &[
    ("@crash", &[], "gone", "exit status 1"),
    ("@slow", &["--move-time", "200ms"], "late", "200 ms were allowed"),
    ("@mute", &["--move-time", "200ms"], "late", "200 ms were allowed"),
    ("@flood", &[], "flood", "longer than 65536 bytes"),
    ("@illegal", &[], "illegal", ""),
];

#[test]
fn each_has_a_fault_of_its_own() {
    for (agent, clock, kind, words) in ROWS {
        let place = Place::new();
        // In the first seat, so that nothing depends on how quick the other is.
        let match_words = [&["play", "hex", *agent, "@random", "--json"][..], *clock].concat();
        // Where the referee lags for as long as an answer is late, the match is void: exit code 4.
        let mut played = (0..5).map(|_| place.run(&match_words));
        let told = played.find(|ran| ran.exit != Some(4)).unwrap().code(0).json();
        assert_eq!(told["verdict"]["result"], "fault", "{agent}: {told}");
        assert_eq!(told["verdict"]["places"], json!([2, 1]), "{agent}: {told}");
        assert_eq!(told["outcome"], Value::Null, "{agent}: {told}");
        let fault = &told["verdict"]["seats"][0]["fault"];
        assert_eq!(fault["kind"], *kind, "{agent}: {told}");
        assert!(fault["text"].as_str().unwrap().contains(words), "{agent}: {told}");
        assert_eq!(told["verdict"]["seats"][1]["fault"], Value::Null, "{agent}: {told}");
        assert_eq!(place.verified(told["transcript"].as_str().unwrap()), "ok");
        place.assert_tidy();
    }
}

#[test]
fn a_lone_one_leaves_its_puzzle_unsolved() {
    let place = Place::new();
    let told = place.play(&["peg-solitaire", "@crash"]);
    assert_eq!(told["verdict"]["places"], json!([2]));
}

#[test]
fn a_fault_decides_the_exit_code_where_that_is_asked_for() {
    let place = Place::new();
    place.run(&["play", "hex", "@crash", "@random", "--fail-on-fault"]).code(3).prints("gone");
    let words = ["play", "hex", "@first", "@random", "--setup", "size=3", "--fail-on-fault"];
    place.run(&words).code(0);
}

#[test]
fn two_of_three_play_on() {
    let place = Place::new();
    let told = place.play(&["chexers", "@random", "@crash", "@random"]);
    assert_eq!(told["verdict"]["result"], "played");
    assert_eq!(told["verdict"]["places"][1], 3);
    assert_eq!(told["verdict"]["seats"][1]["fault"]["kind"], "gone");
    assert!(told["turns"].as_u64().unwrap() > 20, "{told}");
    let transcript = told["transcript"].as_str().unwrap();
    let retired = &place.events_of(transcript, "retired")[0];
    assert_eq!((&retired["seat"], &retired["turn"]), (&json!(1), &json!(1)));
    assert_eq!(place.verified(transcript), "ok");
    // What it said last is shown to whoever has to mend it.
    let words = ["replay", transcript, "--print", "--board", "none"];
    place.run(&words).code(0).prints("@crash is out: gone").prints("@crash says: ");
}

#[test]
fn the_last_of_three_wins() {
    let place = Place::new();
    let told = place.play(&["chexers", "@crash", "@crash", "@random"]);
    assert_eq!(told["verdict"]["reason"], "last_seat");
    assert_eq!(told["verdict"]["places"], json!([3, 2, 1]));
}

#[test]
fn the_first_fault_of_three_ends_the_match_where_that_is_asked_for() {
    let place = Place::new();
    let told = place.play(&["chexers", "@random", "@crash", "@random", "--on-fault", "end"]);
    assert_eq!(told["verdict"]["places"], json!([1, 3, 1]));
    assert_eq!(told["turns"], 1);
}
