//! Agents that break the protocol, from the tables in tests/hostile/faults.toml: what each does and the
//! fault it gets. The opponent plays on, and no process is left.

use crate::support::lacks;
use crate::support::{TestDir, script_agent};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A row of tests/hostile/faults.toml, which explains the fields.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Row {
    mode: String,
    argument: Option<String>,
    seat: usize,
    options: Vec<String>,
    fault: Option<String>,
    text: String,
}

#[test]
fn odd_but_allowed() {
    play_all("odd-but-allowed");
}

#[test]
fn faults_at_the_start() {
    play_all("start");
}

#[test]
fn faults_of_measure() {
    play_all("measure");
}

#[test]
fn faults_of_ends() {
    play_all("ends");
}

fn play_all(table: &str) {
    let text = include_str!("../../hostile/faults.toml");
    let mut tables: BTreeMap<String, Vec<Row>> = toml::from_str(text).unwrap();
    for row in tables.remove(table).unwrap() {
        let dir = TestDir::sandboxed();
        let argument = row.argument.as_ref().map_or_else(String::new, |it| format!(" '{it}'"));
        let mode = format!("{}{argument}", row.mode);
        let of_tree = row.mode == "burning-child"
            || matches!(row.fault.as_deref(), Some("memory" | "processes"));
        if of_tree && lacks("limits of a process tree") {
            continue;
        }
        let Some(agent) = script_agent("hostile.py", &mode) else { return };
        let output = play(&dir, &row, &agent);
        let verdict = &output["verdict"];
        let other = 1 - row.seat;
        assert_eq!(verdict["seats"][other]["fault"], Value::Null, "{mode}: {verdict}");
        let fault = &verdict["seats"][row.seat]["fault"];
        match row.fault {
            None => {
                assert_eq!(*fault, Value::Null, "{mode}: {verdict}");
                assert_eq!(verdict["result"], "played", "{mode}: {verdict}");
            }
            Some(kind) => {
                assert_eq!(fault["kind"], kind, "{mode}: {verdict}");
                assert!(fault["text"].as_str().unwrap().contains(&row.text), "{mode}: {verdict}");
                assert_eq!(verdict["places"][other], 1, "{mode}: {verdict}");
            }
        }
        assert_eq!(dir.verify_status("x.jsonl"), "ok", "{mode}");
        dir.assert_tmp_is_empty();
    }
}

fn play(dir: &TestDir, row: &Row, agent: &str) -> Value {
    let mut seats = ["@first", "@first"];
    seats[row.seat] = agent;
    let words = ["hex", "--setup", "size=3", seats[0], seats[1], "--out", "x.jsonl"];
    let options: Vec<&str> = row.options.iter().map(String::as_str).collect();
    dir.play(&[&words, &options[..]].concat())
}

#[test]
fn an_answer_without_its_line_end_counts() {
    let dir = TestDir::sandboxed();
    let Some(agent) = script_agent("hostile.py", "without-end") else { return };
    let output = play(&dir, &Row::default(), &agent);
    assert_eq!(output["verdict"]["seats"][0]["turns"], 1, "{output}");
}

#[test]
fn a_slow_start_is_not_charged() {
    let dir = TestDir::sandboxed();
    let Some(agent) = script_agent("hostile.py", "starts-slowly 3") else { return };
    let begun = Instant::now();
    let output = play(&dir, &Row::default(), &agent);
    let whole = begun.elapsed();
    assert_eq!(output["verdict"]["result"], "played", "{output}");
    // Turns are sequential, and the start before them takes three seconds.
    let events = dir.events("x.jsonl");
    let charged = events.iter().filter_map(|event| event["wall_ns"].as_u64()).sum();
    let charged = Duration::from_nanos(charged);
    assert!(charged + Duration::from_secs(3) <= whole, "{charged:?} of {whole:?}");
}

/// Plays a match and returns how both agents exited: status, and whether they were killed.
fn exits(agent: &str) -> [(Value, Value); 2] {
    let dir = TestDir::sandboxed();
    play(&dir, &Row::default(), agent);
    let events = dir.events("x.jsonl");
    [0, 1].map(|seat| {
        let exit = events.iter().find(|it| it["type"] == "exit" && it["seat"] == seat).unwrap();
        (exit["status"].clone(), exit["late"].clone())
    })
}

#[test]
fn a_late_exit_is_noted_and_not_punished() {
    let Some(agent) = script_agent("hostile.py", "lingers") else { return };
    let [lingering, other] = exits(&agent);
    assert_eq!(lingering, (json!("killed by the referee"), json!(true)));
    assert_eq!(other, (json!("exit status 0"), Value::Null));
}

#[test]
fn exits_after_the_match_are_only_recorded() {
    let Some(agent) = script_agent("hostile.py", "exits-after-over 5") else { return };
    assert_eq!(exits(&agent)[0].0, "exit status 5");
}

#[test]
fn long_stderr_keeps_its_start_and_end() {
    let dir = TestDir::sandboxed();
    let Some(agent) = script_agent("hostile.py", "noisy") else { return };
    let output = play(&dir, &Row::default(), &agent);
    assert_eq!(output["verdict"]["result"], "played");
    let events = dir.events("x.jsonl");
    let of_agent = |it: &&Value| it["type"] == "stderr" && it["seat"] == 0;
    let pieces: Vec<&Value> = events.iter().filter(of_agent).collect();
    let text: String = pieces.iter().map(|piece| piece["text"].as_str().unwrap()).collect();
    assert!(text.starts_with("the head\nzzz"), "{:?}", &text[..20]);
    assert!(text.ends_with("zzz\nthe tail\n") || text.ends_with("zzzthe tail\n"));
    let dropped: u64 = pieces.iter().filter_map(|piece| piece["dropped_bytes"].as_u64()).sum();
    assert_eq!(text.len(), 2 * 65_536);
    assert_eq!(text.len() as u64 + dropped, 50_000_018);
}
