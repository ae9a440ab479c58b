//! The results of a contest depend only on its file and agents: interruptions and the number of jobs
//! change nothing but times.

use super::{assert_whole, contest, count, query, start, write};
use crate::support::{TestDir, eventually, remove_fields};
use nix::sys::signal::Signal;
use serde_json::Value;

/// Deterministic agents.
const AGENTS: [&str; 7] =
    ["@random", "@first", "@greedy", "@minimax:1", "b=@random", "c=@random", "d=@first"];

/// Queries for everything in the store except times: games, then seats.
pub(crate) const ROWS: [&str; 2] = [
    "select number, block, round, game, match_id, seed, result, reason, scores, turns, moves, \
     transcript from games order by number",
    "select game, seat, player, place, score, turns, fault, fault_text from seats \
     order by game, seat",
];

/// Reads a report without times, without commands that contain the folder's name, and without the
/// sandbox, which the machine decides each time.
pub(crate) fn report(dir: &TestDir, folder: &str) -> Value {
    let mut output = contest(dir, &["report", folder, "--json"]).code(0).json();
    remove_fields(&mut output, &["time", "marked", "commands"]);
    let settings = output["settings"].as_array_mut().unwrap();
    settings.retain(|setting| setting["name"] != "sandbox");
    output
}

#[test]
fn interruptions_and_jobs_change_nothing_but_times() {
    for (format, rounds, games) in [("swiss", 4, 24), ("ladder", 4, 28)] {
        let dir = TestDir::new();
        let more = format!("format = \"{format}\"\nrounds = {rounds}\njobs = 2\n");
        write(&dir, &AGENTS, &more);
        contest(&dir, &["run", "c.toml", "--out", "whole"]).code(0);
        assert_whole(&dir, "whole", games);

        let stops = [(2, Signal::SIGKILL), (8, Signal::SIGINT), (14, Signal::SIGTERM)];
        let mut words = vec!["run", "c.toml", "--out", "parts", "--jobs", "3"];
        let mut stopped = 0;
        for (played, signal) in stops {
            let running = start(&dir, &words);
            assert!(eventually(|| count(&dir, "parts") >= played));
            running.send(signal);
            stopped += usize::from(running.wait().exit != Some(0));
            words = vec!["resume", "parts", "--jobs", "1"];
        }
        assert!(stopped > 0, "over before it could be stopped");
        contest(&dir, &["resume", "parts", "--jobs", "4"]).code(0);
        assert_whole(&dir, "parts", games);
        for rows in ROWS {
            assert_eq!(query(&dir, "whole", rows), query(&dir, "parts", rows), "{format}");
        }
        assert_eq!(report(&dir, "whole"), report(&dir, "parts"), "{format}");
    }
}
