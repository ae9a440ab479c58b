//! Puzzles that an independent program played by the same rules: at every move the legal actions
//! must be the very same ones, and so must the outcome.

use flate2::read::GzDecoder;
use referee_games::checker_puzzle::{Action, CheckerPuzzle, Setup};
use referee_games::{Game, Turn};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::Read;

#[test]
fn every_move_has_the_same_actions_and_every_puzzle_the_same_outcome() {
    let packed = include_bytes!("data/cc_puzzle.jsonl.gz");
    let mut text = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    let (mut puzzles, mut solved) = (0, 0);
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        solved += usize::from(replay(&record));
        puzzles += 1;
    }
    assert_eq!(puzzles, 50);
    assert!(solved > 5, "{solved}");
}

/// Replays one puzzle and says whether it was solved.
fn replay(record: &Value) -> bool {
    let params = &record["params"];
    let (size, depth) = (params["size"].as_u64().unwrap(), params["depth"].as_u64().unwrap());
    let setup = Setup { size, depth, max_moves: 1_000_000, position: None };
    let mut game = CheckerPuzzle::start(setup).unwrap();
    let at = |moves| format!("size {size} depth {depth} seed {} move {moves}", record["seed"]);
    let moves = record["plies"].as_array().unwrap();
    for (number, expected) in moves.iter().enumerate() {
        check_listed(&game, expected, &at(number));
        let text = expected["a"].as_str().unwrap().replace(':', ",");
        game.play(&text.parse().unwrap()).unwrap();
    }
    check_listed(&game, &record["end"], &at(moves.len()));
    match (record["outcome"].as_str(), game.turn()) {
        (None, Turn::Of(_)) => false,
        (Some("solved"), Turn::Over(outcome)) => {
            assert_eq!((outcome.reason.as_str(), &outcome.places[..]), ("solved", &[1][..]));
            assert_eq!(outcome.scores, Some(vec![i64::try_from(moves.len()).unwrap()]));
            true
        }
        (outcome, turn) => panic!("{outcome:?} {turn:?}"),
    }
}

/// Count and digest of the listed actions as `r:c-r:c`, in their order.
fn check_listed(game: &CheckerPuzzle, expected: &Value, at: &str) {
    let ends = |Action::Move { path }: &Action| {
        let ([a, b], [c, d]) = (path[0], path[path.len() - 1]);
        format!("{a}:{b}-{c}:{d}")
    };
    let listed: Vec<String> = game.actions().iter().map(ends).collect();
    assert_eq!(listed.len() as u64, expected["n"].as_u64().unwrap(), "{at}");
    let digest = Sha256::digest(listed.join(",").as_bytes());
    assert_eq!(hex(&digest), expected["sha"].as_str().unwrap(), "{at}");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}
