//! Plays of Peg Solitaire by another program: every list of actions and every end must be the same.

use flate2::read::GzDecoder;
use referee_games::{Turn, kind};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::Read;

#[test]
fn played_games_are_the_same_here() {
    let mut text = String::new();
    let packed = &include_bytes!("data/peg_solitaire.jsonl.gz")[..];
    GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().count(), 50);
    for line in text.lines() {
        replay(&serde_json::from_str(line).unwrap());
    }
}

fn replay(played: &Value) {
    let mut setup = played["params"].clone();
    let open = setup["open"].as_array().unwrap().iter();
    setup["open"] = open.map(|text| json!(cell(text.as_str().unwrap()))).collect();
    let mut game = kind("peg-solitaire").unwrap().start(&setup).unwrap();
    let plies = played["plies"].as_array().unwrap();
    assert_eq!(json!(plies.len()), played["moves"], "{setup}");
    for (number, ply) in plies.iter().enumerate() {
        check_actions(&game.actions(), ply, &format!("{setup}, ply {number}"));
        let (from, to) = ply["a"].as_str().unwrap().split_once('-').unwrap();
        let action = json!({"type": "jump", "from": cell(from), "to": cell(to)});
        assert_eq!(game.play(&action), Ok(action));
    }
    check_actions(&game.actions(), &played["end"], &format!("{setup}, the end"));
    let Turn::Over(outcome) = game.turn() else { panic!("{setup}: not over") };
    let (place, reason) = if played["outcome"] == "win" { (1, "solved") } else { (2, "stuck") };
    assert_eq!((outcome.places, outcome.reason.as_str()), (vec![place], reason), "{setup}");
    assert_eq!(json!(outcome.scores.unwrap()), json!([played["pegs_left"]]), "{setup}");
}

/// Reads `r:c`.
fn cell(text: &str) -> [i64; 2] {
    let (row, column) = text.split_once(':').unwrap();
    [row.parse().unwrap(), column.parse().unwrap()]
}

/// The number of actions and the digest of their texts, joined by `,`.
fn check_actions(actions: &[Value], expected: &Value, at: &str) {
    let cell = |cell: &Value| format!("{}:{}", cell[0], cell[1]);
    let text = |action: &Value| format!("{}-{}", cell(&action["from"]), cell(&action["to"]));
    let texts: Vec<String> = actions.iter().map(text).collect();
    assert_eq!(json!(actions.len()), expected["n"], "{at}");
    let digest = hexadecimal(&Sha256::digest(texts.join(",")));
    assert_eq!(json!(digest), expected["sha"], "{at}");
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
