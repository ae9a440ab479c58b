//! How the Python kit treats its streams and a bot's mistakes, and the bots of the tutorial.

use crate::kits::PROGRAMS;
use crate::referee::{Participant, hello, play};
use crate::samples::is_installed;
use referee_games::kind;
use referee_protocol::{FromAgent, parse_from_agent};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The folder of the starter and its kit.
const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python/starter");
/// Runs a script with its input, in another folder than its own.
fn run(arguments: &[&str], environment: &[(&str, &str)], input: &[u8]) -> Output {
    let mut python = Command::new("python3");
    python.args(arguments).current_dir(std::env::temp_dir());
    // The referee passes neither to agents.
    python.env_remove("PYTHONUNBUFFERED").env_remove("PYTHONPATH");
    python.envs(environment.iter().copied());
    python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut python = python.spawn().unwrap();
    let mut stdin = python.stdin.take().unwrap();
    // A script that fails, as some of these do, need not read all of it.
    let written = stdin.write_all(input);
    drop(stdin);
    let output = python.wait_with_output().unwrap();
    assert!(written.is_ok() || !output.status.success(), "input was left unread");
    output
}

/// Returns the lines that the bot at `seat` receives in Hex on a 4 x 4 board. Both seats play the
/// first legal action; the lines end after `turns` turns.
fn conversation(seat: usize, turns: usize) -> String {
    let mut game = kind("hex").unwrap().start(&json!({"size": 4})).unwrap();
    let mut greeting = hello("hex", &game.setup(), seat, 2, 11);
    greeting["seats"][1]["name"] = json!("Zoë 棋士");
    // Not escaped, as the referee writes it.
    let mut lines = format!("{greeting}\n\n{{\"type\":\"weather\",\"sun\":[1]}}\r\n");
    for turn in 0..turns {
        let actions = game.actions();
        if turn % 2 == seat {
            let request = json!({
                "type": "turn", "turn": turn, "left_ms": 60000, "actions": actions,
                "position": game.position(), "moon": "full",
            });
            writeln!(lines, "{request}").unwrap();
        }
        game.play(&actions[0]).unwrap();
        let played = json!({"type": "played", "turn": turn, "seat": turn % 2,
            "action": actions[0], "used_ms": 1});
        writeln!(lines, "{played}").unwrap();
    }
    lines
}

/// Runs a bot on these lines; returns its messages, its stderr, and whether it succeeded.
fn behave(mode: &str, environment: &[(&str, &str)], input: &str) -> (Vec<FromAgent>, String, bool) {
    let output = run(&[&format!("{PROGRAMS}/behaviour.py"), mode], environment, input.as_bytes());
    let said = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let said = said.map(|line| {
        let text = String::from_utf8_lossy(line).into_owned();
        parse_from_agent(line).unwrap_or_else(|error| panic!("{text}: {error}"))
    });
    let code = output.status.code().expect("not ended by a signal");
    assert!(code <= 1);
    (said.collect(), String::from_utf8(output.stderr).unwrap(), code == 0)
}

/// Checks that these messages are `ready` and the first legal action in each of these turns.
fn expect_first_actions(said: &[FromAgent], turns: &[u64]) {
    let FromAgent::Ready(ready) = &said[0] else { panic!("{said:?}") };
    assert_eq!(ready.name.as_deref(), Some("behaviour"));
    assert_eq!(said.len(), 1 + turns.len(), "{said:?}");
    for (said, &turn) in said[1..].iter().zip(turns) {
        let FromAgent::Action(action) = said else { panic!("{said:?}") };
        assert_eq!(action.turn, Some(turn));
        assert_eq!(action.action, json!({"type": "place", "at": [turn / 4, turn % 4]}));
    }
}

#[test]
fn prints_go_to_stderr_and_reads_find_no_input() {
    if !is_installed("the kit", ["python3"]) {
        return;
    }
    let (said, noted, well) = behave("noisy", &[], &conversation(1, 4));
    assert!(well, "{noted}");
    expect_first_actions(&said, &[1, 3]);
    for stray in [
        "printed before",
        "a stray print, flushed\n",
        "a stray print\n",
        "a stray write\n",
        "to the first stdout\n",
        "stray bytes\n",
        "asks: ",
        "a stray puts\n",
    ] {
        assert!(noted.contains(stray), "{stray:?} is not in {noted:?}");
    }
}

