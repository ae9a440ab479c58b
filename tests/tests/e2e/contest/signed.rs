//! Contests are signed, and `verify` says by whom.

use super::{contest, query, write};
use crate::support::TestDir;
use rusqlite::Connection;
use serde_json::Value;
use std::fs;

/// Plays a contest of two games in the folder `d`.
fn over() -> TestDir {
    let dir = TestDir::new();
    write(&dir, &["@random", "@first"], "");
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    dir
}

fn signature(dir: &TestDir, words: &[&str], code: i32) -> Value {
    let words = [&["verify", "d", "--json"], words].concat();
    let lines = dir.run(&words).code(code).json_lines();
    lines.last().unwrap()["signature"].clone()
}

#[test]
fn verify_says_who_signed_a_contest() {
    let dir = over();
    let found = signature(&dir, &[], 0);
    assert_eq!((&found["status"], &found["expected"]), (&"signed".into(), &true.into()), "{found}");
    let key = contest(&dir, &["key"]).code(0).stdout_has(found["key"].as_str().unwrap());
    key.stdout_has("ssh-ed25519 ").stdout_has("contest.key");
    // Elsewhere the key is not known, until it is given or pinned.
    contest(&dir, &["key", "--export", "me.pub"]).code(0);
    contest(&dir, &["key", "d", "--unpin"]).code(0).stdout_has("no key");
    assert_eq!(signature(&dir, &[], 0)["expected"], false);
    dir.run(&["verify", "d"]).code(0).stdout_has("a key that is not pinned");
    assert_eq!(signature(&dir, &["--key", "me.pub"], 0)["expected"], true);
    contest(&dir, &["key", "d", "--pin", "me.pub"]).code(0);
    dir.run(&["verify", "d"]).code(0).stdout_has("the expected key");
    contest(&dir, &["key", "--key", "other.key", "--export", "other.pub"]).code(0);
    let found = signature(&dir, &["--key", "other.pub"], 1);
    assert_eq!(found["status"], "broken", "{found}");
    // A resumed contest is signed with the same key.
    contest(&dir, &["resume", "d"]).code(0);
    assert_eq!(signature(&dir, &[], 0)["status"], "signed");
    contest(&dir, &["resume", "d", "--key", "other.key"]).code(2).stderr_has("is signed with key");
}

#[test]
fn a_removed_log_and_a_new_signature_are_noticed() {
    let dir = over();
    let log = fs::read_to_string(dir.path("d/results.log")).unwrap();
    // Someone else plays the same contest and puts the result in its place.
    dir.shell("mv d whole").code(0);
    contest(&dir, &["run", "c.toml", "--out", "e", "--key", "thief.key"]).code(0);
    dir.shell("cp -r e d").code(0);
    dir.run(&["verify", "d"]).code(1).stdout_has("is expected").stdout_has("signature is broken");
    dir.shell("rm -r d && cp -r whole d && rm d/results.log").code(0);
    dir.run(&["verify", "d"]).code(1).stdout_has("results.log is missing");
    contest(&dir, &["resume", "d"]).code(1).stderr_has("--unpin");
    contest(&dir, &["key", "d", "--unpin"]).code(0);
    dir.run(&["verify", "d"]).code(0).stdout_has("unsigned: ");
    contest(&dir, &["resume", "d"]).code(0);
    assert_eq!(signature(&dir, &[], 0)["status"], "unsigned");
    // A removed result, with a report that fits.
    dir.shell("rm -r d && cp -r whole d && rm d/report.* d/*.csv d/games/0000/0000001.jsonl")
        .code(0);
    let store = Connection::open(dir.path("d/contest.db")).unwrap();
    store.pragma_update(None, "foreign_keys", false).unwrap();
    store
        .execute_batch("delete from seats where game = 1; delete from games where number = 1")
        .unwrap();
    drop(store);
    // Either of the two games may have ended first.
    let line = log.lines().position(|line| line.contains("\"number\":1,")).unwrap() + 1;
    let words = format!("game 1 is in line {line} of the log, but its row is not in the store");
    dir.run(&["verify", "d"]).code(1).stdout_has(&words);
    // A changed line.
    dir.shell("rm -r d && cp -r whole d").code(0);
    let seal = &query(&dir, "d", "select seal from games where number = 0")[0];
    dir.write("d/results.log", log.replace(seal.as_str(), &"0".repeat(64)));
    dir.run(&["verify", "d"]).code(1).stdout_has("results.log, line ");
    // A report of another version that is not the one that was signed.
    dir.shell("rm -r d && cp -r whole d").code(0);
    let report = fs::read_to_string(dir.path("d/report.json")).unwrap();
    dir.write("d/report.json", report.replacen("\"referee\":\"", "\"referee\":\"9", 1));
    dir.write("d/report.html", "<h1>@first wins</h1>");
    let words = "report.html is not the file that was signed";
    dir.run(&["verify", "d"]).code(1).stdout_has(words);
}

#[test]
fn a_contest_without_a_place_for_keys_is_unsigned() {
    let dir = TestDir::new();
    write(&dir, &["@random", "@first"], "");
    let nowhere = dir.write("file", "");
    let words = ["contest", "run", "c.toml", "--out", "d"];
    let ran = dir.run_with(&words, |it| it.env("XDG_STATE_HOME", dir.path(&nowhere)));
    ran.code(0).stderr_has("warning: the contest is not signed: ");
    dir.run(&["verify", "d"]).code(0).stdout_has("unsigned: ");
    contest(&dir, &["run", "c.toml", "--out", "e", "--key", "file/x.key"]).code(4);
}
