//! `game check`: every row finds a broken game and explains it, and none blames the samples or the starters.

use crate::support::broken_games::{BROKEN, assert_found, write};
use crate::support::{TestDir, in_parallel, python, root, skip};
use sample_agents::game_starters::GAME_STARTERS;
use std::collections::BTreeSet;

#[test]
fn every_row_finds_a_broken_game() {
    in_parallel(2, BROKEN.len(), |index| {
        let dir = TestDir::new();
        assert_found(&dir, &BROKEN[index]);
        dir.assert_tmp_is_empty();
    });
    let dir = TestDir::new();
    if !write(&dir, "Good") {
        return;
    }
    let report = dir.run(&["game", "check", "broken", "--games", "2", "--json"]).code(0).json();
    let rows = report["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap());
    assert_eq!(BROKEN.iter().map(|broken| broken.1).collect::<BTreeSet<_>>(), rows.collect());
}

#[test]
fn no_row_blames_a_sample() {
    if python().is_none() {
        return;
    }
    let samples = std::fs::read_dir(root().join("sample-agents/games")).unwrap();
    let folders = samples.map(|entry| entry.unwrap()).filter(|entry| entry.path().is_dir());
    for sample in folders.map(|entry| entry.file_name().into_string().unwrap()) {
        let dir = TestDir::new();
        let folder = root().join("sample-agents/games").join(sample);
        dir.run(&["game", "check", folder.to_str().unwrap(), "--games", "2"]).code(0);
    }
}

#[test]
fn a_new_game_in_every_language_builds_plays_and_passes_its_check() {
    let path = std::env::var_os("PATH").unwrap();
    for starter in GAME_STARTERS {
        if std::env::split_paths(&path).all(|folder| !folder.join(starter.needs).is_file()) {
            skip(&format!("{} for a game in {}", starter.needs, starter.language));
            continue;
        }
        let dir = TestDir::new();
        let lang = ["game", "new", "games/stones", "--lang", starter.language, "--json"];
        let report = dir.run(&lang).code(0).json();
        let next: Vec<&str> =
            report["next"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        for command in next {
            dir.shell(command).code(0);
        }
    }
}
