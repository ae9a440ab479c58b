//! `position` and `perft` as used by other programs.

use crate::support::TestDir;
use serde_json::{Value, json};

const HEX3: [&str; 4] = ["position", "hex", "--setup", r#"{"size":3}"#];

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_last_position_is_printed() {
    let dir = TestDir::new();
    let actions = "{\"type\":\"place\",\"at\":[0,0]}\n{\"type\":\"place\",\"at\":[1,1]}\n";
    let file = dir.write("actions", actions);
    let output = dir.run(&[&HEX3[..], &["--json", "--actions", &file]].concat()).code(0).json();
    assert_eq!(output["turn"], 2);
    assert_eq!(output["to_move"], 0);
    assert_eq!(output["outcome"], Value::Null);
    assert_eq!(output["position"]["stones"], json!([[[0, 0]], [[1, 1]]]));
    assert_eq!(output["actions"].as_array().unwrap().len(), 7);
    assert_eq!(output["actions"][0], json!({"type": "place", "at": [0, 1]}));
    let mut names = keys(&output);
    names.sort_unstable();
    assert_eq!(names, ["actions", "outcome", "position", "text", "to_move", "turn"]);
}

#[test]
fn without_actions_it_is_the_start() {
    let output = TestDir::new().run(&["position", "chexers", "--json"]).code(0).json();
    assert_eq!((&output["turn"], &output["to_move"]), (&json!(0), &json!(0)));
    assert_eq!(output["actions"].as_array().unwrap().len(), 8);
}

#[test]
fn every_position_is_printed_from_the_start_on() {
    let dir = TestDir::new();
    // Blank lines only count as lines. Actions are read as JSON and as text.
    let input = "\n{\"type\":\"place\",\"at\":[0,0]}\n  \nb2\n\n";
    let words = [&HEX3[..], &["--json", "--every", "--actions", "-"]].concat();
    let output = dir.run_with_input(&words, input).code(0).json_lines();
    let turns: Vec<&Value> = output.iter().map(|output| &output["turn"]).collect();
    assert_eq!(turns, [0, 1, 2]);
}

#[test]
fn an_illegal_action_is_named_after_the_last_good_position() {
    let dir = TestDir::new();
    let input = "{\"type\":\"place\",\"at\":[0,0]}\n\n{\"type\":\"place\",\"at\":[0,0]}\na3\n";
    let words = [&HEX3[..], &["--json", "--actions", "-"]].concat();
    let ran = dir.run_with_input(&words, input).code(1);
    let ran = ran.stderr_has("line 3: {\"type\":\"place\",\"at\":[0,0]}: illegal: ");
    assert_eq!(ran.json()["turn"], 1);
    let ran = dir.run_with_input(&[&words[..], &["--every"]].concat(), input).code(1);
    assert_eq!(ran.json_lines().len(), 2);
    for (input, wanted) in [
        ("{\"type\":\"pass\"}\n", "line 1: {\"type\":\"pass\"}: not an action of this game"),
        ("{\"type\":\n", "line 1: {\"type\":: the line ends where a value is expected"),
        ("nowhere\n", "line 1: nowhere: "),
    ] {
        let ran = dir.run_with_input(&words, input).code(1).stderr_has(wanted);
        assert_eq!(ran.json()["turn"], 0);
    }
}

#[test]
fn an_action_after_the_end_is_an_error() {
    let dir = TestDir::new();
    // Black joins column 0 with column 2.
    let input = "a1\na2\nb1\nb2\nc1\na3\n";
    let words = [&HEX3[..], &["--json", "--actions", "-"]].concat();
    let ran = dir.run_with_input(&words, input).code(1).stderr_has("line 6: a3: ");
    let output = ran.json();
    assert_eq!(
        (&output["turn"], &output["to_move"], &output["actions"]),
        (&json!(5), &Value::Null, &json!([]))
    );
    assert_eq!(output["outcome"], json!({"places": [1, 2], "reason": "connected"}));
}

#[test]
fn a_game_may_be_over_at_the_start() {
    let words = ["position", "peg-solitaire", "--setup", r#"{"size":4}"#, "--json", "--every"];
    let output = TestDir::new().run(&words).code(0).json();
    assert_eq!(
        (&output["turn"], &output["to_move"], &output["actions"]),
        (&json!(0), &Value::Null, &json!([]))
    );
    assert_eq!(output["outcome"]["reason"], "stuck");
}

#[test]
fn a_bad_setup_is_a_usage_error() {
    let dir = TestDir::new();
    for (setup, words) in [
        (r#"{"size":2}"#, "size"),
        (r#"{"sise":5}"#, "sise"),
        (r#"{"size":"big"}"#, "size"),
        (r#"{"size":}"#, "--setup"),
    ] {
        let ran = dir.run(&["position", "hex", "--json", "--setup", setup]);
        let ran = ran.code(2).stderr_has(words);
        assert_eq!(ran.stdout, "");
        dir.run(&["perft", "hex", "1", "--setup", setup]).code(2);
        dir.run(&["play", "hex", "@random", "@random", "--setup", setup]).code(2);
    }
}

#[test]
fn a_setup_may_start_anywhere_and_actions_come_from_a_transcript() {
    let dir = TestDir::new();
    let position = json!({"size": 3, "position": {
        "to_move": 1, "size": 3, "stones": [[[1, 1]], []], "colours": ["black", "red"], "turn": 1,
    }});
    let position = position.to_string();
    let words = ["position", "hex", "--json", "--setup", &position];
    assert_eq!(dir.run(&words).code(0).json()["actions"].as_array().unwrap().len(), 8);
    let words = ["hex", "@first", "@first", "--setup", &position, "--out", "x.jsonl"];
    let turns = dir.play(&words)["turns"].as_u64().unwrap();
    let words = ["position", "hex", "--json", "--transcript", "x.jsonl"];
    let output = dir.run(&words).code(0).json();
    assert_eq!((output["turn"].as_u64(), &output["to_move"]), (Some(turns), &Value::Null));
    let output = dir.run(&[&words[..], &["--ply", "2"]].concat()).code(0).json();
    assert_eq!(output["turn"], 3);
}

#[test]
fn perft_counts() {
    let dir = TestDir::new();
    let output = dir.run(&["perft", "hex", "4", "--setup", "size=3", "--json"]).code(0).json();
    assert_eq!(output["game"], "hex");
    assert_eq!(output["setup"]["size"], 3);
    assert_eq!(output["counts"], json!([9, 72, 504, 3024]));
    assert_eq!(output.get("divide"), None);
    let output = dir.run(&["perft", "chexers", "3", "--divide", "--json"]).code(0).json();
    assert_eq!(output["counts"], json!([8, 64, 512]));
    let divide = output["divide"].as_array().unwrap();
    let sum: u64 = divide.iter().map(|row| row["count"].as_u64().unwrap()).sum();
    assert_eq!((divide.len(), sum), (8, 512));
    assert!(divide.iter().all(|row| row["action"]["type"] == "move"));
    // The game is over, so there are no actions.
    let words = ["perft", "peg-solitaire", "3", "--setup", "size=4", "--json"];
    assert_eq!(dir.run(&words).code(0).json()["counts"], json!([0, 0, 0]));
}

#[test]
fn a_line_that_is_not_utf8_is_reported_after_earlier_lines() {
    let dir = TestDir::new();
    let file = dir.write("actions", b"a1\n\xFF\xFE\n");
    let words = ["position", "hex", "--setup", "size=3", "--actions", &file, "--json"];
    let ran = dir.run(&words).code(1);
    assert_eq!(ran.json()["turn"], 1);
    ran.stderr_has("line 2");
}
