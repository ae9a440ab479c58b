//! SIGKILL, which nothing can catch, at random moments.

use crate::support::{PROGRAM, Place, python, root};

#[test]
fn killed_again_and_again_every_game_is_there_once() {
    if python().is_none() {
        return;
    }
    let script = root().join("tests/kill_and_resume.py");
    let line = format!("python3 '{}' '{PROGRAM}' --kills 8 --games 336", script.display());
    Place::new().shell(&line).code(0).prints("8 kills, 336 games, each once; verify agrees");
}
