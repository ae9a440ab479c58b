//! How the Python kit treats its streams and a bot's mistakes, and the bots of the tutorial.

use crate::samples::builds::{copied, is_installed};
use crate::samples::conversation::{conversation, converse, expect_first_actions};
use crate::samples::kits::PROGRAMS;
use crate::support::scratch;
use crate::support::small_referee::{Participant, play};
use referee_protocol::FromAgent;
use serde_json::json;
use std::process::Command;

/// The folder of the starter and its kit.
const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample-agents/python/starter");

/// Runs a bot on these lines; returns its messages, its stderr, and whether it succeeded.
fn behave(mode: &str, environment: &[(&str, &str)], input: &str) -> (Vec<FromAgent>, String, bool) {
    let mut python = Command::new("python3");
    // In another folder than its own.
    python.arg(format!("{PROGRAMS}/behaviour.py")).arg(mode).current_dir(std::env::temp_dir());
    // The referee passes neither to agents.
    python.env_remove("PYTHONUNBUFFERED").env_remove("PYTHONPATH");
    python.envs(environment.iter().copied());
    let (said, noted, code) = converse(&mut python, input);
    assert!(code <= 1);
    (said, noted, code == 0)
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
        let is_kit =
            |frame: &&str| ["referee_kit.py", "rules.py"].iter().any(|it| frame.contains(it));
        assert!(frames[1..].iter().all(is_kit), "{noted}");
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

#[test]
fn a_bot_may_play_further_matches() {
    if !is_installed("the kit", ["python3"]) {
        return;
    }
    let over = "{\"type\":\"over\",\"outcome\":null}\n";
    let (first, second) = (conversation(0, 2) + over, conversation(1, 4) + over);
    let (said, noted, well) = behave("again", &[], &(first + &second));
    assert!(well, "{noted}");
    expect_first_actions(&said[..2], &[0]);
    expect_first_actions(&said[2..], &[1, 3]);
    assert!(matches!(&said[2], FromAgent::Ready(ready) if ready.again), "{said:?}");
}

#[test]
fn the_starter_passes_the_strict_type_checker() {
    if !is_installed("the type check", ["python3", "mypy"]) {
        return;
    }
    let mut mypy = Command::new("mypy");
    mypy.args(["--strict", "bot.py", "--cache-dir"]).arg(scratch("mypy"));
    let ran = mypy.current_dir(STARTER).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

/// Returns the tutorial's bots: the first step's `choose` with the rest of the starter, and the second.
fn tutorial() -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/first-agent.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> =
        page.split("```python\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    let [win, plan] = blocks[..] else { panic!("{} blocks of Python", blocks.len()) };
    vec![
        format!("import random\n\nfrom referee_kit import run\n\n\n{win}\n\nrun(choose)\n"),
        plan.to_owned(),
    ]
}

#[test]
fn the_bots_of_the_tutorial_win_as_it_says() {
    if !is_installed("the kit", ["python3"]) {
        return;
    }
    let wins = |bot: usize, opponent: &'static str| {
        let folder = copied("python/starter", &format!("tutorial-{bot}"));
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
        (0..4).filter(won).count()
    };
    assert!(wins(0, "random") >= 1);
    assert_eq!(wins(1, "random"), 4);
    assert!(wins(1, "greedy") >= 1);
}
