//! Changes of a contest that has begun: late players, new versions, games played again, forfeits.

use crate::support::TestDir;
use crate::support::contest::{AMPLE, agent, check_sums, contest, count, query, status};
use serde_json::Value;
use std::fs;

fn begun(format: &str) -> TestDir {
    let dir = TestDir::new();
    agent(&dir, "bots/amy", "first");
    agent(&dir, "bots/bob", "second");
    dir.write(
        "c.toml",
        format!(
            "name = \"autumn\"\nseed = 7\nformat = {format:?}\nagents = [\"@random\"]\n{AMPLE}submissions = \"bots\"\n\
             [openings]\nplies = 1\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
        ),
    );
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    dir
}

fn change(dir: &TestDir, words: &[&str]) {
    contest(dir, &[words, &["--reason", "it's \"so\""]].concat()).code(0);
    dir.run(&["verify", "d"]).code(0);
}

fn report(dir: &TestDir) -> Value {
    contest(dir, &["report", "d", "--json"]).code(0).json()
}

/// A store that was changed starts nothing that the contest file doesn't name.
#[test]
fn a_contest_that_differs_from_its_file_is_not_resumed() {
    let dir = begun("round-robin");
    let forged = "update contest set contest = replace(contest, '@random', 'touch pwned')";
    rusqlite::Connection::open(dir.path("d/contest.db")).unwrap().execute(forged, []).unwrap();
    contest(&dir, &["resume", "d"])
        .code(1)
        .stderr_has("the contest in the store differs from the file");
    contest(&dir, &["check", "d"]).code(1).stderr_has("differs from the file");
    assert!(!dir.path("pwned").exists());
    // What starts nothing may be changed.
    let whole = begun("round-robin");
    let text = fs::read_to_string(whole.path("d/contest.toml")).unwrap();
    whole.write("d/contest.toml", format!("# a comment\n{text}"));
    contest(&whole, &["resume", "d"]).code(0);
    whole.run(&["verify", "d"]).code(1).stdout_has("changed after the contest began");
}

#[test]
fn changes_are_played_reported_and_verified() {
    let dir = begun("round-robin");
    assert_eq!(count(&dir, "d"), 6);
    agent(&dir, "late/zoe", "late");
    agent(&dir, "fixed", "second, fixed");
    change(&dir, &["add", "d", "late/zoe"]);
    assert_eq!(status(&dir, "d")["games"], 12);
    assert_eq!(count(&dir, "d"), 6, "nothing else is played again");
    change(&dir, &["replace", "d", "bob", "fixed"]);
    assert_eq!(count(&dir, "d"), 2);
    fs::remove_dir_all(dir.path("fixed")).unwrap();
    contest(&dir, &["resume", "d"]).code(0);
    dir.run(&["verify", "d"]).code(0).stdout_has("4 removed results");
    let first = query(&dir, "d", "select seal from games where number = 0");
    change(&dir, &["rerun", "d", "0", "3"]);
    let of_bob = "select max(game) from seats join players on player = number where name = 'bob'";
    let lost = query(&dir, "d", of_bob).remove(0);
    change(&dir, &["forfeit", "d", &lost, "--loser", "bob"]);
    contest(&dir, &["resume", "d"]).code(0);
    assert_ne!(query(&dir, "d", "select seal from games where number = 0"), first);
    assert_eq!(count(&dir, "d"), 11, "a forfeited game has no row");
    change(&dir, &["drop", "d", "amy"]);
    change(&dir, &["add", "d", "late/zoe", "--name", "yan"]);
    contest(&dir, &["resume", "d"]).code(0);
    let (report, status) = (report(&dir), status(&dir, "d"));
    assert_eq!((&status["over"], &status["played"]), (&true.into(), &20.into()), "{status}");
    let changes = report["changes"].as_array().unwrap();
    let names: Vec<&str> = changes.iter().map(|it| it["change"].as_str().unwrap()).collect();
    assert_eq!(names, ["add", "replace", "replay", "forfeit", "withdraw", "add"]);
    assert!(changes.iter().all(|it| it["reason"] == "it's \"so\""), "{changes:?}");
    assert_eq!(changes[1]["removes"].as_array().unwrap().len(), 4);
    let games = report["games"].as_array().unwrap();
    assert_eq!(games.len(), 20);
    let forfeits: Vec<_> = games.iter().filter(|game| game["reason"] == "forfeit").collect();
    assert_eq!(forfeits.len(), 3, "one by decision, two of the late player's with amy");
    let text = dir.run(&["verify", "d"]).code(0);
    let text = text.stdout_has(": 17 games that count");
    text.stdout_has("bob was replaced by a new version").stdout_has("Reason: it's \"so\"");
    let forfeited = format!("bob forfeits game {lost}");
    for line in ["zoe joined", &forfeited, "games 0 and 3 again"] {
        let markdown = fs::read_to_string(dir.path("d/report.md")).unwrap();
        assert!(markdown.contains(line), "{line}: {markdown}");
    }
    assert_eq!(query(&dir, "d", "select count(*) from changes"), ["6"]);
    // Whoever comes back plays what it had forfeited.
    change(&dir, &["drop", "d", "amy", "--back"]);
    contest(&dir, &["drop", "d", "amy", "--back", "--reason", "x"])
        .code(2)
        .stderr_has("has not left");
    contest(&dir, &["resume", "d"]).code(0);
    dir.run(&["verify", "d"])
        .code(0)
        .stdout_has(": 19 games that count")
        .stdout_has("amy came back");
}

#[test]
fn a_removed_or_changed_entry_shows() {
    let dir = begun("round-robin");
    change(&dir, &["rerun", "d", "1"]);
    check_sums(&dir, "d");
    contest(&dir, &["resume", "d"]).code(0);
    check_sums(&dir, "d");
    let store = rusqlite::Connection::open(dir.path("d/contest.db")).unwrap();
    store.execute("update changes set change = replace(change, 'it''s', 'its')", []).unwrap();
    dir.run(&["verify", "d"])
        .code(1)
        .stdout_has("the changes in the store are not those in changes.json");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = begun("knockout");
    let refused = |words: &[&str], text: &str| {
        contest(&dir, &[words, &["--reason", "x"]].concat()).code(2).stderr_has(text);
    };
    refused(&["add", "d", "bots/amy", "--name", "new"], "nobody can join a running contest");
    refused(&["rerun", "d", "0"], "later pairings depend on the result of game 0");
    refused(&["rerun", "d", "99"], "there is no game 99");
    refused(&["forfeit", "d", "2", "--loser", "ammy"], "did you mean amy?");
    refused(&["replace", "d", "bob", "bots/bob"], "has this version already");
    contest(&dir, &["rerun", "d", "2"]).code(2).stderr_has("--reason");
    contest(&dir, &["rerun", "d", "2", "--reason", " "]).code(2).stderr_has("give a reason");
    let last = (count(&dir, "d") - 1).to_string();
    change(&dir, &["rerun", "d", &last]);
    contest(&dir, &["resume", "d"]).code(0);
    dir.run(&["verify", "d"]).code(0);
}
