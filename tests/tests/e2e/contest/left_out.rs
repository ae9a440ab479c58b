//! Submissions that don't play at first, and those that are handed in as archives.

use crate::support::contest::{agent, contest, file, query};
use crate::support::{RunResult, TestDir};
use std::fs;

/// Grades that every player gets.
const MARKS: &str = "grades.marks = [{ mark = \"A\" }]\n";

/// A contest of `bots`, in which those that are broken are left out.
fn begin(dir: &TestDir, more: &str) -> RunResult {
    let more = format!("submissions = \"bots\"\n{more}");
    let text = file(&["@random"], &more);
    dir.write("c.toml", format!("policy.on_broken = \"leave-out\"\n{text}"));
    contest(dir, &["run", "c.toml", "--out", "d"]).code(0)
}

fn rows_of(text: &str, name: &str) -> usize {
    text.lines().filter(|line| line.split([',', '\t', ' ']).any(|word| word == name)).count()
}

#[test]
fn a_player_who_is_added_later_is_one_row_everywhere() {
    let dir = TestDir::new();
    agent(&dir, "bots/amy", "first");
    dir.write("bots/bob/bot.py", "print()");
    begin(&dir, MARKS);
    let report = || contest(&dir, &["report", "d", "--json"]).code(0).json();
    assert_eq!(report()["left_out"][0]["name"], "bob");
    // Its author has a private page, too.
    contest(&dir, &["check", "d", "--probe", "start", "--out", "f"]).code(3);
    let publish = ["publish", "d", "--out", "s", "--feedback", "f"];
    let pages = contest(&dir, &publish).code(0).stdout;
    let own = pages.lines().find_map(|line| line.strip_prefix("bob\t")).expect(&pages);
    let page = fs::read_to_string(dir.path("s").join(own)).unwrap();
    assert!(page.contains("doesn&#39;t play") || page.contains("doesn't play"), "{page}");
    assert!(page.contains("the check failed"), "{page}");
    assert!(page.contains("add an `agent.toml` with at least"), "{page}");

    agent(&dir, "fixed/bob", "fixed");
    let replace = ["replace", "d", "bob", "fixed/bob", "--reason", "fixed"];
    contest(&dir, &replace)
        .code(2)
        .stderr_has("bob was left out")
        .stderr_has("referee contest add d fixed/bob --name bob");
    contest(&dir, &["add", "d", "fixed/bob", "--reason", "handed in again"]).code(0);
    contest(&dir, &["resume", "d"]).code(0);
    assert_eq!(report()["left_out"].as_array().map(Vec::len), Some(0));
    let grades = contest(&dir, &["grades", "d", "--out", "-"]).code(0).stdout;
    assert_eq!(rows_of(&grades, "bob"), 1, "{grades}");
    let checked = contest(&dir, &["check", "d", "--probe", "start", "--out", "f"]).code(0).stdout;
    assert_eq!(rows_of(&checked, "bob"), 1, "{checked}");
    let pages = contest(&dir, &publish).code(0).stdout;
    assert_eq!(rows_of(&pages, "bob"), 1, "{pages}");
    dir.run(&["verify", "d"]).code(0);
}

#[test]
fn a_reason_is_one_line_that_names_the_feedback() {
    let dir = TestDir::new();
    agent(&dir, "bots/amy", "first");
    dir.write("bots/cat/agent.toml", "command = \"./run\"\nbuild = \"sh make.sh\"\n");
    dir.write(
        "bots/cat/make.sh",
        "printf '\\033[1;31merror:\\033[m\\tno semicolon\\n' >&2; echo here; exit 3\n",
    );
    begin(&dir, MARKS);
    let report = contest(&dir, &["report", "d", "--json"]).code(0).json();
    let reason = report["left_out"][0]["reason"].as_str().unwrap().to_owned();
    assert!(
        reason.contains("failed: exit status 3") && reason.contains("feedback/cat.md"),
        "{reason}"
    );
    let csv = contest(&dir, &["grades", "d", "--out", "-"]).code(0).stdout;
    for text in [&reason, &csv] {
        assert!(!text.contains(['\u{FFFD}', '\x1b']), "{text}");
    }
    assert!(!reason.contains('\n'), "{reason}");
    assert_eq!(rows_of(&csv, "cat"), 1, "{csv}");
    contest(&dir, &["check", "d", "--probe", "start"]).code(3);
    let feedback = fs::read_to_string(dir.path("feedback/cat.md")).unwrap();
    assert!(feedback.contains("error:    no semicolon"), "{feedback}");
    // The author runs it in the agent's folder.
    assert!(feedback.contains("again   referee check . --game hex"), "{feedback}");
    assert!(feedback.contains(" --build"), "{feedback}");
    assert!(feedback.contains("run `sh make.sh` in the agent's folder"), "{feedback}");
}

