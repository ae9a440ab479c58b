//! Everything that can happen to a contest on many machines, again and again, at moments that a seed
//! decides. In the end every game is there once, and is the game of a run on one machine.
//!
//! ```text
//! REFEREE_CHAOS=full cargo test -p referee-tests --test e2e fleet::chaos -- --nocapture
//! ```

use super::people::Member;
use super::server::Server;
use super::storm::{Form, Storm};
use crate::contest::sameness::{ROWS, report};
use crate::contest::{assert_whole, file, query};
use crate::support::Place;

/// Agents that play the same in the same match.
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
/// Games of a round: every pairing in both seat orders.
const GAMES_A_ROUND: usize = AGENTS.len() * (AGENTS.len() - 1);
/// The environment variables that ask for more of it, and for another one.
const FORM: &str = "REFEREE_CHAOS";
const SEED: &str = "REFEREE_CHAOS_SEED";

/// How many rounds, and what happens meanwhile.
fn asked_for() -> (usize, Form) {
    match std::env::var(FORM).as_deref() {
        Ok("full") => (36, Form { workers: 8, blows: 66, longest_ms: 20_000 }),
        _ => (3, Form { workers: 4, blows: 11, longest_ms: 4_000 }),
    }
}

#[test]
fn whatever_happens_every_game_is_there_once() {
    let Some(server) = Server::start() else { return };
    let (rounds, form) = asked_for();
    let seed = std::env::var(SEED).unwrap_or_else(|_| "1".to_owned());
    println!("{SEED}={seed}");
    let (place, games) = (Place::new(), rounds * GAMES_A_ROUND);
    let small = file(&AGENTS, &format!("rounds = {rounds}\n"));
    place.write("c.toml", small.replace("size = 3", "size = 5"));
    Member::start(&place, &["contest", "run", "c.toml", "--out", "here"]).wait_for_long().code(0);

    let mut storm = Storm::begin(&place, server, &form, seed, ["c.toml", "there"]);
    storm.rage(games);
    let server = storm.end();
    assert_whole(&place, "there", games);
    for rows in ROWS {
        assert_eq!(query(&place, "here", rows), query(&place, "there", rows));
    }
    assert_eq!(report(&place, "here"), report(&place, "there"));
    let left = server.streams();
    assert!(left.iter().all(|stream| stream == "KV_referee-contests"), "{left:?}");
}
