//! Two contests on many machines with every kind of failure, at moments chosen by a seed. In the end every
//! game is in the store once and equals the game of a run on one machine.
//!
//! ```text
//! REFEREE_CHAOS=full cargo test -p referee-tests --test e2e fleet::chaos -- --nocapture
//! ```

use super::chaos_run::{ChaosRun, ChaosSettings};
use super::process::start_coordinator;
use super::server::Server;
use crate::support::TestDir;
use crate::support::contest::{ROWS, report};
use crate::support::contest::{assert_whole, file, query};

/// Deterministic agents.
const AGENTS: [&str; 8] = [
    "@random",
    "@first",
    "@greedy",
    "@minimax:1",
    "b=@random",
    "c=@random",
    "d=@greedy",
    "e=@minimax:1",
];
/// Games per round: every pairing in both seat orders.
const GAMES_A_ROUND: usize = AGENTS.len() * (AGENTS.len() - 1);
/// The environment variables that select the full settings and the seed.
const FORM: &str = "REFEREE_CHAOS";
const SEED: &str = "REFEREE_CHAOS_SEED";

/// The priority of a second contest.
const OTHER_PRIORITY: &str = "50";

/// Returns the number of rounds and the settings of the run.
fn settings() -> (usize, ChaosSettings) {
    match std::env::var(FORM).as_deref() {
        Ok("full") => (36, ChaosSettings { workers: 8, disruptions: 66, longest_ms: 20_000 }),
        _ => (3, ChaosSettings { workers: 4, disruptions: 11, longest_ms: 4_000 }),
    }
}

#[test]
fn every_game_is_played_once_despite_disruptions() {
    let Some(server) = Server::start() else { return };
    let (rounds, settings) = settings();
    let seed = std::env::var(SEED).unwrap_or_else(|_| "1".to_owned());
    println!("{SEED}={seed}");
    let (dir, games) = (TestDir::new(), rounds * GAMES_A_ROUND);
    let small = file(&AGENTS, &format!("rounds = {rounds}\n"));
    dir.write("c.toml", small.replace("size = 3", "size = 5"));
    dir.start(&["contest", "run", "c.toml", "--out", "here"]).wait_long().code(0);

    dir.write("o.toml", file(&AGENTS, "").replace("autumn", "other"));
    let words = ["run", "o.toml", "--out", "other", "-q", "--priority", OTHER_PRIORITY];
    let other = start_coordinator(&dir, &words, &server.url());
    let mut chaos = ChaosRun::begin(&dir, server, &settings, seed, ["c.toml", "there"]);
    chaos.run(games);
    let server = chaos.end(|url| {
        let mut ran = other.wait_long();
        while ran.exit == Some(4) && ran.stderr.contains("lost contact") {
            ran = start_coordinator(&dir, &["resume", "other", "-q"], url).wait_long();
        }
        ran.code(0);
        assert_whole(&dir, "other", GAMES_A_ROUND);
    });
    assert_whole(&dir, "there", games);
    for rows in ROWS {
        assert_eq!(query(&dir, "here", rows), query(&dir, "there", rows));
    }
    assert_eq!(report(&dir, "here"), report(&dir, "there"));
    let left = server.streams();
    assert!(left.iter().all(|stream| stream == "KV_referee-contests"), "{left:?}");
}
