//! SIGKILL at random moments.

use crate::support::{Running, TestDir, program, python, root};
use std::process::Command;

#[test]
fn every_game_is_played_once_despite_kills() {
    let Some(python) = python() else { return };
    let dir = TestDir::new();
    let mut command = Command::new(python);
    command.arg(root().join("tests/kill_and_resume.py"));
    command.args([program(), "--kills", "4", "--games", "224"]);
    dir.set_environment(&mut command);
    let ran = Running::start(command, None).wait_long().code(0);
    ran.stdout_has("4 kills, 224 games, each once; verify agrees");
}
