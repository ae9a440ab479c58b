//! A contest is a function of its file and its agents: neither interruptions nor the number of jobs
//! change what it comes to, but for times.

use super::{assert_whole, contest, count, query, start, write};
use crate::support::{Place, eventually, leave_out};
use nix::sys::signal::Signal;
use serde_json::Value;

/// Agents that play the same in the same match.
const AGENTS: [&str; 7] =
    ["@random", "@first", "@greedy", "@minimax:1", "b=@random", "c=@random", "d=@first"];

/// Everything that is kept but times: games, then seats.
pub(crate) const ROWS: [&str; 2] = [
    "select number, block, round, game, match_id, seed, result, reason, scores, turns, moves, \
     transcript from games order by number",
    "select game, seat, player, place, score, turns, fault, fault_text from seats \
     order by game, seat",
];

/// A report but for times, and for commands with the folder's name.
pub(crate) fn report(place: &Place, folder: &str) -> Value {
    let mut told = contest(place, &["report", folder, "--json"]).code(0).json();
    leave_out(&mut told, &["time", "marked", "commands"]);
    told
}

#[test]
fn interruptions_and_jobs_change_nothing_but_times() {
    for (format, rounds, games) in [("swiss", 4, 24), ("ladder", 4, 28)] {
        let place = Place::new();
        let more = format!("format = \"{format}\"\nrounds = {rounds}\njobs = 2\n");
        write(&place, &AGENTS, &more);
        contest(&place, &["run", "c.toml", "--out", "whole"]).code(0);
        assert_whole(&place, "whole", games);

        let stops = [(2, Signal::SIGKILL), (8, Signal::SIGINT), (14, Signal::SIGTERM)];
        let mut words = vec!["run", "c.toml", "--out", "parts", "--jobs", "3"];
        let mut stopped = 0;
        for (played, signal) in stops {
            let running = start(&place, &words);
            assert!(eventually(|| count(&place, "parts") >= played));
            running.send(signal);
            stopped += usize::from(running.wait().exit != Some(0));
            words = vec!["resume", "parts", "--jobs", "1"];
        }
        assert!(stopped > 0, "over before it could be stopped");
        contest(&place, &["resume", "parts", "--jobs", "4"]).code(0);
        assert_whole(&place, "parts", games);
        for rows in ROWS {
            assert_eq!(query(&place, "whole", rows), query(&place, "parts", rows), "{format}");
        }
        assert_eq!(report(&place, "whole"), report(&place, "parts"), "{format}");
    }
}
