//! `SHA256SUMS`: checked by `sha256sum` and by `verify`, signed by `ssh-keygen`.

use crate::support::contest::{check_sums, contest, query, write};
use crate::support::{RunResult, TestDir, python, skip};
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
fn every_file_is_listed_in_order() {
    let dir = over();
    check_sums(&dir, "d");
    let names = names(&dir);
    let without = "contest.db-\\|/SHA256SUMS\\|/lock";
    let found = dir.shell(&format!("cd d && find . -type f | grep -v '{without}' | wc -l")).code(0);
    // A name has two lines there.
    assert_eq!(found.stdout.trim(), (names.len() + 1).to_string(), "{names:?}");
    let copy = names.iter().position(|name| name.ends_with("/house/agent.toml")).unwrap();
    let game = names.iter().position(|name| name == "games/0000/0000000.jsonl").unwrap();
    let report = names.iter().position(|name| name == "report.json").unwrap();
    assert!(names[0] == "contest.toml" && copy < game && game < report, "{names:?}");
    let files = format!("{} files match SHA256SUMS", names.len());
    dir.run(&["verify", "d"]).code(0).stdout_has(&files);
    contest(&dir, &["resume", "d"]).code(0);
    assert_eq!(self::names(&dir), names);
    check_sums(&dir, "d");
}

/// What is added to an agent's copy could play in the games that are left.
#[test]
fn a_copy_with_another_file_is_not_played() {
    let dir = over();
    let copy = dir.path("d/agents").read_dir().unwrap().next().unwrap().unwrap().path();
    let house = copy.join("house");
    for name in ["more", ".hidden", "link"] {
        let added = house.join(name);
        if name == "link" {
            std::os::unix::fs::symlink("run me.sh", &added).unwrap();
        } else {
            fs::write(&added, "x").unwrap();
        }
        let refused = contest(&dir, &["resume", "d"]).code(1);
        refused.stderr_has("house was changed in").stderr_has("after the contest began");
        let found = dir.run(&["verify", "d"]).code(1);
        let found = found.stdout_has("its files are not those of the copy that was made");
        if name != "link" {
            found.stdout_has(&format!("house/{name} is not in SHA256SUMS"));
        }
        fs::remove_file(&added).unwrap();
    }
    // Python's own cache is neither a change nor kept, since it can play instead of the source.
    fs::create_dir_all(house.join("__pycache__")).unwrap();
    fs::write(house.join("__pycache__/bot.cpython-312.pyc"), "x").unwrap();
    dir.run(&["verify", "d"]).code(0);
    contest(&dir, &["resume", "d"]).code(0);
    assert!(!house.join("__pycache__").exists());
}

