//! The counts in every game's `perft.txt`: `SETUP : COUNT COUNT ..`, from depth 1 on.

use crate::data_lines;
use referee_games::{GAMES, Game, SetupError, Visitor, perft, visit};
use serde_json::Value;

/// The most positions whose actions are listed for one count.
const LISTED_MAX: u64 = 8_000;

#[test]
fn counts_are_met() {
    check_counts(LISTED_MAX);
}

#[test]
#[ignore = "takes long without optimisation: cargo test --release -p referee-games -- --ignored"]
fn deep_counts_are_met() {
    check_counts(u64::MAX);
}

fn check_counts(listed_max: u64) {
    for kind in GAMES {
        for line in data_lines(kind.name, "perft.txt") {
            let (setup, counts) = line.rsplit_once(" : ").expect("SETUP : COUNT COUNT ..");
            let counts = counts.split_whitespace().map(|count| count.parse().unwrap());
            visit(kind.name, Row { setup, counts: counts.collect(), listed_max }).unwrap();
        }
    }
}

struct Row<'a> {
    setup: &'a str,
    counts: Vec<u64>,
    listed_max: u64,
}

impl Visitor for Row<'_> {
    type Output = ();

    fn visit<G: Game>(self, start: fn(&Value) -> Result<G, SetupError>) {
        let game = start(&serde_json::from_str(self.setup).unwrap()).unwrap();
        let mut listed = 1;
        for (depth, &count) in (1..).zip(&self.counts) {
            if listed > self.listed_max {
                break;
            }
            assert_eq!(perft(&game, depth), count, "{} {} depth {depth}", G::NAME, self.setup);
            listed = count;
        }
    }
}
