//! The same seed and the same agents give the same match, and every summary says how to get it.

use crate::support::{Place, leave_out, python, python_agent, texts};
use serde_json::Value;

/// What depends on how busy the machine was.
const TIMES: &[&str] =
    &["at_ns", "used_ms", "wall_ns", "cpu_ns", "wait_ns", "lag_ns", "cpu_ms", "left_ms", "started"];

/// A transcript without its times, in its order; but what agents do before the first turn and after
/// the end they do at the same time, so it is put into the order of their seats. How they exit is left
/// out: who gets no core for a second is killed.
fn essence(place: &Place, name: &str) -> Vec<String> {
    let mut events = place.events(name);
    let seal = events.pop().unwrap();
    assert_eq!(seal["type"], "seal");
    for event in &mut events {
        leave_out(event, TIMES);
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
        let place = Place::new();
        let play = |seed, out| {
            let mut words = vec![game, "--seed", seed, "--out", out];
            words.extend(agents.iter().map(|agent| agent.as_str()));
            place.play(&words)
        };
        let (one, two) = (play("17", "one.jsonl"), play("17", "two.jsonl"));
        assert_eq!(one["match"], two["match"]);
        assert_eq!(essence(&place, "one.jsonl"), essence(&place, "two.jsonl"));
        let other = play("18", "other.jsonl");
        assert_ne!(one["match"], other["match"]);
        assert_ne!(essence(&place, "one.jsonl"), essence(&place, "other.jsonl"));
    }
}

#[test]
fn what_a_summary_says_plays_the_same_match() {
    let place = Place::new();
    let words = ["freckers", "a b=@random", "@greedy", "--setup", r#"{"landing":"every"}"#];
    let options = ["--setup", "turn_limit=40", "--limit", "line_bytes=9000", "--games", "3"];
    let words = [&["play", "--json"], &words[..], &options].concat();
    let series = place.run(&words).code(0).json_lines();
    assert_eq!(series.len(), 3);
    for told in &series {
        let again =
            format!("{} --json --out again.jsonl --force", told["reproduce"].as_str().unwrap());
        let again = place.shell(&again).code(0).json();
        for key in ["match", "setup", "seed", "game_number", "turns", "outcome", "seats"] {
            assert_eq!(told[key], again[key], "{key}");
        }
        let transcript = told["transcript"].as_str().unwrap();
        assert_eq!(essence(&place, transcript), essence(&place, "again.jsonl"));
    }
}

#[test]
fn the_printed_summary_ends_with_how_to_play_it_again() {
    let place = Place::new();
    let words = ["play", "peg-solitaire", "@random", "--setup", "size=6", "--seed", "9"];
    let ran = place.run(&words).code(0);
    let again = ran.stdout.lines().last().unwrap().strip_prefix("again: ").unwrap();
    let told = place.shell(&format!("{again} --json")).code(0).json();
    let first = place.run(&[&words[..], &["--json"]].concat()).code(0).json();
    assert_eq!(told["outcome"], first["outcome"]);
    assert_eq!(told["match"], first["match"]);
}

#[test]
fn seats_move_on_by_one_with_each_game() {
    let place = Place::new();
    let words = ["play", "chexers", "a=@random", "b=@random", "c=@random", "--seed", "5"];
    let words = [&words, &["--games", "4", "--json"][..]].concat();
    let (one, two) = (place.run(&words).code(0), place.run(&words).code(0));
    let (one, two) = (one.json_lines(), two.json_lines());
    let names = |told: &Value| {
        let seats = told["seats"].as_array().unwrap().iter();
        texts(seats.map(|seat| seat["name"].clone())).concat()
    };
    assert_eq!(one.iter().map(names).collect::<Vec<_>>(), ["abc", "bca", "cab", "abc"]);
    for (number, (one, two)) in one.iter().zip(&two).enumerate() {
        assert_eq!(one["game_number"], number);
        for key in ["match", "seed", "outcome", "turns"] {
            assert_eq!(one[key], two[key], "{key} of game {number}");
        }
        assert_ne!(one["transcript"], two["transcript"], "nothing is overwritten");
    }
    assert_eq!(one[0]["seed"], 5);
    assert_ne!(one[0]["match"], one[3]["match"], "each game of a series has an id of its own");
}
