//! `games`, `schema` and behaviour common to all commands.

use crate::support::TestDir;
use serde_json::{Value, json};

#[test]
fn games_as_json() {
    let dir = TestDir::new();
    let all = dir.run(&["games", "--json"]).code(0).json();
    for game in all["games"].as_array().unwrap() {
        let name = game["name"].as_str().unwrap();
        let one = dir.run(&["games", name, "--json"]).code(0).json();
        assert_eq!(one, json!({"games": [game]}));
        let about = &game["about"];
        assert!(!about["setup"].as_array().unwrap().is_empty(), "{name}");
        // The game reads its own examples.
        let game = referee_games::kind(name).unwrap().start(&json!({})).unwrap();
        for form in about["actions"].as_array().unwrap() {
            let shown = game.format_action(&form["example"]);
            let read = game.parse_action(&shown).unwrap();
            assert_eq!(game.format_action(&read), shown, "{name}");
        }
        assert!(
            about["reasons"].as_array().unwrap().iter().all(|reason| reason["name"].is_string())
        );
        dir.run(&["games", name]).code(0).stdout_has(name);
    }
}

#[test]
fn a_mistyped_name_suggests_the_nearest() {
    let dir = TestDir::new();
    for words in [
        &["games", "chexrs"][..],
        &["play", "chexrs", "@random", "@random", "@random"],
        &["position", "chexrs"],
        &["perft", "chexrs", "1"],
    ] {
        dir.run(words)
            .code(2)
            .stderr_has("unknown game `chexrs`")
            .stderr_has("did you mean `chexers`?");
    }
    dir.run(&["schema", "transcrit"]).code(2).stderr_has("did you mean `transcript`?");
    dir.run(&["paly", "hex"]).code(2).stderr_has("play");
    dir.run(&["play", "hex", "@random"]).code(2).stderr_has("hex needs 2 agents, 1 was given");
    dir.run(&["play", "hex", "@random", "@random", "--limit", "line_byts=1"])
        .code(2)
        .stderr_has("line_byts");
    dir.run(&["play", "hex", "@random", "@random", "--clock", "soon"])
        .code(2)
        .stderr_has("--clock");
}

#[test]
fn results_go_to_stdout_and_quiet_says_only_them() {
    let dir = TestDir::sandboxed();
    let words = ["play", "hex", "@first", "@first", "--setup", "size=3"];
    let ran = dir.run(&[&words, &["--quiet"][..]].concat()).code(0);
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.starts_with("@first wins: it connected its two sides\n"), "{ran:?}");
    // Unsolvable puzzles are reported on stderr before the match.
    let words = ["play", "peg-solitaire", "@first", "--setup", "size=7", "--json"];
    dir.run(&words).code(0).stderr_has("note: ");
    // In a pipe, tables are separated by tabs.
    let ran = dir.run(&["games"]).code(0);
    assert!(ran.stdout.lines().all(|line| line.split('\t').count() == 3), "{ran:?}");
}

#[test]
fn colour_follows_options_and_environment() {
    let dir = TestDir::new();
    let position =
        |options: &[&str]| dir.run(&[&["position", "hex"], options].concat()).code(0).stdout;
    assert!(!position(&[]).contains('\u{1b}'));
    assert!(position(&["--color", "always"]).contains('\u{1b}'));
    assert!(position(&["--board", "ascii"]).is_ascii());
    assert!(!position(&["--board", "unicode"]).is_ascii());
}

/// `referee ... | head` must not fail.
#[test]
fn a_closed_stdout_is_not_an_error() {
    let dir = TestDir::new();
    let line =
        "{ referee position hex --every --actions /dev/null; referee perft hex 2; } | head -n 1";
    let ran = dir.shell(line).code(0);
    assert_eq!(ran.stderr, "");
}

#[test]
fn built_in_agents_run_as_commands() {
    let dir = TestDir::new();
    let list = dir.run(&["agents"]).code(0);
    for name in ["@random", "@greedy", "@minimax[:N]", "@mute"] {
        assert!(list.stdout.contains(name), "{list:?}");
    }
    let game = dir.run(&["position", "hex", "--setup", "size=3", "--json"]).code(0).json();
    let hello = json!({
        "type": "hello", "protocol": 1, "game": "hex", "rules": 1, "setup": {"size": 3}, "seat": 0,
        "seats": [{"seat": 0, "name": "a", "colour": "black"}, {"seat": 1, "name": "b", "colour": "red"}],
        "clock": {}, "limits": {}, "seed": 1, "match": "0000000000000000",
    });
    let turn = json!({"type": "turn", "turn": 0, "left_ms": null, "actions": game["actions"]});
    let input = format!("{hello}\n{turn}\n");
    let output = dir.run_with_input(&["agent", "first"], &input).code(0).json_lines();
    assert_eq!(output[0]["type"], "ready");
    assert_eq!(output[1]["action"], json!({"type": "place", "at": [0, 0]}));
    dir.run(&["agent", "missing"]).code(2).stderr_has("referee agents");
    let empty: Value = json!([]);
    assert_eq!(json!(dir.run_with_input(&["agent", "first"], "").code(0).json_lines()), empty);
}

#[test]
fn messages_are_logged_as_json_lines() {
    let dir = TestDir::new();
    let failed = dir.run(&["--log-format", "json", "play", "hex", "mybto", "@random"]).code(2);
    let line: Value = serde_json::from_str(&failed.stderr).unwrap();
    assert_eq!(line["level"], "ERROR", "{line}");
    assert!(line["message"].as_str().unwrap().contains("no program `mybto`"), "{line}");
    assert!(line["timestamp"].as_str().unwrap().ends_with('Z') && line["help"].is_string());
    dir.write("c.toml", "game = \"hex\"\nagents = [\"@random\", \"@first\"]\n");
    let timed = dir.run(&["--log-format", "time", "contest", "plan", "c.toml"]).code(0);
    let first = timed.stderr.lines().next().unwrap();
    assert!(first.contains("Z  INFO note: the file has no `seed`"), "{first}");
}
