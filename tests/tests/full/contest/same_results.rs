//! The results of a contest depend only on its file and agents: interruptions and the number of jobs
//! change nothing but times.

use crate::support::contest::{ROWS, assert_whole, contest, count, query, report, start, write};
use crate::support::{TestDir, eventually};
use nix::sys::signal::Signal;

/// Deterministic agents.
const AGENTS: [&str; 7] =
    ["@random", "@first", "@greedy", "@minimax:1", "b=@random", "c=@random", "d=@first"];

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
