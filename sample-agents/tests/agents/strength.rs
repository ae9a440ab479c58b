//! How well the built-in agents play, on smaller samples than a contest would take. The seeds are
//! fixed and the agents draw from nothing else, so these can't fail by bad luck.

use crate::referee::{Entrant, Played, play};
use referee_games::GAMES;
use serde_json::{Value, json};

/// Games of each pair.
const GAMES_PER_PAIR: u64 = 12;

/// How often `strong` comes first alone against `weak` in all other seats, its own seat rotating.
fn firsts(game: &str, seats: usize, strong: &'static str, weak: &'static str) -> u64 {
    let won = |&number: &u64| {
        let mut agents = vec![Entrant::from(weak); seats];
        let seat = usize::try_from(number).unwrap() % seats;
        agents[seat] = strong.into();
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
    for seed in 0..20 {
        let both = ["greedy", "greedy"].map(Entrant::from);
        let played = play("chinese-checkers", &json!({}), &both, seed, None);
        assert_eq!(played.outcome.reason, "home", "seed {seed}");
        assert!(played.actions.len() <= 300, "seed {seed}: {} turns", played.actions.len());
    }
}

fn alone(game: &str, setup: &Value, agent: &'static str) -> Played {
    play(game, setup, &[agent.into()], 1, None)
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
        let greedy = alone(game, &setup, "greedy").outcome;
        assert_eq!(greedy.places, [1], "{game} {setup}");
        // `minimax` solves these in the fewest moves that there are.
        let minimax = alone(game, &setup, "minimax").outcome;
        assert_eq!((minimax.places, minimax.scores), (vec![1], Some(vec![fewest])), "{setup}");
    }
}

#[test]
fn what_cannot_be_solved_is_ended_as_well_as_can_be() {
    for agent in ["greedy", "minimax"] {
        let setup = json!({"shape": "diamond", "size": 4});
        let outcome = alone("peg-solitaire", &setup, agent).outcome;
        assert_eq!((outcome.places, outcome.scores), (vec![2], Some(vec![2])), "{agent}");
    }
}
