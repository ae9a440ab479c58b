//! `games`, `schema` and what is common to all commands.

use crate::support::Place;
use serde_json::{Value, json};

#[test]
fn games_are_told_to_programs() {
    let place = Place::new();
    let all = place.run(&["games", "--json"]).code(0).json();
    for game in all["games"].as_array().unwrap() {
        let name = game["name"].as_str().unwrap();
        let one = place.run(&["games", name, "--json"]).code(0).json();
        assert_eq!(one, json!({"games": [game]}));
        let about = &game["about"];
        assert!(!about["setup"].as_array().unwrap().is_empty(), "{name}");
        // The examples are what the game reads.
        let game = referee_games::kind(name).unwrap().start(&json!({})).unwrap();
        for form in about["actions"].as_array().unwrap() {
            let shown = game.format_action(&form["example"]);
            let read = game.parse_action(&shown).unwrap();
            assert_eq!(game.format_action(&read), shown, "{name}");
        }
        assert!(
            about["reasons"].as_array().unwrap().iter().all(|reason| reason["name"].is_string())
        );
        place.run(&["games", name]).code(0).prints(name);
    }
}

#[test]
fn a_mistyped_name_names_the_nearest() {
    let place = Place::new();
    for words in [
        &["games", "chexrs"][..],
        &["play", "chexrs", "@random", "@random", "@random"],
        &["position", "chexrs"],
        &["perft", "chexrs", "1"],
    ] {
        place
            .run(words)
            .code(2)
            .complains("unknown game `chexrs`")
            .complains("did you mean `chexers`?");
    }
    place.run(&["schema", "transcrit"]).code(2).complains("did you mean `transcript`?");
    place.run(&["paly", "hex"]).code(2).complains("play");
    place.run(&["play", "hex", "@random"]).code(2).complains("played by 2, not by 1");
    place
        .run(&["play", "hex", "@random", "@random", "--limit", "line_byts=1"])
        .code(2)
        .complains("line_byts");
    place
        .run(&["play", "hex", "@random", "@random", "--clock", "soon"])
        .code(2)
        .complains("--clock");
}

#[test]
fn every_schema_is_one() {
    let place = Place::new();
    let list = place.run(&["schema"]).code(0).stdout;
    let names: Vec<&str> = list.lines().map(|line| line.split('\t').next().unwrap()).collect();
    for name in ["to-agent", "from-agent", "transcript", "play"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for name in names {
        let schema = place.run(&["schema", name]).code(0).json();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn what_play_prints_is_what_its_schema_says() {
    let place = Place::new();
    let schema = place.run(&["schema", "play"]).code(0).json();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for agents in [&["hex", "@first", "@first"][..], &["hex", "@illegal", "@first"]] {
        let told = place.play(&[agents, &["--setup", "size=3"]].concat());
        schema.validate(&told).unwrap_or_else(|error| panic!("{error}: {told}"));
        for key in ["game", "setup", "seed", "seats", "outcome", "verdict", "turns", "transcript"] {
            assert!(told.get(key).is_some(), "{key}: {told}");
        }
        assert_ne!(told["sandbox"]["level"], "none", "nobody asked for that");
        assert!(told["reproduce"].as_str().unwrap().starts_with("referee play hex "));
    }
}

#[test]
fn every_line_of_a_transcript_is_what_its_schema_says() {
    let place = Place::new();
    let schema = place.run(&["schema", "transcript"]).code(0).json();
    let schema = jsonschema::validator_for(&schema).unwrap();
    place.play(&["chexers", "@illegal", "@crash", "@first", "--out", "x.jsonl"]);
    for event in place.events("x.jsonl") {
        schema.validate(&event).unwrap_or_else(|error| panic!("{error}: {event}"));
    }
}

#[test]
fn results_go_to_stdout_and_quiet_says_only_them() {
    let place = Place::new();
    let words = ["play", "hex", "@first", "@first", "--setup", "size=3"];
    let ran = place.run(&[&words, &["--quiet"][..]].concat()).code(0);
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.starts_with("@first wins: connected\n"), "{ran:?}");
    // A puzzle that can't be solved is told before it is tried, on stderr.
    let words = ["play", "peg-solitaire", "@first", "--setup", "size=7", "--json"];
    place.run(&words).code(0).complains("note: ");
    // A table in a pipe has tabs.
    let ran = place.run(&["games"]).code(0);
    assert!(ran.stdout.lines().all(|line| line.split('\t').count() == 3), "{ran:?}");
}

#[test]
fn colour_is_only_where_it_is_wanted() {
    let place = Place::new();
    let position =
        |options: &[&str]| place.run(&[&["position", "hex"], options].concat()).code(0).stdout;
    assert!(!position(&[]).contains('\u{1b}'));
    assert!(position(&["--color", "always"]).contains('\u{1b}'));
    assert!(position(&["--board", "ascii"]).is_ascii());
    assert!(!position(&["--board", "unicode"]).is_ascii());
}

/// A program that reads only the first lines of what is printed is no failure of this one.
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let place = Place::new();
    let line =
        "{ referee position hex --every --actions /dev/null; referee perft hex 2; } | head -n 1";
    let ran = place.shell(line).code(0);
    assert_eq!(ran.stderr, "");
}

#[test]
fn built_in_agents_speak_for_themselves() {
    let place = Place::new();
    let list = place.run(&["agent", "list"]).code(0);
    for name in ["@random", "@greedy", "@minimax[:N]", "@mute"] {
        assert!(list.stdout.contains(name), "{list:?}");
    }
    let game = place.run(&["position", "hex", "--setup", "size=3", "--json"]).code(0).json();
    let hello = json!({
        "type": "hello", "protocol": 1, "game": "hex", "rules": 1, "setup": {"size": 3}, "seat": 0,
        "seats": [{"seat": 0, "name": "a", "colour": "black"}, {"seat": 1, "name": "b", "colour": "red"}],
        "clock": {}, "limits": {}, "seed": 1, "match": "0000000000000000",
    });
    let turn = json!({"type": "turn", "turn": 0, "left_ms": null, "actions": game["actions"]});
    let input = format!("{hello}\n{turn}\n");
    let told = place.run_with_input(&["agent", "first"], &input).code(0).json_lines();
    assert_eq!(told[0]["type"], "ready");
    assert_eq!(told[1]["action"], json!({"type": "place", "at": [0, 0]}));
    place.run(&["agent", "nobody"]).code(2).complains("referee agent list");
    let empty: Value = json!([]);
    assert_eq!(json!(place.run_with_input(&["agent", "first"], "").code(0).json_lines()), empty);
}
