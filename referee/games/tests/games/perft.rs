//! The counts in every game's `perft.txt`: `SETUP : COUNT COUNT ..`, from depth 1 on, or
//! `SETUP : plain DEPTH`, where the counts up to this depth equal those by listing and playing.

use crate::data_lines;
use referee_games::{GAMES, Game, SetupError, Visitor, plain_perft, visit};
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
        let counts: Vec<u64> = match self.counts.strip_prefix("plain ") {
            Some(depth) => {
                (1..=depth.parse().unwrap()).map(|depth| plain_perft(&game, depth)).collect()
            }
            None => self.counts.split_whitespace().map(|count| count.parse().unwrap()).collect(),
        };
        for (depth, count) in (1..).zip(counts) {
            assert_eq!(game.perft(depth), count, "{} {} depth {depth}", G::NAME, self.setup);
        }
    }
}
