//! How well the built-in agents play, in few games. The seeds are fixed and the agents deterministic,
//! so these tests can't fail by bad luck.

use crate::support::small_referee::{Participant, among, expect_score, play};
use referee_games::GAMES;
use serde_json::json;

/// Games of each pair.
const GAMES_PER_PAIR: u64 = 4;

/// Returns how often `strong` alone comes first against `weak` in all other seats. Its seat rotates.
fn firsts(game: &str, seats: usize, strong: &'static str, weak: &'static str) -> u64 {
    let won = |&number: &u64| {
        let seat = usize::try_from(number).unwrap() % seats;
        let agents = among(weak, seats, seat, strong.into());
        let places = play(game, &json!({}), &agents, 100 + number, None).outcome.places;
        places[seat] == 1 && places.iter().filter(|&&place| place == 1).count() == 1
    };
    (0..GAMES_PER_PAIR).filter(won).count() as u64
}

#[test]
fn greedy_beats_random_and_minimax_beats_greedy() {
    for kind in GAMES {
        let seats = kind.start(&json!({})).unwrap().seats();
        if seats == 1 {
            continue;
        }
        let greedy = firsts(kind.name, seats, "greedy", "random");
        assert!(greedy * 10 >= GAMES_PER_PAIR * 9, "{}: {greedy}", kind.name);
        if seats == 2 {
            let minimax = firsts(kind.name, seats, "minimax:2", "greedy");
            assert!(minimax * 10 >= GAMES_PER_PAIR * 6, "{}: {minimax}", kind.name);
        }
    }
}

#[test]
fn greedy_gets_home_against_itself() {
    for seed in 0..3 {
        let both = ["greedy", "greedy"].map(Participant::from);
        let played = play("chinese-checkers", &json!({}), &both, seed, None);
        assert_eq!(played.outcome.reason, "home", "seed {seed}");
        assert!(played.actions.len() <= 300, "seed {seed}: {} turns", played.actions.len());
    }
}

#[test]
fn puzzles_are_solved() {
    let puzzles = [
        ("checker-puzzle", json!({"size": 4, "depth": 2}), 8),
        ("checker-puzzle", json!({"size": 4, "depth": 3}), 8),
        ("checker-puzzle", json!({"size": 4, "depth": 4}), 9),
        ("checker-puzzle", json!({"size": 5, "depth": 2}), 11),
        ("peg-solitaire", json!({"size": 4, "open": [[1, 0]]}), 1),
        ("peg-solitaire", json!({"shape": "diamond", "size": 4, "open": [[0, 1]]}), 1),
        ("peg-solitaire", json!({}), 1),
    ];
    for (game, setup, fewest) in puzzles {
        let greedy = play(game, &setup, &["greedy".into()], 1, None).outcome;
        assert_eq!(greedy.places, [1], "{game} {setup}");
        // `minimax` needs the minimum of moves.
        expect_score(game, &setup, "minimax", 1, fewest);
    }
}

#[test]
fn an_unsolvable_puzzle_gets_the_best_possible_score() {
    for agent in ["greedy", "minimax"] {
        expect_score("peg-solitaire", &json!({"shape": "diamond", "size": 4}), agent, 2, 2);
    }
}
