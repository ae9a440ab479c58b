//! One process at a time runs a contest; others may read it.

use crate::support::TestDir;
use crate::support::contest::{
    GATE, assert_whole, contest, gated, start, status, wait_for_games, write,
};
use nix::sys::signal::Signal;

#[test]
fn a_contest_in_use_can_be_read_but_not_resumed() {
    let dir = TestDir::new();
    let agent = gated(&dir, "slow.sh");
    write(&dir, &[&agent, "@random"], "rounds = 2\n");
    let running = start(&dir, &["run", "c.toml", "--out", "d"]);
    wait_for_games(&dir, "d", 1);
    let holder = format!("another referee is working on this contest, process {}", running.pid());
    contest(&dir, &["resume", "d"]).code(4).stderr_has(&holder).stderr_has("contest status");
    let again = contest(&dir, &["run", "c.toml", "--out", "d"]).code(2);
    again.stderr_has("this folder already has a contest").stderr_has("referee contest resume d");
    let output = status(&dir, "d");
    assert_eq!((&output["running"], &output["over"]), (&true.into(), &false.into()), "{output}");
    contest(&dir, &["report", "d"]).code(0).stdout_has("@random");
    contest(&dir, &["status", "d"]).code(0).stdout_has("running");
    running.send(Signal::SIGKILL);
    assert_eq!(running.wait().exit, None);
    let stopped = contest(&dir, &["status", "d"]).code(0).stdout_has("stopped");
    assert!(stopped.stdout.contains("referee contest resume d"), "{}", stopped.stdout);
    dir.write(GATE, "");
    contest(&dir, &["resume", "d"]).code(0);
    assert_whole(&dir, "d", 4);
    // The contest is over, which is not an error.
    contest(&dir, &["resume", "d"]).code(0);
    assert_whole(&dir, "d", 4);
}

#[test]
fn invalid_folders_are_refused() {
    let dir = TestDir::new();
    write(&dir, &["@first", "@random"], "");
    for command in ["resume", "status", "report"] {
        contest(&dir, &[command, "nowhere"]).code(2).stderr_has("nowhere: not a contest's folder");
    }
    dir.write("full/diary.txt", "dear diary");
    contest(&dir, &["run", "c.toml", "--out", "full"]).code(2).stderr_has("is not empty");
    dir.write("flat", "a file");
    contest(&dir, &["run", "c.toml", "--out", "flat"]).code(4).stderr_has("flat: ");
    assert_eq!(std::fs::read_to_string(dir.path("full/diary.txt")).unwrap(), "dear diary");
}
