//! Stores of other versions, and damaged ones.

use crate::support::contest::{check_sums, contest, write};
use crate::support::{TestDir, root};
use rusqlite::Connection;
use serde_json::Value;
use std::fs;

#[test]
fn a_store_of_a_newer_referee_is_refused() {
    let dir = TestDir::new();
    write(&dir, &["@first", "@random"], "");
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    let store = Connection::open(dir.path("d/contest.db")).unwrap();
    store.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    for words in
        [["contest", "status", "d"], ["contest", "resume", "d"], ["contest", "report", "d"]]
    {
        let ran = dir.run(&words).code(4).stderr_has("its tables have version 99");
        ran.stderr_has("reads up to 8").stderr_has("help: use a newer referee");
    }
    dir.run(&["verify", "d"]).code(4).stderr_has("its tables have version 99");
}

#[test]
fn a_damaged_store_is_reported() {
    let dir = TestDir::new();
    dir.write("d/contest.db", "this is no database, and longer than a page's head would be");
    for command in ["status", "resume", "report"] {
        let ran = contest(&dir, &[command, "d"]).code(4).stderr_has("d/contest.db: ");
        ran.stderr_has("help: ");
    }
}

/// A contest that version 0.1.0 played and signed, with a game that was played again.
#[test]
fn a_signed_contest_is_read_without_its_log() {
    let dir = TestDir::new();
    let old = root().join("tests/tests/contests/signed");
    dir.shell(&format!("cp -r '{}' d", old.display())).code(0);
    let written = fs::read_to_string(old.join("report.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    let made = contest(&dir, &["report", "d", "--format", "json"]).code(0).json();
    for part in ["standings", "games", "changes", "void"] {
        assert!(written[part] != Value::Null && made[part] == written[part], "{part}: {made}");
    }
    let ran = dir.run(&["verify", "d"]).code(0).stdout_has("note: there is no SHA256SUMS");
    ran.stdout_has("1 removed result").stdout_has("6 games that count");
    contest(&dir, &["resume", "d"]).code(0);
    check_sums(&dir, "d");
    dir.run(&["verify", "d"]).code(0).stdout_has(" match SHA256SUMS");
    // Its rows are noticed as before.
    let store = Connection::open(dir.path("d/contest.db")).unwrap();
    store.execute("update seats set place = 3 - place where game = 4", []).unwrap();
    drop(store);
    dir.run(&["verify", "d"]).code(1).stdout_has("game 4, ");
}
