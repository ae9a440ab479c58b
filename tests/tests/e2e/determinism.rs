//! The same seed and agents give the same match, and every summary prints the command for it.

use crate::support::{TestDir, python, python_agent, remove_fields, strings};
use serde_json::Value;

/// Fields that depend on the load of the machine.
const TIMES: &[&str] = &[
    "at_ns",
    "used_ms",
    "wall_ns",
    "cpu_ns",
    "wait_ns",
    "lag_ns",
    "cpu_ms",
    "peak_memory_kb",
    "left_ms",
    "started",
];

/// Reads a transcript without times. Before the first turn and after the end agents act at the same
/// time, so those events are sorted by seat. Exits are left out: on a busy machine an agent that gets
/// no core for a second is killed.
fn essence(dir: &TestDir, name: &str) -> Vec<String> {
    let mut events = dir.events(name);
    let seal = events.pop().unwrap();
    assert_eq!(seal["type"], "seal");
    for event in &mut events {
        remove_fields(event, TIMES);
    }
    let kind = |wanted| move |event: &Value| event["type"] == wanted;
    let first = events.iter().position(kind("turn")).unwrap();
    let over = events.iter().position(kind("over")).unwrap();
    events[1..first].sort_by_key(|event| event["seat"].as_u64());
    events[over + 1..].sort_by_key(|event| event["seat"].as_u64());
    let behind = events.split_off(over + 1).into_iter();
    events.extend(behind.filter(|event| event["type"] != "exit"));
    events.iter().map(Value::to_string).collect()
}

#[test]
fn the_same_seed_gives_the_same_transcript() {
    let mut agents = ["@random", "@greedy", "@random"].map(str::to_owned);
    if python().is_some() {
        agents[2] = python_agent();
    }
    let [first, second, third] = &agents;
    for (game, agents) in [("chexers", &[first, second, third][..]), ("hex", &[first, third])] {
        let dir = TestDir::new();
        let play = |seed, out| {
            let mut words = vec![game, "--seed", seed, "--out", out];
            words.extend(agents.iter().map(|agent| agent.as_str()));
            dir.play(&words)
        };
        let (one, two) = (play("17", "one.jsonl"), play("17", "two.jsonl"));
        assert_eq!(one["match"], two["match"]);
        assert_eq!(essence(&dir, "one.jsonl"), essence(&dir, "two.jsonl"));
        let other = play("18", "other.jsonl");
        assert_ne!(one["match"], other["match"]);
        assert_ne!(essence(&dir, "one.jsonl"), essence(&dir, "other.jsonl"));
    }
}

#[test]
fn the_reproduce_command_plays_the_same_match() {
    let dir = TestDir::new();
    let words = ["freckers", "a b=@random", "@greedy", "--setup", r#"{"landing":"every"}"#];
    let options = ["--setup", "turn_limit=40", "--limit", "line_bytes=9000", "--games", "3"];
    let words = [&["play", "--json"], &words[..], &options].concat();
    let series = dir.run(&words).code(0).json_lines();
    assert_eq!(series.len(), 3);
    for output in &series {
        let again =
            format!("{} --json --out again.jsonl --force", output["reproduce"].as_str().unwrap());
        let again = dir.shell(&again).code(0).json();
        for key in ["match", "setup", "seed", "game_number", "turns", "outcome", "seats"] {
            assert_eq!(output[key], again[key], "{key}");
        }
        let transcript = output["transcript"].as_str().unwrap();
        assert_eq!(essence(&dir, transcript), essence(&dir, "again.jsonl"));
    }
}

#[test]
fn the_summary_ends_with_the_reproduce_command() {
    let dir = TestDir::new();
    let words = ["play", "peg-solitaire", "@random", "--setup", "size=6", "--seed", "9"];
    let ran = dir.run(&words).code(0);
    let again = ran.stdout.lines().last().unwrap().strip_prefix("again: ").unwrap();
    let output = dir.shell(&format!("{again} --json")).code(0).json();
    let first = dir.run(&[&words[..], &["--json"]].concat()).code(0).json();
    assert_eq!(output["outcome"], first["outcome"]);
    assert_eq!(output["match"], first["match"]);
}

#[test]
fn each_agent_has_each_seat_in_every_order() {
    let dir = TestDir::new();
    let words = ["play", "chexers", "a=@random", "b=@random", "c=@random", "--seed", "5"];
    let more = ["--games", "6", "--json", "--setup", "turns_per_seat=3"];
    let words = [&words[..], &more].concat();
    let (one, two) = (dir.run(&words).code(0), dir.run(&words).code(0));
    let (one, two) = (one.json_lines(), two.json_lines());
    let names = |output: &Value| {
        let seats = output["seats"].as_array().unwrap().iter();
        strings(seats.map(|seat| seat["name"].clone())).concat()
    };
    assert_eq!(
        one.iter().map(names).collect::<Vec<_>>(),
        ["abc", "bca", "cab", "cba", "bac", "acb"]
    );
    for (number, (one, two)) in one.iter().zip(&two).enumerate() {
        assert_eq!(one["game_number"], number);
        for key in ["match", "seed", "outcome", "turns"] {
            assert_eq!(one[key], two[key], "{key} of game {number}");
        }
        assert_ne!(one["transcript"], two["transcript"], "nothing is overwritten");
    }
    assert_eq!(one[0]["seed"], 5);
    assert_ne!(one[0]["match"], one[3]["match"], "each game of a series has its own id");
}