/// An open ladder begins without the broken ones, and before anything was handed in.
#[test]
fn an_open_contest_waits_for_what_is_not_there_yet() {
    let dir = TestDir::new();
    let open = |inbox: &str, out: &str| {
        let more = format!("format = \"ladder\"\nsubmissions = \"{inbox}\"\n");
        dir.write("c.toml", file(&["@random", "@first"], &more));
        contest(&dir, &["open", "c.toml", "--out", out, "--for", "0s"]).code(0)
    };
    open("inbox", "d").stderr_has("inbox for submissions");
    assert!(dir.path("inbox").is_dir());
    dir.write("bots/bad/bot.py", "print()");
    open("bots", "e").stderr_has("bad is left out: the folder has no agent.toml");
    assert_eq!(query(&dir, "e", "select name from players order by number"), ["@random", "@first"]);
}

#[test]
fn archives_play_wherever_a_folder_does() {
    let dir = TestDir::new();
    for name in ["amy", "late"] {
        agent(&dir, &format!("made/{name}"), name);
        dir.shell(&format!(
            "cd made && mkdir -p __MACOSX && tar czf {name}.tar.gz __MACOSX {name}"
        ))
        .code(0);
    }
    fs::create_dir(dir.path("bots")).unwrap();
    fs::rename(dir.path("made/amy.tar.gz"), dir.path("bots/amy.tar.gz")).unwrap();
    // Handed in again as an archive, and unpacked beside it: one player, by what is newest.
    dir.write("bots/amy/old", "");
    dir.shell("touch -d '1 hour ago' bots/amy").code(0);
    dir.write("bots/notes.rar", "x");
    dir.write("bots/evil.tgz", "no archive");
    begin(&dir, "").stderr_has("amy is ignored: amy.tar.gz has the same name and is newer");
    assert_eq!(query(&dir, "d", "select name from players order by name"), ["@random", "amy"]);
    let report = contest(&dir, &["report", "d", "--json"]).code(0).json();
    assert_eq!(report["left_out"][0]["name"], "evil");
    contest(&dir, &["check", "c.toml", "--probe", "start"]);
    let feedback = fs::read_to_string(dir.path("feedback/evil.md")).unwrap();
    assert!(feedback.contains("pack the folder again, with `zip -r` or `tar czf`"), "{feedback}");
    assert!(feedback.contains("again   referee check . --game hex"), "{feedback}");
    let agents = report["standings"]["players"].as_array().unwrap();
    assert!(agents.iter().any(|own| own["agent"] == "amy"), "{agents:?}");
    contest(&dir, &["add", "d", "made/late.tar.gz", "--reason", "late"]).code(0);
    contest(&dir, &["resume", "d"]).code(0);
    dir.run(&["verify", "d"]).code(0);
    let check = ["check", "bots/amy.tar.gz", "-g", "hex", "-s", "size=3", "--probe", "first-turn"];
    dir.run(&check).code(0).stdout_has("1 passed");
    let play = ["play", "hex", "bots/amy.tar.gz", "@first", "-s", "size=3", "--json"];
    let played = dir.run(&play).code(0).json();
    assert_eq!(played["seats"][0]["name"], "amy");
    dir.write("bots/broken.zip", "no archive");
    dir.run(&["play", "hex", "bots/broken.zip", "@first"]).code(2).stderr_has("bots/broken.zip: ");
}
