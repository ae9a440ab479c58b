//! `contest quick`, and the contest file that it leaves.

use super::{assert_whole, contest, query};
use crate::support::{PROGRAM, Place};

#[test]
fn the_file_that_quick_leaves_says_the_same() {
    let place = Place::new();
    let agents = ["@random", "@first", "b=@random"];
    let game = ["quick", "--game", "hex", "--setup", "size=3", "--games", "11", "--seed", "3"];
    let clock = ["--clock", "1h", "--start-time", "3m"];
    contest(&place, &[&game[..], &clock, &["--out", "q"], &agents].concat()).code(0);
    // Whole rounds: each has six games.
    assert_whole(&place, "q", 12);
    contest(&place, &["run", "q/contest.toml", "--out", "again", "--jobs", "1"]).code(0);
    assert_whole(&place, "again", 12);
    let rows = "select number, match_id, seed, result, reason, turns, moves from games";
    assert_eq!(query(&place, "q", rows), query(&place, "again", rows));
    // Without --out each has a folder of its own.
    for folder in ["contests/quick-hex", "contests/quick-hex-2"] {
        let ran = contest(&place, &[&game[..3], &game[3..5], &clock, &agents[..2]].concat());
        ran.code(0).complains(&format!("{folder}/report.html"));
        assert_whole(&place, folder, 2);
    }
}

#[test]
fn quick_lets_the_others_play_and_builds_once() {
    let place = Place::new();
    for (name, build) in [("amy", "echo x >> ../../built"), ("bob", "exit 1")] {
        let agent = format!("command = \"{PROGRAM} agent first\"\nbuild = [\"sh\", \"make.sh\"]\n");
        place.write(&format!("bots/{name}/agent.toml"), agent);
        place.write(&format!("bots/{name}/make.sh"), build);
    }
    let quick = ["quick", "--game", "hex", "--setup", "size=3", "--submissions", "bots"];
    let quick =
        [&quick[..], &["@first", "--games", "4", "--clock", "1h", "--start-time", "3m"]].concat();
    contest(&place, &[&quick[..], &["--out", "q"]].concat()).code(2).complains("--leave-out");
    std::fs::remove_file(place.path("built")).unwrap();
    let ran = contest(&place, &[&quick[..], &["--leave-out", "--out", "q"]].concat()).code(0);
    ran.complains("note: bob is left out: `sh make.sh` failed: exit status 1");
    assert_eq!(std::fs::read_to_string(place.path("built")).unwrap(), "x\n");
    assert_whole(&place, "q", 4);
}