#[test]
fn what_is_not_listed_is_named() {
    let dir = over();
    dir.shell("cp -r d whole").code(0);
    cut(&dir, "games/0000/0000001.jsonl");
    dir.run(&["verify", "d"]).code(1).stdout_has("1 result of the store not in SHA256SUMS");
    // The list of a run that was killed doesn't have the store.
    cut(&dir, "contest.db");
    let words = "note: 1 result of the store not in SHA256SUMS yet";
    dir.run(&["verify", "d"]).code(0).stdout_has(words);
    contest(&dir, &["resume", "d"]).code(0);
    let lines = |folder: &str| {
        let list = fs::read_to_string(dir.path(folder).join("SHA256SUMS")).unwrap();
        // The store has one run more.
        list.lines()
            .filter(|line| !line.contains("contest.db"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(lines("d"), lines("whole"), "the same contest has the same list");
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

/// `SQLite` reads what is beside the store, too.
#[test]
fn what_is_beside_the_store_is_checked() {
    let dir = over();
    let python = python().map(|it| it.display().to_string());
    dir.shell("cp -r d whole").code(0);
    if let Some(python) = python {
        dir.write(
            "log.py",
            "import os, sqlite3\n\
             store = sqlite3.connect('d/contest.db', isolation_level=None)\n\
             store.execute('pragma journal_mode=wal')\n\
             store.execute(\"update sessions set sandbox = replace(sandbox, 'none', 'metered')\")\n\
             os._exit(0)\n",
        );
        dir.shell(&format!("{python} log.py")).code(0);
        dir.shell("cd d && sha256sum --quiet --check SHA256SUMS").code(0);
        let found = dir.run(&["verify", "d"]).code(1);
        found
            .stdout_has("contest.db has changes in a log beside it, which SHA256SUMS doesn't know");
    }
    for (made, command) in [
        ("mkfifo d/contest.db-journal", "verify"),
        ("mkfifo d/contest.db-wal", "verify"),
        ("ln -s ../whole/contest.db-wal d/contest.db-wal", "verify"),
        ("mv d/contest.db other.db && ln -s ../other.db d/contest.db", "verify"),
        ("mkfifo d/contest.db-journal", "status"),
        ("mv d/contest.db other.db && ln -s ../other.db d/contest.db", "resume"),
    ] {
        dir.shell(&format!("rm -r d && cp -r whole d && {made}")).code(0);
        let ran = match command {
            "verify" => dir.run(&["verify", "d"]),
            other => dir.run(&["contest", other, "d"]),
        };
        assert_ne!(ran.exit, Some(0), "{made}");
        ran.stderr_has("it is not a regular file");
    }
    dir.shell("rm -r d && cp -r whole d && echo x > d/contest.db-journal").code(0);
    dir.run(&["verify", "d"]).code(1).stdout_has("contest.db has changes in a log beside it");
}

#[test]
fn no_link_leads_to_a_listed_file() {
    let dir = over();
    dir.shell("mv d/report.html x && ln -s ../x d/report.html").code(0);
    dir.run(&["verify", "d"]).code(1).stdout_has("report.html can't be read: it is a link");
    dir.shell("mv x d/report.html -T && mv d/games/0000 x && ln -s ../../x d/games/0000").code(0);
    dir.shell("cd d && sha256sum --quiet --check SHA256SUMS").code(0);
    let words = "0000001.jsonl can't be read: games/0000 is a link";
    dir.run(&["verify", "d"]).code(1).stdout_has(words);
}

/// A list that is whole has all changes of the store, and lacks attempts only if they could not be written.
#[test]
fn what_a_whole_list_lacks_is_named() {
    let dir = over();
    contest(&dir, &["rerun", "d", "1", "--reason", "power"]).code(0);
    contest(&dir, &["resume", "d"]).code(0);
    let listed = |file: &str| {
        let list = fs::read_to_string(dir.path("d/SHA256SUMS")).unwrap();
        let without = list.lines().filter(|line| !line.ends_with(&format!("  {file}")));
        let kept: String = without.flat_map(|line| [line, "\n"]).collect();
        let own = dir.shell(&format!("cd d && sha256sum {file}")).code(0).stdout;
        dir.write("d/SHA256SUMS", kept + &own);
    };
    dir.run(&["verify", "d"]).code(0);
    dir.shell("cp d/changes.json changes.json && echo '[]' > d/changes.json").code(0);
    listed("changes.json");
    let words = "the changes in the store are not those in changes.json";
    dir.run(&["verify", "d"]).code(1).stdout_has(words);
    dir.shell("mv changes.json d/changes.json").code(0);
    listed("changes.json");
    let name = "games/0000/0000001-void-2.jsonl";
    dir.shell(&format!("cp d/games/0000/0000001.jsonl d/{name}")).code(0);
    let store = Connection::open(dir.path("d/contest.db")).unwrap();
    let void = format!("(1, 2, 'lag', 'late', '{name}')");
    let insert = "insert into voids (game, attempt, cause, text, transcript) values ";
    store.execute(&format!("{insert} {void}"), []).unwrap();
    drop(store);
    listed("contest.db");
    let found = dir.run(&["verify", "d"]).code(1);
    let found = found.stdout_has(&format!("note: {name} of a void attempt is not in SHA256SUMS"));
    assert!(!found.stdout.contains("is at work"), "{}", found.stdout);
}
