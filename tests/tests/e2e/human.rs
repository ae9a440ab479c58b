//! A person at the terminal, simulated by a pipe.

use crate::support::game_programs::sample;
use crate::support::{RunResult, TestDir};
use crate::viewer::Terminal;
use serde_json::json;

fn play(dir: &TestDir, input: &str) -> RunResult {
    let words =
        ["play", "hex", "@human", "@first", "--setup", "size=3", "--json", "--out", "x.jsonl"];
    dir.run_with_input(&words, input)
}

#[test]
fn typed_actions_are_played() {
    let dir = TestDir::new();
    // Black joins the columns in row 2; the opponent fills row 1 from the left.
    let output = play(&dir, "a2\nb2\n\nc2\n").code(0).json();
    assert_eq!(output["verdict"]["result"], "played", "{output}");
    assert_eq!(output["seats"][0]["name"], "human");
    let played = dir.events_of("x.jsonl", "played");
    let own = played.iter().filter(|event| event["seat"] == 0).map(|it| &it["action"]["at"]);
    assert_eq!(own.collect::<Vec<_>>(), [&json!([1, 0]), &json!([1, 1]), &json!([1, 2])]);
    assert_eq!(dir.verify_status("x.jsonl"), "ok");
}

#[test]
fn invalid_input_is_reported_and_asked_again() {
    let dir = TestDir::new();
    let ran = play(&dir, "zz\na9\n?\nb2\nb2\nresign\n").code(0);
    let ran = ran
        .stderr_has("turn 0, your action")
        .stderr_has("a1  b1  c1")
        .stderr_has("turn 2, your action");
    let output = ran.json();
    assert_eq!(output["verdict"]["result"], "resigned", "{output}");
    assert_eq!(output["verdict"]["places"], json!([2, 1]));
    assert_eq!(output["turns"], 2);
    assert_eq!(output["verdict"]["seats"][0]["fault"]["kind"], "resigned");
    assert_eq!(ran.stderr.matches("your action").count(), 6, "{}", ran.stderr);
    assert_eq!(dir.verify_status("x.jsonl"), "ok");
}

#[test]
fn a_person_who_closes_the_input_loses() {
    let dir = TestDir::new();
    let output = play(&dir, "b2\n").code(0).json();
    assert_eq!(output["verdict"]["seats"][0]["fault"]["kind"], "gone", "{output}");
    assert_eq!(output["turns"], 2);
    assert_eq!(dir.verify_status("x.jsonl"), "ok");
}

/// Of three who play, one who has left is last whatever the rules say.
#[test]
fn the_end_is_shown_once_with_the_places_of_the_match() {
    let dir = TestDir::new();
    let words = ["play", "chexers", "@human", "@random", "@first", "--seed", "2", "--json"];
    let ran = dir.run_with_input(&words, "resign\n").code(0);
    let report = ran.json();
    assert_ne!(report["outcome"]["places"], report["verdict"]["places"]);
    let ends: Vec<&str> = ran.stderr.lines().filter(|line| line.contains(": over: ")).collect();
    let places = report["verdict"]["places"].to_string();
    let places = format!("places {}, ", places.trim_matches(['[', ']']));
    assert!(ends.len() == 1 && ends[0].contains(&places), "{places}: {ends:?}");
}

#[test]
fn draws_are_told() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "pig", "pig") else { return };
    let words = ["play", &game, "@human", "@first", "--seed", "1", "--out", "x.jsonl"];
    let ran = dir.run_with_input(&words, "roll\nresign\n").code(0);
    let drawn = dir.events_of("x.jsonl", "drawn");
    let label = drawn[0]["label"].as_str().unwrap();
    // Whose turn it is then comes after it.
    ran.stderr_has(&format!("turn 0: human roll\ndrawn: {label}\nturn 1: seat "));
}

#[test]
fn tab_completes_an_action() {
    let dir = TestDir::new();
    let words = ["play", "hex", "@human", "@first", "--setup", "size=3", "--out", "x.jsonl"];
    let mut terminal = Terminal::start(&dir, &words, (40, 100));
    terminal.shows(&["turn 0, your action (Tab completes"]);
    terminal.press("\t");
    terminal.shows(&["a1  b1  c1  a2"]);
    terminal.press("b\t");
    terminal.shows(&["b1  b2  b3"]);
    // What came before Tab can be erased.
    terminal.press("3\x7f\x7fc\x7fb2\n");
    terminal.shows(&["turn 2, your action"]);
    terminal.press("res\x04");
    terminal.press("ign\n");
    terminal.ends(0, &["resign"]);
    let played = dir.events_of("x.jsonl", "played");
    assert_eq!(played[0]["action"]["at"], json!([1, 1]), "{played:?}");
}

#[test]
fn a_terminal_is_given_back_when_the_time_is_up() {
    let dir = TestDir::new();
    let words = ["play", "hex", "@human", "@first", "--setup", "size=3", "--move-time", "300ms"];
    let terminal = Terminal::start(&dir, &words, (40, 100));
    terminal.shows(&["turn 0, your action (Tab completes"]);
    terminal.ends(0, &["time"]);
}

#[test]
fn there_is_one_terminal() {
    TestDir::new().run(&["play", "hex", "@human", "@human"]).code(2).stderr_has("only one @human");
}