#[test]
fn names_are_read_in_any_locale() {
    if !is_installed("the kit", ["python3"]) {
        return;
    }
    let plain = [
        ("LANG", "C"),
        ("LC_ALL", "C"),
        ("PYTHONCOERCECLOCALE", "0"),
        ("PYTHONUTF8", "0"),
        ("PYTHONIOENCODING", "ascii:backslashreplace"),
    ];
    for (environment, name) in
        [(&plain[..], r"Zo\xeb \u68cb\u58eb"), (&[("PYTHONIOENCODING", "utf-8")], "Zoë 棋士")]
    {
        let (said, noted, well) = behave("logs", environment, &conversation(0, 2));
        assert!(well, "{noted}");
        assert!(noted.contains(&format!("seats ['s0', '{name}'] left 60000")), "{noted}");
        assert!(noted.contains("listed 16 own 16"), "{noted}");
        let [FromAgent::Ready(ready), FromAgent::Info(first), FromAgent::Info(second), _] =
            &said[..]
        else {
            panic!("{said:?}")
        };
        assert_eq!(ready.want.len(), 2);
        let info = json!({"score": "-inf", "depth": 3, "text": "näher", "nodes": 7,
            "cells": [{"at": [0, 0], "label": "0.5"}]});
        assert_eq!(json!(first.0), info);
        assert_eq!(json!(second.0), json!({"score": "nan"}));
    }
}

#[test]
fn an_exception_ends_the_bot_with_its_own_traceback() {
    if !is_installed("the kit", ["python3"]) {
        return;
    }
    for (mode, answers, own_line, error) in [
        ("fails", 3, "return actions[len(actions)]", "IndexError: list index out of range"),
        ("misuses", 1, "return game.after(", "KeyError: 'at'"),
    ] {
        let (said, noted, well) = behave(mode, &[], &conversation(0, 4));
        assert!(!well && said.len() == answers, "{said:?}");
        let frames: Vec<&str> =
            noted.lines().filter(|line| line.trim_start().starts_with("File ")).collect();
        assert!(frames[0].contains("behaviour.py") && frames[0].contains("in choose"), "{noted}");
        assert!(frames[1..].iter().all(|frame| frame.contains("referee_kit.py")), "{noted}");
        assert!(noted.contains(own_line) && noted.contains(error), "{noted}");
    }
    let (said, noted, well) = behave("wrong", &[], &conversation(0, 4));
    assert!(!well && said.len() == 1, "{said:?}");
    assert!(noted.contains("choose returned 'c4': neither an action nor None"), "{noted}");
}

#[test]
fn a_bot_may_resign_and_may_change_its_copy_of_the_game() {
    if !is_installed("the kit", ["python3"]) {
        return;
    }
    let (said, noted, well) = behave("resigns", &[], &conversation(0, 4));
    assert!(well, "{noted}");
    expect_first_actions(&said[..2], &[0]);
    assert!(matches!(&said[2], FromAgent::Resign(resign) if resign.turn == Some(2)), "{said:?}");

    let (said, noted, well) = behave("spoils", &[], &conversation(0, 6));
    assert!(well, "{noted}");
    expect_first_actions(&said, &[0, 2, 4]);
}

#[test]
fn over_ends_the_bot_and_so_does_the_end_of_input() {
    if !is_installed("the kit", ["python3"]) {
        return;
    }
    for end in ["", "{\"type\":\"over\",\"outcome\":null}\n{\"type\":\"turn\",\"turn\":2}\n"] {
        let (said, noted, well) = behave("plays", &[], &(conversation(0, 2) + end));
        assert!(well, "{noted}");
        expect_first_actions(&said, &[0]);
    }
}

/// Returns the tutorial's bots: each step's `choose` with the rest of the starter.
fn tutorial() -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/first-agent.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> =
        page.split("```python\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 3, "a win, a plan, the middle");
    let bot = |blocks: &[&str]| {
        let body = blocks.join("\n");
        format!("import random\n\nfrom referee_kit import run\n\n\n{body}\n\nrun(choose)\n")
    };
    vec![bot(&blocks[..1]), bot(&blocks[1..2]), bot(&blocks[1..])]
}

#[test]
fn the_bots_of_the_tutorial_win_as_it_says() {
    if !is_installed("the kit", ["python3"]) {
        return;
    }
    let wins = |bot: usize, opponent: &'static str| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tutorial-{bot}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::copy(format!("{STARTER}/referee_kit.py"), folder.join("referee_kit.py")).unwrap();
        std::fs::write(folder.join("bot.py"), &tutorial()[bot]).unwrap();
        let command = ["python3", "bot.py"].map(str::to_owned).to_vec();
        let bot = Participant::Program(folder, command);
        let won = |&number: &u64| {
            let seat = usize::from(number % 2 == 1);
            let mut table = [bot.clone(), opponent.into()];
            table.rotate_right(seat);
            let played = play("hex", &json!({"size": 7}), &table, number, None);
            played.outcome.places[seat] == 1
        };
        (0..8).filter(won).count()
    };
    assert!(wins(0, "random") >= 1);
    assert_eq!(wins(1, "random"), 8);
    let (before, after) = (wins(1, "greedy"), wins(2, "greedy"));
    assert!(before <= 2 && after >= 4, "{before} and {after} of 8 against greedy");
}
