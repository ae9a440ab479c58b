//! Agents that break every rule, in one contest: it goes on, and tells of each what it did.

use super::{AMPLE, assert_whole, contest, file, query};
use crate::support::Place;

const FAULTS: &str = "select name, fault, count(*) from seats join players on number = player \
                      where fault is not null group by 1, 2 order by 1";

#[test]
fn faulty_agents_lose_and_the_contest_goes_on() {
    let place = Place::new();
    let agents = ["@random", "@crash", "@flood", "@illegal", "@mute", "@slow"];
    let more = "clock = { move = \"900ms\", start = \"3m\" }\nformat = \"gauntlet\"\n";
    place.write("c.toml", file(&agents, more));
    let ran = contest(&place, &["run", "c.toml", "--out", "d"]).code(0);
    let told = ["gone", "flood", "illegal", "late", "late"];
    let wanted: Vec<String> =
        agents[1..].iter().zip(told).map(|(name, fault)| format!("{name}|{fault}|2")).collect();
    assert_eq!(query(&place, "d", FAULTS), wanted);
    for (agent, fault) in agents[1..].iter().zip(told) {
        let mut lines = ran.stdout.lines().filter(|line| line.contains(&format!("\t{agent}\t")));
        let line = lines.next().unwrap();
        assert!(line.ends_with(&format!("2 {fault}")), "{line}");
    }
    let won = query(&place, "d", "select count(*) from seats where player = 0 and place = 1");
    assert_eq!(won, ["10"]);
    assert_whole(&place, "d", 10);
    place.assert_tidy();
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
