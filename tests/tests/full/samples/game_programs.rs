//! The Python kit for game programs and the sample games, driven over the wire by
//! `tests/game_programs.py`.

use crate::samples::builds::is_installed;
use crate::support::{python, root, scratch};
use std::process::Command;

#[test]
fn game_programs_keep_to_the_wire() {
    let Some(python) = python() else { return };
    let ran = Command::new(python).arg(root().join("tests/game_programs.py")).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn the_kit_for_games_passes_the_type_check() {
    if !is_installed("the type check", ["python3", "mypy"]) {
        return;
    }
    let mut mypy = Command::new("mypy");
    // The rest of the package has a check of its own.
    let of = ["fields", "game", "class_game"].map(|it| format!("referee_kit/{it}.py"));
    mypy.args(["--strict", "--follow-imports", "silent"])
        .args(of)
        .arg("--cache-dir")
        .arg(scratch("mypy-game"));
    mypy.current_dir(root().join("referee/python"));
    let ran = mypy.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}
