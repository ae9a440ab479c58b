//! Five thousand matches on a simulated clock: every game, agents that do anything, a machine that
//! lags and fails, and a model that has its own opinion of what must come of it.
//!
//! `REFEREE_SIMULATION_SEED=17` plays that one match and shows all that happens in it;
//! `REFEREE_SIMULATION_MATCHES=1000000` plays more.

#[cfg(test)]
mod simulation {
    pub(crate) mod agent;
    pub(crate) mod disk;
    pub(crate) mod model;
    pub(crate) mod plan;
    pub(crate) mod speech;
    pub(crate) mod world;
    pub(crate) mod run;
}

use referee_games::GAMES;
use referee_protocol::FaultKind;
use simulation::plan::Plan;
use simulation::run::{play, play_all};

/// How many matches a test run plays.
const MATCHES: u64 = 5_000;

#[test]
fn matches_end_as_the_protocol_says() {
    if let Some(seed) = number("REFEREE_SIMULATION_SEED") {
        let plan = Plan::of(seed);
        println!("{plan:#?}");
        play(seed, true);
        return;
    }
    let matches = number("REFEREE_SIMULATION_MATCHES").unwrap_or(MATCHES);
    let counts = play_all(matches);
    for (what, count) in &counts {
        println!("{count:>8} {what}");
    }
    for wanted in everything_that_must_happen() {
        // A few matches can't show everything.
        assert!(
            matches < MATCHES || counts.contains_key(&wanted),
            "in no match of {matches}: {wanted}"
        );
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number")))
}

/// A simulation that never does something proves nothing of it: every game ends in every way, and
/// every kind of fault happens.
fn everything_that_must_happen() -> Vec<String> {
    let mut wanted: Vec<String> = ["Played", "Fault", "Resigned", "Void"]
        .into_iter()
        .flat_map(|result| GAMES.iter().map(move |kind| format!("{} {result}", kind.name)))
        .collect();
    let reasons = ["last_seat", "lag", "interrupted", "machine", "disk_full"];
    wanted.extend(reasons.map(|reason| format!("because {reason}")));
    for cause in ["machine", "disk_full"] {
        wanted.extend(
            ["by it", "before it"].map(|when| format!("not written, {cause}: ended {when}")),
        );
    }
    wanted.extend(["late by Wall".to_owned(), "late by Cpu".to_owned()]);
    let kinds = [
        FaultKind::Start,
        FaultKind::Garbled,
        FaultKind::Illegal,
        FaultKind::Unasked,
        FaultKind::Gone,
        FaultKind::Flood,
        FaultKind::Memory,
        FaultKind::Processes,
        FaultKind::Resigned,
    ];
    wanted.extend(kinds.map(|kind| kind.to_string()));
    wanted
}
