//! Submissions that are built before a contest.

use super::{AMPLE, assert_whole, contest, query};
use crate::support::{PROGRAM, Place};
use std::fs;

#[test]
fn builds_that_fail_stop_the_contest_or_are_left_out() {
    let place = Place::new();
    let made = "command = \"./run.sh\"\nbuild = \"sh make.sh\"\n";
    for name in ["amy", "bob", "cat"] {
        place.write(&format!("bots/{name}/agent.toml"), made);
    }
    let program = format!("#!/bin/sh\\nexec {PROGRAM} agent first\\n");
    let works = format!("printf '{program}' > run.sh; chmod +x run.sh; echo x >> ../../built\n");
    place.write("bots/amy/make.sh", &works);
    place.write("bots/bob/make.sh", &works);
    place.write("bots/cat/make.sh", "echo begun; echo no semicolon >&2; exit 3\n");
    let text = format!(
        "seed = 7\nsubmissions = \"bots\"\n{AMPLE}\
         [openings]\nplies = 1\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
    );
    place.write("c.toml", &text);
    let ran = contest(&place, &["run", "c.toml", "--out", "d"]).code(2);
    ran.complains("1 of 3 submissions can't play")
        .complains("cat: `sh make.sh` failed: exit status 3\n    begun\n    no semicolon")
        .complains("leave-out");
    assert!(!place.path("d").exists(), "nothing has begun");

    place.write("c.toml", format!("policy.on_broken = \"leave-out\"\n{text}"));
    contest(&place, &["run", "c.toml", "--out", "d"]).code(0);
    assert_whole(&place, "d", 2);
    assert_eq!(query(&place, "d", "select name from players"), ["amy", "bob"]);
    let report = contest(&place, &["report", "d", "--json"]).code(0).json();
    let left_out = report["left_out"].to_string();
    assert!(left_out.contains("cat") && left_out.contains("no semicolon"), "{left_out}");
    contest(&place, &["report", "d", "--format", "markdown"]).code(0).prints("cat");
    // Twice for two, and not again by a resume.
    contest(&place, &["resume", "d"]).code(0);
    assert_eq!(fs::read_to_string(place.path("built")).unwrap().lines().count(), 4);
}
