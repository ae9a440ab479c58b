//! A contest has the agents and files that it had when it began, whatever changes meanwhile.

use crate::support::contest::{
    AMPLE, GATE, assert_whole, contest, gated, start, status, stopped, transcripts, wait_for_games,
};
use crate::support::{TestDir, program};
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
fn what_changes_during_the_contest_has_no_effect() {
    let dir = TestDir::new();
    for name in ["amy", "bob", "cat"] {
        gated(&dir, &format!("bots/{name}.sh"));
    }
    dir.write("autumn.toml", contest_file());
    let running = start(&dir, &["run", "autumn.toml", "--out", "d"]);
    wait_for_games(&dir, "d", 1);
    dir.program("bots/amy.sh", "#!/bin/sh\necho something else >&2\n");
    dir.write(GATE, "");
    let ran = running.wait().code(0);
    assert!(!ran.stderr.contains("was changed"), "{}", ran.stderr);
    assert_whole(&dir, "d", 6);
    for file in transcripts(&dir, "d") {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("something else"), "{}", file.display());
    }
    dir.run(&["contest", "report", "d", "--json"])
        .code(0)
        .stdout_has("copies in the contest's folder");
}

#[test]
fn resume_needs_only_the_contests_folder() {
    let dir = begun(&contest_file());
    fs::remove_dir_all(dir.path("bots")).unwrap();
    fs::remove_file(dir.path("autumn.toml")).unwrap();
    contest(&dir, &["resume", "d"]).code(0);
    assert_whole(&dir, "d", 6);
    assert_eq!(status(&dir, "d")["name"], "autumn");
}

#[test]
fn resume_refuses_a_changed_agent_that_has_no_copy() {
    let dir = TestDir::new();
    let agent = gated(&dir, "slow.sh");
    dir.write(
        "autumn.toml",
        contest_file()
            .replace("submissions = \"bots\"", &format!("agents = [{agent:?}, \"@first\"]")),
    );
    stopped(&dir, "autumn.toml", 1);
    let kept = fs::read_to_string(dir.path("slow.sh")).unwrap();
    let program = program();
    dir.program("slow.sh", &format!("#!/bin/sh\nexec '{program}' agent random\n"));
    let ran = contest(&dir, &["resume", "d"]).code(1);
    ran.stderr_has("slow was changed after the contest began").stderr_has("help: undo the change");
    fs::remove_file(dir.path("slow.sh")).unwrap();
    let gone = contest(&dir, &["resume", "d"]).stderr_has("no program `./slow.sh`");
    assert_ne!(gone.exit, Some(0));
    dir.program("slow.sh", &kept);
    contest(&dir, &["resume", "d"]).code(0);
    assert_whole(&dir, "d", 2);
}
