//! SIGKILL, which nothing can catch, at random moments.

use crate::support::{PROGRAM, Place, Running, python, root};
use std::process::Command;

#[test]
fn killed_again_and_again_every_game_is_there_once() {
    let Some(python) = python() else { return };
    let place = Place::new();
    let mut command = Command::new(python);
    command.arg(root().join("tests/kill_and_resume.py"));
    command.args([PROGRAM, "--kills", "4", "--games", "224"]);
    place.settle(&mut command);
    let ran = Running::start(command, None).wait_for_long().code(0);
    ran.prints("4 kills, 224 games, each once; verify agrees");
}
