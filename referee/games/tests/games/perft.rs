//! The counts in every game's `perft.txt`: `SETUP : COUNT COUNT ..`, from depth 1 on.

use crate::data_lines;
use referee_games::{GAMES, Game, SetupError, Visitor, perft, visit};
use serde_json::Value;

#[test]
fn every_count_is_met() {
    for kind in GAMES {
        for line in data_lines(kind.name, "perft.txt") {
            let (setup, counts) = line.rsplit_once(" : ").expect("SETUP : COUNT COUNT ..");
            visit(kind.name, Counts { setup, counts }).unwrap();
        }
    }
}

struct Counts<'a> {
    setup: &'a str,
    counts: &'a str,
}

impl Visitor for Counts<'_> {
    type Output = ();

    fn visit<G: Game>(self, start: fn(&Value) -> Result<G, SetupError>) {
        let game = start(&serde_json::from_str(self.setup).unwrap()).unwrap();
        for (depth, count) in (1..).zip(self.counts.split_whitespace()) {
            assert_eq!(
                perft(&game, depth).to_string(),
                count,
                "{} {} depth {depth}",
                G::NAME,
                self.setup
            );
        }
    }
}
