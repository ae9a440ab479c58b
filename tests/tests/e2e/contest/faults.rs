//! One contest with agents that commit every fault: it continues and reports each fault.

use crate::support::TestDir;
use crate::support::contest::{AMPLE, assert_whole, contest, query, write};

const FAULTS: &str = "select name, fault, count(*) from seats join players on number = player \
                      where fault is not null group by 1, 2 order by 1";

#[test]
fn faulty_agents_lose_and_the_contest_continues() {
    let dir = TestDir::new();
    let faulty = [("@crash", "gone"), ("@flood", "flood"), ("@illegal", "illegal")];
    write(&dir, &["@random", "@crash", "@flood", "@illegal"], "format = \"gauntlet\"\n");
    assert_lost_by(&dir, &faulty, 2);
    let won = query(&dir, "d", "select count(*) from seats where player = 0 and place = 1");
    assert_eq!(won, ["6"]);
    assert_whole(&dir, "d", 6);
    dir.assert_tmp_is_empty();
}

#[test]
fn the_first_seat_to_be_late_loses() {
    let dir = TestDir::new();
    // Both agents are late on any machine.
    let more = "clock = { move = \"100ms\", start = \"10m\" }\n";
    write(&dir, &["@mute", "@slow"], more);
    assert_lost_by(&dir, &[("@mute", "late"), ("@slow", "late")], 1);
    assert_whole(&dir, "d", 2);
    dir.assert_tmp_is_empty();
}

/// Plays the contest and asserts that each of these agents commits its fault `times` times.
#[track_caller]
fn assert_lost_by(dir: &TestDir, faulty: &[(&str, &str)], times: usize) {
    let ran = contest(dir, &["run", "c.toml", "--out", "d"]).code(0);
    let row = |(agent, fault): &(&str, &str)| format!("{agent}|{fault}|{times}");
    assert_eq!(query(dir, "d", FAULTS), faulty.iter().map(row).collect::<Vec<_>>());
    for (agent, fault) in faulty {
        let mut lines = ran.stdout.lines().filter(|line| line.contains(&format!("\t{agent}\t")));
        let line = lines.next().unwrap();
        assert!(line.ends_with(&format!("{times} {fault}")), "{line}");
    }
}

#[test]
fn with_three_seats_a_fault_retires_a_seat_or_ends_the_game() {
    for (policy, results) in [("retire", ["played"]), ("end", ["fault"])] {
        let dir = TestDir::new();
        let agents = "agents = [\"@crash\", \"@greedy\", \"@first\"]";
        let text = format!(
            "seed = 7\n{agents}\n{AMPLE}policy.on_fault = \"{policy}\"\n[[games]]\n\
             game = \"chexers\"\n"
        );
        dir.write("c.toml", text);
        contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
        assert_eq!(query(&dir, "d", "select distinct result from games"), results, "{policy}");
        assert_eq!(query(&dir, "d", FAULTS), ["@crash|gone|6"], "{policy}");
        let last = query(&dir, "d", "select distinct place from seats where player = 0");
        assert_eq!(last, ["3"], "{policy}");
        // In every seat order.
        let orders = "select distinct group_concat(player) from seats group by game";
        assert_eq!(query(&dir, "d", orders).len(), 6, "{policy}");
        assert_whole(&dir, "d", 6);
    }
}
