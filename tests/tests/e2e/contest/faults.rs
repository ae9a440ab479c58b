//! Agents that break every rule, in one contest: it goes on, and tells of each what it did.

use super::{AMPLE, assert_whole, contest, query, write};
use crate::support::Place;

const FAULTS: &str = "select name, fault, count(*) from seats join players on number = player \
                      where fault is not null group by 1, 2 order by 1";

#[test]
fn faulty_agents_lose_and_the_contest_goes_on() {
    let place = Place::new();
    let faulty = [("@crash", "gone"), ("@flood", "flood"), ("@illegal", "illegal")];
    write(&place, &["@random", "@crash", "@flood", "@illegal"], "format = \"gauntlet\"\n");
    assert_lost_by(&place, &faulty, 2);
    let won = query(&place, "d", "select count(*) from seats where player = 0 and place = 1");
    assert_eq!(won, ["6"]);
    assert_whole(&place, "d", 6);
    place.assert_tidy();
}

#[test]
fn whoever_is_to_move_first_and_is_late_loses() {
    let place = Place::new();
    // Both are late, whatever the machine: no agent that may be in time plays here.
    let more = "clock = { move = \"100ms\", start = \"10m\" }\n";
    write(&place, &["@mute", "@slow"], more);
    assert_lost_by(&place, &[("@mute", "late"), ("@slow", "late")], 1);
    assert_whole(&place, "d", 2);
    place.assert_tidy();
}

/// Plays the contest, in which each of these agents commits its own fault so many times.
#[track_caller]
fn assert_lost_by(place: &Place, faulty: &[(&str, &str)], times: usize) {
    let ran = contest(place, &["run", "c.toml", "--out", "d"]).code(0);
    let row = |(agent, fault): &(&str, &str)| format!("{agent}|{fault}|{times}");
    assert_eq!(query(place, "d", FAULTS), faulty.iter().map(row).collect::<Vec<_>>());
    for (agent, fault) in faulty {
        let mut lines = ran.stdout.lines().filter(|line| line.contains(&format!("\t{agent}\t")));
        let line = lines.next().unwrap();
        assert!(line.ends_with(&format!("{times} {fault}")), "{line}");
    }
}

#[test]
fn with_three_seats_a_fault_retires_a_seat_or_ends_the_game() {
    for (policy, results) in [("retire", ["played"]), ("end", ["fault"])] {
        let place = Place::new();
        let agents = "agents = [\"@crash\", \"@greedy\", \"@first\"]";
        let text = format!(
            "seed = 7\n{agents}\n{AMPLE}policy.on_fault = \"{policy}\"\n[[games]]\n\
             game = \"chexers\"\n"
        );
        place.write("c.toml", text);
        contest(&place, &["run", "c.toml", "--out", "d"]).code(0);
        assert_eq!(query(&place, "d", "select distinct result from games"), results, "{policy}");
        assert_eq!(query(&place, "d", FAULTS), ["@crash|gone|6"], "{policy}");
        let last = query(&place, "d", "select distinct place from seats where player = 0");
        assert_eq!(last, ["3"], "{policy}");
        // In every order of the seats.
        let orders = "select distinct group_concat(player) from seats group by game";
        assert_eq!(query(&place, "d", orders).len(), 6, "{policy}");
        assert_whole(&place, "d", 6);
    }
}
