//! `SHA256SUMS`: checked by `sha256sum` and by `verify`, signed by `ssh-keygen`.

use crate::support::contest::{check_sums, contest, query, write};
use crate::support::{RunResult, TestDir, skip};
use rusqlite::Connection;
use std::fs;

/// Plays a contest of two games, one agent of which is a folder with a file of an odd name.
fn over() -> TestDir {
    let dir = TestDir::new();
    dir.write("house/agent.toml", "command = [\"sh\", \"./run me.sh\"]\n");
    dir.write("house/run me.sh", "exit\n");
    dir.write("house/odd\nname\\", "x\n");
    write(&dir, &["./house", "@first"], "");
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    dir
}

fn names(dir: &TestDir) -> Vec<String> {
    let list = fs::read_to_string(dir.path("d/SHA256SUMS")).unwrap();
    list.lines().map(|line| line.split_once("  ").unwrap().1.to_owned()).collect()
}

/// The list in `d` without some lines.
fn cut(dir: &TestDir, without: &str) {
    let list = fs::read_to_string(dir.path("d/SHA256SUMS")).unwrap();
    let kept: Vec<&str> = list.lines().filter(|line| !line.contains(without)).collect();
    assert!(kept.len() < list.lines().count(), "{list}");
    dir.write("d/SHA256SUMS", kept.join("\n") + "\n");
}

#[test]
fn every_file_but_the_store_is_listed_in_order() {
    let dir = over();
    check_sums(&dir, "d");
    let names = names(&dir);
    let without = "contest.db\\|/SHA256SUMS\\|/lock";
    let found = dir.shell(&format!("cd d && find . -type f | grep -v '{without}' | wc -l")).code(0);
    // A name has two lines there.
    assert_eq!(found.stdout.trim(), (names.len() + 1).to_string(), "{names:?}");
    let copy = names.iter().position(|name| name.ends_with("/house/agent.toml")).unwrap();
    let game = names.iter().position(|name| name == "games/0000/0000000.jsonl").unwrap();
    let report = names.iter().position(|name| name == "report.json").unwrap();
    assert!(names[0] == "contest.toml" && copy < game && game < report, "{names:?}");
    let files = format!("{} files match SHA256SUMS", names.len());
    dir.run(&["verify", "d"]).code(0).stdout_has(&files);
    // A new run keeps the lines of the copies, whatever agents left there.
    let copy = dir.path("d").join(&names[copy]);
    fs::write(copy.with_file_name("log"), "dear diary").unwrap();
    contest(&dir, &["resume", "d"]).code(0);
    assert_eq!(self::names(&dir), names);
    check_sums(&dir, "d");
}

#[test]
fn what_is_not_listed_is_named() {
    let dir = over();
    dir.shell("cp -r d whole").code(0);
    cut(&dir, "games/0000/0000001.jsonl");
    let words = "note: 1 result of the store not in SHA256SUMS yet";
    dir.run(&["verify", "d"]).code(0).stdout_has(words);
    contest(&dir, &["resume", "d"]).code(0);
    assert_eq!(
        fs::read(dir.path("d/SHA256SUMS")).unwrap(),
        fs::read(dir.path("whole/SHA256SUMS")).unwrap(),
        "the same contest has the same list"
    );
    // Games of earlier versions have no digest in their rows.
    let store = Connection::open(dir.path("d/contest.db")).unwrap();
    store.execute("update games set sha256 = null", []).unwrap();
    drop(store);
    fs::remove_file(dir.path("d/SHA256SUMS")).unwrap();
    dir.run(&["verify", "d"]).code(0).stdout_has("note: there is no SHA256SUMS");
    contest(&dir, &["resume", "d"]).code(0);
    check_sums(&dir, "d");
    assert_eq!(query(&dir, "d", "select sha256 from games"), ["", ""]);
    assert_eq!(names(&dir).iter().filter(|name| name.starts_with("games/")).count(), 2);
}

#[test]
fn the_list_can_be_signed_with_an_ssh_key() {
    let dir = over();
    if dir.shell("command -v ssh-keygen").exit != Some(0) {
        return skip("ssh-keygen");
    }
    dir.shell("ssh-keygen -q -t ed25519 -N '' -C me -f key && ssh-keygen -q -t ed25519 -N '' -C thief -f other")
        .code(0);
    dir.shell("ssh-keygen -Y sign -n referee -f key d/SHA256SUMS").code(0);
    dir.shell("echo \"ada@example.org $(cat key.pub)\" > organisers").code(0);
    let check = || -> RunResult {
        dir.shell(
            "ssh-keygen -Y verify -f organisers -I ada@example.org -n referee \
             -s d/SHA256SUMS.sig < d/SHA256SUMS",
        )
    };
    check().code(0).stdout_has("Good \"referee\" signature for ada@example.org");
    dir.run(&["verify", "d"]).code(0);
    dir.shell("cp -r d whole").code(0);
    cut(&dir, "games/0000/0000001.jsonl");
    assert_ne!(check().exit, Some(0));
    dir.shell("rm -r d && cp -r whole d && rm d/SHA256SUMS.sig").code(0);
    dir.shell("ssh-keygen -Y sign -n referee -f other d/SHA256SUMS").code(0);
    assert_ne!(check().exit, Some(0));
}
