//! Games that an independent program played by the same rules: at every ply the legal actions must
//! be the very same ones, and so must the outcome.

use flate2::read::GzDecoder;
use referee_games::chinese_checkers::{Action, ChineseCheckers, Jumps, Neutral, Setup, Win};
use referee_games::{Game, Turn};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::Read;

#[test]
fn every_ply_has_the_same_actions_and_every_game_the_same_outcome() {
    let packed = include_bytes!("data/chinese_checkers.jsonl.gz");
    let mut text = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    let (mut games, mut plies) = (0, 0);
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        plies += replay(&record);
        games += 1;
    }
    assert_eq!(games, 50);
    assert!(plies > 4000, "{plies}");
}

/// Replays one game and returns its plies.
fn replay(record: &Value) -> usize {
    let params = &record["params"];
    let setup = Setup {
        jumps: if params["long_jumps"] == true { Jumps::Long } else { Jumps::Adjacent },
        neutral: match params["neutral"].as_str().unwrap() {
            "no_end" => Neutral::Pass,
            "free" => Neutral::Free,
            "forbidden" => Neutral::Closed,
            other => panic!("{other}"),
        },
        win: match params["win"].as_str().unwrap() {
            "own" => Win::Own,
            "filled" => Win::Filled,
            other => panic!("{other}"),
        },
        ..Setup::default()
    };
    let mut game = ChineseCheckers::start(setup).unwrap();
    let plies = record["plies"].as_array().unwrap();
    for (ply, expected) in plies.iter().enumerate() {
        check_listed(&game, expected, &format!("seed {} ply {ply}", record["seed"]));
        let action: Action = expected["a"].as_str().unwrap().parse().unwrap();
        game.play(&action).unwrap();
    }
    check_listed(&game, &record["end"], &format!("seed {} at the end", record["seed"]));
    match (record["outcome"].as_u64(), game.turn()) {
        (None, Turn::Of(_)) => {}
        (Some(winner), Turn::Over(outcome)) => {
            assert_eq!(outcome.reason, "home");
            let places = if winner == 0 { [1, 2] } else { [2, 1] };
            assert_eq!(outcome.places, places, "seed {}", record["seed"]);
        }
        (outcome, turn) => panic!("{outcome:?} {turn:?}"),
    }
    let position = serde_json::to_value(game.position()).unwrap();
    for (seat, marbles) in record["final"].as_object().unwrap() {
        assert_eq!(&position["marbles"][seat.parse::<usize>().unwrap()], marbles);
    }
    plies.len()
}

/// Count and digest of the listed actions as `from-to`, in their order.
fn check_listed(game: &ChineseCheckers, expected: &Value, at: &str) {
    let ends = |action: &Action| match action {
        Action::Move { path } => format!("{}-{}", path[0], path[path.len() - 1]),
        Action::Pass {} => "pass".to_owned(),
    };
    let listed: Vec<String> = game.actions().iter().map(ends).collect();
    assert_eq!(listed.len() as u64, expected["n"].as_u64().unwrap(), "{at}");
    let digest = Sha256::digest(listed.join(",").as_bytes());
    assert_eq!(hex(&digest), expected["sha"].as_str().unwrap(), "{at}");
    assert_eq!(game.perft(1), listed.len() as u64, "{at}");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}
