//! The strong agent in Python: its boards know the rules, its plans are the best there are, and it
//! plays on from positions, after swaps and when others are out.

use crate::kit::has_python;
use crate::referee::{Entrant, play};
use referee_games::kind;
use serde_json::{Value, json};
use std::path::Path;

/// A program in Python, by its folder in this crate.
fn python(folder: &str, script: &str) -> Entrant {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    Entrant::Program(folder, vec!["python3".to_owned(), script.to_owned()])
}

fn strong() -> Entrant {
    python("python/strong", "strong.py")
}

/// Setups that differ in what is legal, and after how many turns a seat is retired.
fn rules() -> Vec<(&'static str, Value, Option<u64>)> {
    let chinese = |setup| ("chinese-checkers", setup, None);
    vec![
        chinese(json!({"max_turns": 120})),
        chinese(json!({"max_turns": 120, "jumps": "adjacent", "neutral": "free"})),
        chinese(json!({"max_turns": 120, "neutral": "closed", "win": "filled", "size": 2})),
        chinese(json!({"max_turns": 120, "size": 5, "seats": 4})),
        ("chinese-checkers", json!({"max_turns": 120, "size": 2, "seats": 6}), Some(9)),
        ("chinese-checkers", json!({"max_turns": 120, "size": 3, "seats": 3}), Some(4)),
        ("chexers", json!({}), None),
        ("chexers", json!({"exits": 2}), Some(20)),
        ("freckers", json!({}), None),
        ("freckers", json!({"landing": "every"}), None),
        ("hex", json!({"size": 3, "swap": "pieces"}), None),
        ("hex", json!({"size": 3, "swap": "sides", "first": "red"}), None),
        ("hex", json!({"size": 14}), None),
        ("checker-puzzle", json!({"size": 3, "depth": 4}), None),
        ("checker-puzzle", json!({"size": 8, "depth": 4, "max_moves": 60}), None),
        ("peg-solitaire", json!({"size": 8}), None),
        ("peg-solitaire", json!({"shape": "diamond", "open": [[0, 0], [2, 3]]}), None),
    ]
}

/// The agent at every seat compares what is legal with what the strong one's board lists, and fails
/// if they differ.
#[test]
fn its_boards_list_what_is_legal() {
    if !has_python() {
        return;
    }
    let checking = python("tests/strong", "checking_agent.py");
    for (game, setup, retire_at) in rules() {
        let seats = kind(game).unwrap().start(&setup).unwrap().seats();
        play(game, &setup, &vec![checking.clone(); seats], 1, retire_at);
    }
}

#[test]
fn it_solves_puzzles_in_the_fewest_moves() {
    if !has_python() {
        return;
    }
    let puzzles = [
        ("checker-puzzle", json!({"size": 3, "depth": 2}), 5),
        ("checker-puzzle", json!({"size": 3, "depth": 3}), 4),
        ("checker-puzzle", json!({"size": 3, "depth": 4}), 2),
        ("checker-puzzle", json!({"size": 4, "depth": 2}), 8),
        ("checker-puzzle", json!({"size": 4, "depth": 3}), 8),
        ("checker-puzzle", json!({"size": 4, "depth": 4}), 9),
        ("checker-puzzle", json!({"size": 5, "depth": 2}), 11),
        ("peg-solitaire", json!({}), 1),
        ("peg-solitaire", json!({"open": [[0, 0]], "finish": "start"}), 1),
        ("peg-solitaire", json!({"size": 4, "open": [[1, 0]]}), 1),
        ("peg-solitaire", json!({"shape": "diamond", "size": 4, "open": [[0, 1]]}), 1),
        ("peg-solitaire", json!({"shape": "diamond", "size": 6}), 1),
    ];
    for (game, setup, fewest) in puzzles {
        let outcome = play(game, &setup, &[strong()], 1, None).outcome;
        assert_eq!((outcome.places, outcome.scores), (vec![1], Some(vec![fewest])), "{setup}");
    }
}

#[test]
fn it_leaves_as_few_pegs_as_can_be() {
    if !has_python() {
        return;
    }
    let setup = json!({"shape": "diamond", "size": 4});
    let outcome = play("peg-solitaire", &setup, &[strong()], 1, None).outcome;
    assert_eq!((outcome.places, outcome.scores), (vec![2], Some(vec![2])));
}

#[test]
fn it_follows_swaps_and_positions_and_beats_random() {
    if !has_python() {
        return;
    }
    let position = json!({
        "to_move": 0, "size": 5, "stones": [[[2, 2]], [[1, 1]]], "colours": ["red", "black"],
        "turn": 2,
    });
    for setup in [
        json!({"size": 5, "swap": "pieces"}),
        json!({"size": 5, "swap": "sides", "first": "red"}),
        json!({"size": 5, "first": "red", "position": position}),
    ] {
        for seat in 0..2 {
            let mut table = vec![Entrant::from("random"); 2];
            table[seat] = strong();
            let played = play("hex", &setup, &table, 1, None);
            assert_eq!(played.outcome.places[seat], 1, "{setup} seat {seat}");
        }
    }
}

#[test]
fn it_plays_on_when_another_seat_is_out() {
    if !has_python() {
        return;
    }
    for (game, setup, seats) in [
        ("chinese-checkers", json!({"size": 2, "seats": 3}), 3),
        ("chinese-checkers", json!({"size": 2, "seats": 4}), 4),
        ("chexers", json!({}), 3),
    ] {
        let mut table = vec![Entrant::from("random"); seats];
        table[1] = strong();
        // The seat that opened the second round is out.
        let played = play(game, &setup, &table, 1, Some(seats as u64));
        assert_eq!(played.outcome.places[1], 1, "{game} {setup}");
    }
}
