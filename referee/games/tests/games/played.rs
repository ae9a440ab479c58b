//! Games that independent programs played by the same rules: at every ply the legal actions must be
//! the very same ones, and so must the end.

use crate::{digest, records};
use referee_games::{AnyGame, Turn, kind};
use referee_protocol::Outcome;
use serde_json::{Value, json};

/// How one program keeps its games.
struct Played<'a> {
    game: &'a str,
    packed: &'a [u8],
    /// The setup that its parameters mean.
    setup: fn(&Value) -> Value,
    /// An action in the digest's list, and the separator.
    text: fn(&Value) -> String,
    separator: &'a str,
}

impl Played<'_> {
    /// Replays every game; `ended` compares the ends. Returns how many plies there were.
    fn replay(&self, mut ended: impl FnMut(&Value, &dyn AnyGame)) -> usize {
        let records = records(self.packed);
        assert_eq!(records.len(), 50);
        let mut count = 0;
        for record in &records {
            let setup = (self.setup)(&record["params"]);
            let mut game = kind(self.game).unwrap().start(&setup).unwrap();
            let plies = record["plies"].as_array().unwrap();
            for (number, ply) in plies.iter().enumerate() {
                self.check_actions(game.as_ref(), ply, &format!("{record:.200}, ply {number}"));
                let text = ply["a"].as_str().unwrap().replace(':', ",");
                game.play(&game.parse_action(&text).unwrap()).unwrap();
            }
            self.check_actions(game.as_ref(), &record["end"], &format!("{record:.200}, the end"));
            ended(record, game.as_ref());
            count += plies.len();
        }
        count
    }

    /// The number of actions and the digest of their texts.
    fn check_actions(&self, game: &dyn AnyGame, expected: &Value, at: &str) {
        let texts: Vec<String> = game.actions().iter().map(self.text).collect();
        assert_eq!(json!(texts.len()), expected["n"], "{at}");
        assert_eq!(json!(digest(&texts.join(self.separator))), expected["sha"], "{at}");
    }
}

fn outcome(game: &dyn AnyGame) -> Option<Outcome> {
    match game.turn() {
        Turn::Of(_) | Turn::Chance(_) => None,
        Turn::Over(outcome) => Some(outcome),
    }
}

/// `r:c`
fn cell(cell: &Value) -> String {
    format!("{}:{}", cell[0], cell[1])
}

/// The first and the last entry of an action's path.
fn ends(action: &Value) -> [&Value; 2] {
    let path = action["path"].as_array().unwrap();
    [&path[0], &path[path.len() - 1]]
}

#[test]
fn chinese_checkers_is_the_same() {
    let played = Played {
        game: "chinese-checkers",
        packed: include_bytes!("data/chinese_checkers.jsonl.gz"),
        setup: |params| {
            let neutral = match params["neutral"].as_str().unwrap() {
                "no_end" => "pass",
                "forbidden" => "closed",
                other => other,
            };
            let jumps = if params["long_jumps"] == true { "long" } else { "adjacent" };
            json!({"jumps": jumps, "neutral": neutral, "win": params["win"]})
        },
        text: |action| match action["type"].as_str().unwrap() {
            "pass" => "pass".to_owned(),
            _ => ends(action).map(Value::to_string).join("-"),
        },
        separator: ",",
    };
    let plies = played.replay(|record, game| {
        let ended = outcome(game).map(|outcome| (outcome.reason, outcome.places));
        let winner = record["outcome"].as_u64();
        let places = winner.map(|winner| if winner == 0 { vec![1, 2] } else { vec![2, 1] });
        assert_eq!(ended, places.map(|places| ("home".to_owned(), places)), "{record:.200}");
        for (seat, marbles) in record["final"].as_object().unwrap() {
            assert_eq!(&game.position()["marbles"][seat.parse::<usize>().unwrap()], marbles);
        }
    });
    assert!(plies > 4000, "{plies}");
}

#[test]
fn checker_puzzle_is_the_same() {
    let played = Played {
        game: "checker-puzzle",
        packed: include_bytes!("data/cc_puzzle.jsonl.gz"),
        setup: |params| json!({"size": params["size"], "depth": params["depth"], "max_moves": 1_000_000}),
        text: |action| ends(action).map(cell).join("-"),
        separator: ",",
    };
    let mut solved = 0;
    played.replay(|record, game| {
        let moves = i64::try_from(record["plies"].as_array().unwrap().len()).unwrap();
        let wanted = record["outcome"].as_str().map(|reason| Outcome::puzzle(true, moves, reason));
        assert_eq!(outcome(game), wanted, "{record:.200}");
        solved += usize::from(wanted.is_some_and(|outcome| outcome.reason == "solved"));
    });
    assert!(solved > 5, "{solved}");
}

#[test]
fn hex_is_the_same() {
    let played = Played {
        game: "hex",
        packed: include_bytes!("data/hex.jsonl.gz"),
        setup: Value::clone,
        text: |action| match action["type"].as_str().unwrap() {
            "swap" => "swap".to_owned(),
            _ => format!("{},{}", action["at"][0], action["at"][1]),
        },
        separator: ";",
    };
    played.replay(|record, game| {
        assert_eq!(game.turn_number(), record["moves"]);
        let winner = usize::from(record["outcome"] == 1);
        let mut places = vec![2, 2];
        places[winner] = 1;
        let ended = outcome(game).map(|outcome| (outcome.reason, outcome.places));
        assert_eq!(ended, Some(("connected".to_owned(), places)), "{record:.200}");
        assert_eq!(game.position()["colours"][winner], record["winner_colour"], "{record:.200}");
    });
}

#[test]
fn peg_solitaire_is_the_same() {
    let played = Played {
        game: "peg-solitaire",
        packed: include_bytes!("data/peg_solitaire.jsonl.gz"),
        setup: |params| {
            let mut setup = params.clone();
            let open = setup["open"].as_array().unwrap().iter();
            let cell = |text: &Value| {
                let (row, column) = text.as_str().unwrap().split_once(':').unwrap();
                json!([row.parse::<i64>().unwrap(), column.parse::<i64>().unwrap()])
            };
            setup["open"] = open.map(cell).collect();
            setup
        },
        text: |action| format!("{}-{}", cell(&action["from"]), cell(&action["to"])),
        separator: ",",
    };
    played.replay(|record, game| {
        assert_eq!(game.turn_number(), record["moves"]);
        let solved = record["outcome"] == "win";
        let reason = if solved { "solved" } else { "stuck" };
        let wanted = Outcome::puzzle(solved, record["pegs_left"].as_i64().unwrap(), reason);
        assert_eq!(outcome(game), Some(wanted), "{record:.200}");
    });
}
