//! `contest check`: one line and one feedback file an agent.

use crate::support::contest::{agent, contest, file};
use crate::support::{TestDir, lacks};
use std::fs;

#[test]
fn every_agent_is_checked_under_the_conditions_of_the_contest() {
    let dir = TestDir::new();
    let text =
        file(&[], "").replace("[]", "[{ name = \"a/b\", run = \"@first\" }, \"bad=@illegal\"]");
    dir.write("c.toml", text);
    let words = ["check", "c.toml", "--probe", "first-turn", "--out", "f"];
    let ran = contest(&dir, &words).code(3);
    assert!(ran.stdout.contains("a/b  ok      1 passed"), "{}", ran.stdout);
    assert!(ran.stdout.contains("bad  FAILED  first-turn: "), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("2 agents, 1 failed\n"), "{}", ran.stdout);
    let read = |name: &str| fs::read_to_string(dir.path(name)).unwrap();
    assert!(read("f/a-b.md").starts_with("# a/b: the check passed"), "{}", read("f/a-b.md"));
    let bad = read("f/bad.md");
    for piece in [
        "# bad: the check failed",
        "fix     its coordinates count from 1",
        "\"size\":3",
        "--clock 3600s",
    ] {
        assert!(bad.contains(piece), "{piece} is not in {bad}");
    }
    assert_eq!(read("f/bad.xml").matches("<failure ").count(), 1);
    assert_eq!(read("f/a-b.xml").matches("<testsuite name=\"a/b\"").count(), 1);
    // A contest that has begun is not built again.
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    let lines = contest(&dir, &["check", "d", "--probe", "start", "--json"]).code(0).json_lines();
    assert_eq!((lines.len(), &lines[1]["name"]), (2, &"bad".into()));
    assert!(dir.path("feedback/bad.md").exists());
    // The copies that play are checked, whatever became of the originals.
    agent(&dir, "bots/amy", "first");
    dir.write("s.toml", file(&["@random"], "submissions = \"bots\"\n"));
    contest(&dir, &["run", "s.toml", "--out", "s"]).code(0);
    dir.write("bots/amy/bot.py", "broken");
    contest(&dir, &["check", "s", "--probe", "start"]).code(0);
    contest(&dir, &["check", "missing"])
        .code(2)
        .stderr_has("give a contest file, or a contest's folder");
}

/// Authors get these files, and programs read the second.
#[test]
fn feedback_has_no_characters_that_are_not_shown() {
    let dir = TestDir::new();
    dir.program(
        "bad/bot.sh",
        "#!/bin/sh\nodd='a\\033[2J\\302\\233\\357\\277\\276\\342\\200\\256\\001b\\n'\nprintf \"$odd\" >&2\nprintf \"$odd\"\nexit 3\n",
    );
    dir.write("bad/agent.toml", "command = [\"./bot.sh\"]\n");
    dir.write("contest.toml", "name = \"x\"\ngame = \"hex\"\nagents = [\"bad\", \"@first\"]\n");
    dir.run(&["contest", "check", "contest.toml"]).code(3);
    for name in ["feedback/bad.md", "feedback/bad.xml"] {
        let text = fs::read_to_string(dir.path(name)).unwrap();
        assert!(text.contains('\u{fffd}'), "{name}: {text}");
        let is_hidden =
            |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{fffe}');
        assert!(!text.contains(is_hidden), "{name}: {text:?}");
    }
}

/// A virtual environment of another team is a language runtime by its looks alone.
#[test]
fn a_submission_that_is_checked_reads_no_other_files_of_the_class() {
    if lacks("a sandbox") {
        return;
    }
    let dir = TestDir::sandboxed();
    for file in ["pyvenv.cfg", "bin/python"] {
        dir.write(&format!("bots/bob/venv/{file}"), "");
    }
    let secret = dir.path("bots/bob/venv/secret.py");
    dir.write("bots/bob/venv/secret.py", "x");
    dir.write("bots/bob/agent.toml", "command = [\"./bot\"]\n");
    dir.program("bots/bob/bot", "#!/bin/sh\n");
    let script =
        format!("#!/bin/sh\nread -r x < '{}' && echo READ >&2\nexit 3\n", secret.display());
    dir.program("bots/alice/bot", &script);
    let venv = dir.path("bots/bob/venv").display().to_string();
    let manifest = format!("command = [\"./bot\"]\n[sandbox]\nread = [{venv:?}]\n");
    dir.write("bots/alice/agent.toml", manifest);
    dir.write(
        "c.toml",
        file(&["@first"], "submissions = \"bots\"\nsandbox.level = \"confined\"\n"),
    );
    for words in [
        &["check", "bots", "--game", "hex", "--sandbox", "confined", "--json"][..],
        &["contest", "check", "c.toml", "--json"],
    ] {
        let ran = dir.run(words);
        if ran.stderr.contains("is unavailable: ") {
            println!("skipped: confined: {}", ran.stderr);
            return;
        }
        let ran = ran.code(3);
        assert!(
            ran.stdout.contains("alice") && ran.stdout.contains("exit status 3"),
            "{}",
            ran.stdout
        );
        assert!(!ran.stdout.contains("READ"), "{words:?}: {}", ran.stdout);
    }
}

#[test]
fn feedback_is_for_the_folder_of_the_author_and_has_each_cause_once() {
    let dir = TestDir::new();
    let crash = "#!/bin/sh\nread hello\necho '{\"type\":\"ready\"}'\nread turn\necho \"in $PWD/bot.sh\" >&2\nexit 3\n";
    dir.program("bots/eve/bot.sh", crash);
    dir.write("bots/eve/agent.toml", "command = [\"./bot.sh\"]\n");
    dir.write("contest.toml", "name = \"x\"\ngame = \"hex\"\nsubmissions = \"bots\"\n");
    let words =
        ["contest", "check", "contest.toml", "--probe", "seat:hex:0", "--probe", "seat:hex:1"];
    dir.run(&words).code(3);
    for name in ["feedback/eve.md", "feedback/eve.xml"] {
        let text = fs::read_to_string(dir.path(name)).unwrap();
        assert!(text.contains("in bot.sh"), "{text}");
        assert!(!text.contains("bots"), "{text}");
        assert!(text.contains("referee check . --game hex"), "{text}");
    }
    let text = fs::read_to_string(dir.path("feedback/eve.md")).unwrap();
    assert_eq!(text.matches("stderr ").count(), 1, "{text}");
    assert!(text.contains("As in probe "), "{text}");
}
