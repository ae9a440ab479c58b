//! The strong agent in Python: the rules of its boards, its solutions of puzzles, and positions,
//! swaps and retired seats.

use crate::samples::builds::{is_installed, samples_root};
use crate::support::small_referee::{Participant, among, expect_hex_wins, expect_score, play};
use referee_games::kind;
use serde_json::{Value, json};

/// Returns a Python program in a folder of this crate.
fn python(folder: &str, script: &str) -> Participant {
    let folder = samples_root().join(folder);
    Participant::Program(folder, vec!["python3".to_owned(), script.to_owned()])
}

fn strong() -> Participant {
    python("python/strong", "strong.py")
}

/// Returns setups with different rules, and after how many turns a seat is retired.
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

/// The agents compare the legal actions with those that the strong agent's board lists.
#[test]
fn its_boards_list_what_is_legal() {
    if !is_installed("python/strong", ["python3"]) {
        return;
    }
    let checking = python("../tests/tests/full/samples", "checking_agent.py");
    for (game, setup, retire_at) in rules() {
        let seats = kind(game).unwrap().start(&setup).unwrap().seats();
        play(game, &setup, &vec![checking.clone(); seats], 1, retire_at);
    }
}

#[test]
fn it_solves_puzzles_in_the_fewest_moves() {
    if !is_installed("python/strong", ["python3"]) {
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
        expect_score(game, &setup, strong(), 1, fewest);
    }
    let unsolvable = json!({"shape": "diamond", "size": 4});
    expect_score("peg-solitaire", &unsolvable, strong(), 2, 2);
}

#[test]
fn it_follows_swaps_and_positions_and_beats_random() {
    if !is_installed("python/strong", ["python3"]) {
        return;
    }
    expect_hex_wins(&strong(), &[], 1..2);
}

#[test]
fn it_plays_on_when_another_seat_is_out() {
    if !is_installed("python/strong", ["python3"]) {
        return;
    }
    for (game, setup, seats) in [
        ("chinese-checkers", json!({"size": 2, "seats": 3}), 3),
        ("chinese-checkers", json!({"size": 2, "seats": 4}), 4),
        ("chexers", json!({}), 3),
    ] {
        // The first seat of the second round is retired.
        let agents = among("random", seats, 1, strong());
        let played = play(game, &setup, &agents, 1, Some(seats as u64));
        // How well it plays depends on the time that it gets, but it isn't behind the seat that is out.
        assert!(played.outcome.places[1] <= 2, "{game} {setup}: {:?}", played.outcome.places);
    }
}
