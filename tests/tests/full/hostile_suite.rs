//! The hostile suite, shortened: the quick rows of tests/hostile/ at every sandbox level that this
//! machine supports.

use crate::support::lacks;
use crate::support::{program, python, root};
use std::process::Command;

/// The script's exit code if it can't run on this machine.
const NOT_HERE: i32 = 77;

#[test]
fn attacks_fail_at_every_level() {
    if lacks("a sandbox") {
        return;
    }
    let Some(python) = python() else { return };
    let script = root().join("tests/hostile.py");
    let mut command = Command::new(python);
    let ran = command.arg(script).args([program(), "--quick"]).output().unwrap();
    let (table, progress) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    if ran.status.code() == Some(NOT_HERE) {
        let forbidden = std::env::var_os("REFEREE_TESTS_FORBID_SKIP").is_some();
        assert!(!forbidden, "{progress}, and REFEREE_TESTS_FORBID_SKIP is set");
        println!("skipped: {progress}");
        return;
    }
    assert!(ran.status.success(), "{table}\n{progress}");
    println!("{table}");
}
