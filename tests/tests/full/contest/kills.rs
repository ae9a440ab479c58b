//! SIGKILL at random moments.

use crate::support::{Running, TestDir, program, python, root};
use std::process::Command;

#[test]
fn every_game_is_played_once_despite_kills() {
    assert_whole(&["--kills", "4", "--games", "224"], "4 kills, 224 games");
}

/// The rules are killed with the referee that has started them.
#[test]
fn every_game_of_a_game_program_is_played_once_despite_kills() {
    let game = root().join("sample-agents/games/tic-tac-toe");
    let more = ["--game", game.to_str().unwrap()];
    let words = ["--kills", "30", "--games", "200"];
    assert_whole(&[&words[..], &more].concat(), "30 kills, 224 games");
}

#[track_caller]
fn assert_whole(words: &[&str], kills_and_games: &str) {
    let Some(python) = python() else { return };
    let dir = TestDir::new();
    let mut command = Command::new(python);
    command.arg(root().join("tests/kill_and_resume.py")).arg(program()).args(words);
    dir.set_environment(&mut command);
    let ran = Running::start(command, None).wait_long().code(0);
    ran.stdout_has(&format!("{kills_and_games}, each once; verify agrees"));
}
