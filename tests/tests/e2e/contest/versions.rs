//! Stores that this version can't read.

use super::{contest, write};
use crate::support::TestDir;
use rusqlite::Connection;

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
        ran.stderr_has("reads up to 7").stderr_has("help: use a newer referee");
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
