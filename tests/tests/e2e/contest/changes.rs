//! A resumed contest must have the same agents and files as when it began.

use super::{AMPLE, GATE, assert_whole, contest, gated, start, status, stopped, wait_for_games};
use crate::support::{PROGRAM, TestDir};
use std::fs;

/// A contest file without a name: the contest is named after the file.
fn contest_file() -> String {
    format!(
        "seed = 7\njobs = 1\nsubmissions = \"bots\"\n{AMPLE}\n[openings]\nplies = 1\n\
         [sandbox]\nread = [\"gate\"]\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
    )
}

/// Starts a contest and stops it before it has a result.
fn begun(text: &str) -> TestDir {
    let dir = TestDir::new();
    for name in ["amy", "bob", "cat"] {
        gated(&dir, &format!("bots/{name}.sh"));
    }
    dir.write("autumn.toml", text);
    stopped(&dir, "autumn.toml", 1);
    dir
}

#[test]
fn an_agent_changed_during_the_contest_is_reported() {
    let dir = TestDir::new();
    for name in ["amy", "bob", "cat"] {
        gated(&dir, &format!("bots/{name}.sh"));
    }
    dir.write("autumn.toml", contest_file());
    let running = start(&dir, &["run", "autumn.toml", "--out", "d"]);
    wait_for_games(&dir, "d", 1);
    let amy = fs::read_to_string(dir.path("bots/amy.sh")).unwrap();
    // Written atomically: a shell may be reading it.
    dir.program("better.sh", &format!("{amy}# better\n"));
    fs::rename(dir.path("better.sh"), dir.path("bots/amy.sh")).unwrap();
    dir.write(GATE, "");
    running.wait().code(0).stderr_has("warning: amy was changed during the contest");
}

#[test]
fn resume_refuses_changed_agents() {
    let dir = begun(&contest_file());
    let amy = dir.path("bots/amy.sh");
    let kept = fs::read_to_string(&amy).unwrap();
    dir.program("bots/amy.sh", &format!("#!/bin/sh\nexec '{PROGRAM}' agent random\n"));
    let refused = |dir: &TestDir, words: &str| {
        let ran = contest(dir, &["resume", "d"]).code(1).stderr_has(words);
        ran.stderr_has("changed after it began").stderr_has("help: undo the change");
    };
    refused(&dir, "began: amy was changed\n");
    fs::remove_file(&amy).unwrap();
    refused(&dir, "amy was removed");
    dir.program("bots/zoe.sh", &kept);
    refused(&dir, "amy was removed, zoe was added");
    dir.program("bots/amy.sh", &kept);
    refused(&dir, "began: zoe was added\n");
    fs::remove_file(dir.path("bots/zoe.sh")).unwrap();
    // The contest's file may change or be deleted: the store keeps its content.
    fs::remove_file(dir.path("autumn.toml")).unwrap();
    contest(&dir, &["resume", "d"]).code(0);
    assert_whole(&dir, "d", 6);
    assert_eq!(status(&dir, "d")["name"], "autumn");
}

#[test]
fn resume_refuses_changed_openings() {
    let dir = TestDir::new();
    let position = |cell: &str| {
        let words = ["position", "hex", "--setup", "size=3", "--json", "--actions", "-"];
        let action = format!("{{\"type\":\"place\",\"at\":{cell}}}\n");
        let output = dir.run_with_input(&words, &action).code(0).json();
        output["position"].to_string()
    };
    let (first, other) = (position("[0,0]"), position("[2,2]"));
    assert_ne!(first, other);
    let dir = TestDir::new();
    let agent = gated(&dir, "slow.sh");
    dir.write("o.jsonl", format!("{first}\n"));
    let text = contest_file()
        .replace("submissions = \"bots\"", &format!("agents = [{agent:?}, \"@first\"]"));
    dir.write("autumn.toml", text.replace("plies = 1", "file = \"o.jsonl\""));
    stopped(&dir, "autumn.toml", 1);
    dir.write("o.jsonl", format!("{other}\n"));
    contest(&dir, &["resume", "d"]).code(1).stderr_has("a file that it uses was changed");
    fs::remove_file(dir.path("o.jsonl")).unwrap();
    let gone = contest(&dir, &["resume", "d"]).stderr_has("cannot resume the contest: ");
    assert_ne!(gone.exit, Some(0));
    assert!(gone.stderr.contains("o.jsonl"), "{}", gone.stderr);
    dir.write("o.jsonl", format!("{first}\n"));
    let kept = fs::read_to_string(dir.path("slow.sh")).unwrap();
    fs::remove_file(dir.path("slow.sh")).unwrap();
    let gone = contest(&dir, &["resume", "d"]).stderr_has("no program `./slow.sh`");
    assert_ne!(gone.exit, Some(0));
    dir.program("slow.sh", &kept);
    contest(&dir, &["resume", "d"]).code(0);
    assert_whole(&dir, "d", 2);
}
