//! One referee at a time works on a contest; everybody may look on.

use super::{GATE, assert_whole, contest, gated, start, status, wait_for_games, write};
use crate::support::Place;
use nix::sys::signal::Signal;

#[test]
fn a_contest_in_use_is_refused_and_can_be_looked_at() {
    let place = Place::new();
    let agent = gated(&place, "slow.sh");
    write(&place, &[&agent, "@random"], "rounds = 2\n");
    let running = start(&place, &["run", "c.toml", "--out", "d"]);
    wait_for_games(&place, "d", 1);
    let holder = format!("another referee is working on this contest, process {}", running.pid());
    contest(&place, &["resume", "d"]).code(4).complains(&holder).complains("contest status");
    let again = contest(&place, &["run", "c.toml", "--out", "d"]).code(2);
    again.complains("there is a contest in it").complains("referee contest resume d");
    let told = status(&place, "d");
    assert_eq!((&told["running"], &told["over"]), (&true.into(), &false.into()), "{told}");
    contest(&place, &["report", "d"]).code(0).prints("@random");
    contest(&place, &["status", "d"]).code(0).prints("running");
    running.send(Signal::SIGKILL);
    assert_eq!(running.wait().exit, None);
    let stopped = contest(&place, &["status", "d"]).code(0).prints("stopped");
    assert!(stopped.stdout.contains("referee contest resume d"), "{}", stopped.stdout);
    place.write(GATE, "");
    contest(&place, &["resume", "d"]).code(0);
    assert_whole(&place, "d", 4);
    // Nothing is left to do, which is no mistake.
    contest(&place, &["resume", "d"]).code(0);
    assert_whole(&place, "d", 4);
}

#[test]
fn folders_that_are_none_are_refused() {
    let place = Place::new();
    write(&place, &["@first", "@random"], "");
    for command in ["resume", "status", "report"] {
        contest(&place, &[command, "nowhere"]).code(2).complains("nowhere: no contest is in it");
    }
    place.write("full/diary.txt", "dear diary");
    contest(&place, &["run", "c.toml", "--out", "full"]).code(2).complains("is not empty");
    place.write("flat", "a file");
    contest(&place, &["run", "c.toml", "--out", "flat"]).code(4).complains("flat: ");
    assert_eq!(std::fs::read_to_string(place.path("full/diary.txt")).unwrap(), "dear diary");
}
