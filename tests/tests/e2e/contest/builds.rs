//! Submissions that are built before a contest.

use super::{AMPLE, assert_whole, contest, query};
use crate::support::{PROGRAM, TestDir};
use std::fs;

#[test]
fn builds_that_fail_stop_the_contest_or_are_left_out() {
    let dir = TestDir::new();
    let made = "command = \"./run.sh\"\nbuild = \"sh make.sh\"\n";
    for name in ["amy", "bob", "cat"] {
        dir.write(&format!("bots/{name}/agent.toml"), made);
    }
    let program = format!("#!/bin/sh\\nexec {PROGRAM} agent first\\n");
    let works = format!("printf '{program}' > run.sh; chmod +x run.sh; echo x >> ../../built\n");
    dir.write("bots/amy/make.sh", &works);
    dir.write("bots/bob/make.sh", &works);
    dir.write("bots/cat/make.sh", "echo begun; echo no semicolon >&2; exit 3\n");
    let text = format!(
        "seed = 7\nsubmissions = \"bots\"\n{AMPLE}\
         [openings]\nplies = 1\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
    );
    dir.write("c.toml", &text);
    let ran = contest(&dir, &["run", "c.toml", "--out", "d"]).code(2);
    ran.stderr_has("1 of 3 submissions can't play")
        .stderr_has("cat: `sh make.sh` failed: exit status 3\n    begun\n    no semicolon")
        .stderr_has("leave-out");
    assert!(!dir.path("d").exists(), "nothing has begun");

    dir.write("c.toml", format!("policy.on_broken = \"leave-out\"\n{text}"));
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    assert_whole(&dir, "d", 2);
    assert_eq!(query(&dir, "d", "select name from players"), ["amy", "bob"]);
    let report = contest(&dir, &["report", "d", "--json"]).code(0).json();
    let left_out = report["left_out"].to_string();
    assert!(left_out.contains("cat") && left_out.contains("no semicolon"), "{left_out}");
    contest(&dir, &["report", "d", "--format", "markdown"]).code(0).stdout_has("cat");
    // Two builds of two agents; `resume` does not build again.
    contest(&dir, &["resume", "d"]).code(0);
    assert_eq!(fs::read_to_string(dir.path("built")).unwrap().lines().count(), 4);
}
