//! `contest quick`, and the contest file that it writes.

use crate::support::contest::{assert_whole, contest, query};
use crate::support::{TestDir, program};

#[test]
fn the_file_written_by_quick_runs_the_same_contest() {
    let dir = TestDir::new();
    let agents = ["@random", "@first", "b=@random"];
    let game = ["quick", "--game", "hex", "--setup", "size=3", "--games", "11", "--seed", "3"];
    let clock = ["--clock", "1h", "--start-time", "3m", "--pin"];
    contest(&dir, &[&game[..], &clock, &["--out", "q"], &agents].concat()).code(0);
    // Complete rounds of six games.
    assert_whole(&dir, "q", 12);
    let written = std::fs::read_to_string(dir.path("q/contest.toml")).unwrap();
    assert!(written.contains("pin = true"), "{written}");
    contest(&dir, &["run", "q/contest.toml", "--out", "again", "--jobs", "1"]).code(0);
    assert_whole(&dir, "again", 12);
    let rows = "select number, match_id, seed, result, reason, turns, moves from games";
    assert_eq!(query(&dir, "q", rows), query(&dir, "again", rows));
    // Without --out each contest has its own folder.
    for folder in ["contests/quick-hex", "contests/quick-hex-2"] {
        let ran = contest(&dir, &[&game[..3], &game[3..5], &clock, &agents[..2]].concat());
        ran.code(0).stderr_has(&format!("{folder}/report.html"));
        assert_whole(&dir, folder, 2);
    }
}

#[test]
fn quick_leaves_out_broken_agents_and_builds_once() {
    let dir = TestDir::new();
    for (name, build) in [("amy", "echo x >> built"), ("bob", "exit 1")] {
        let program = program();
        let agent = format!("command = \"{program} agent first\"\nbuild = [\"sh\", \"make.sh\"]\n");
        dir.write(&format!("bots/{name}/agent.toml"), agent);
        dir.write(&format!("bots/{name}/make.sh"), build);
    }
    let quick = ["quick", "--game", "hex", "--setup", "size=3", "--submissions", "bots"];
    let quick =
        [&quick[..], &["@first", "--games", "4", "--clock", "1h", "--start-time", "3m"]].concat();
    contest(&dir, &[&quick[..], &["--out", "q"]].concat()).code(2).stderr_has("--leave-out");
    std::fs::remove_file(dir.path("bots/amy/built")).unwrap();
    let ran = contest(&dir, &[&quick[..], &["--leave-out", "--out", "q"]].concat()).code(0);
    ran.stderr_has("note: bob is left out: `sh make.sh` failed: exit status 1");
    assert_eq!(std::fs::read_to_string(dir.path("bots/amy/built")).unwrap(), "x\n");
    assert_whole(&dir, "q", 4);
}
