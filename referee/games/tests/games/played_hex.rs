//! Games of Hex that another program played: every list of actions and every end must be the same.

use flate2::read::GzDecoder;
use referee_games::{Turn, kind};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::Read;

#[test]
fn played_games_are_the_same_here() {
    let mut text = String::new();
    GzDecoder::new(&include_bytes!("data/hex.jsonl.gz")[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().count(), 50);
    for line in text.lines() {
        replay(&serde_json::from_str(line).unwrap());
    }
}

fn replay(played: &Value) {
    let params = &played["params"];
    let mut game = kind("hex").unwrap().start(params).unwrap();
    let plies = played["plies"].as_array().unwrap();
    assert_eq!(json!(plies.len()), played["moves"], "{params}");
    for (number, ply) in plies.iter().enumerate() {
        check_actions(&game.actions(), ply, &format!("{params}, ply {number}"));
        let action = match ply["a"].as_str().unwrap() {
            "swap" => json!({"type": "swap"}),
            cell => {
                let (row, column) = cell.split_once(',').unwrap();
                let at: [i64; 2] = [row.parse().unwrap(), column.parse().unwrap()];
                json!({"type": "place", "at": at})
            }
        };
        assert_eq!(game.play(&action), Ok(action));
    }
    check_actions(&game.actions(), &played["end"], &format!("{params}, the end"));
    let Turn::Over(outcome) = game.turn() else { panic!("{params}: not over") };
    assert_eq!(outcome.reason, "connected");
    let winner = usize::from(played["outcome"] == 1);
    assert_eq!(outcome.places[winner], 1, "{params}");
    assert_eq!(outcome.places[1 - winner], 2, "{params}");
    assert_eq!(game.position()["colours"][winner], played["winner_colour"], "{params}");
}

/// The number of actions and the digest of their texts, joined by `;`.
fn check_actions(actions: &[Value], expected: &Value, at: &str) {
    let text = |action: &Value| match action["type"].as_str().unwrap() {
        "swap" => "swap".to_owned(),
        _ => format!("{},{}", action["at"][0], action["at"][1]),
    };
    let texts: Vec<String> = actions.iter().map(text).collect();
    assert_eq!(json!(actions.len()), expected["n"], "{at}");
    let digest = hexadecimal(&Sha256::digest(texts.join(";")));
    assert_eq!(json!(digest), expected["sha"], "{at}");
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
