//! The strong sample in Rust, limited in nodes, so that it answers the same on every machine.

use crate::samples::builds::{games_of, samples_root};
use crate::support::small_referee;
use crate::support::small_referee::{Participant, Played, expect_score, from_here, play, small};
use referee_games::{Turn, kind};
use serde_json::{Value, json};

/// Returns the sample with this many nodes per turn.
fn strong(nodes: u32) -> Participant {
    let folder = samples_root().join("rust/strong");
    let program = env!("CARGO_BIN_EXE_strong-agent-under-test").to_owned();
    Participant::Program(folder, vec![program, "--nodes".to_owned(), nodes.to_string()])
}

/// Returns a participant per seat: the sample at `seat`, and `others`.
fn among(others: &'static str, seats: usize, seat: usize, nodes: u32) -> Vec<Participant> {
    small_referee::among(others, seats, seat, strong(nodes))
}

/// Returns a game's listed setups and one more, with limits that keep games short.
fn setups(game: &str) -> Vec<Value> {
    let mut setups = kind(game).unwrap().about().variants.clone();
    setups.push(json!({}));
    setups.push(small(game));
    setups.push(match game {
        "chinese-checkers" => json!({"seats": 6, "size": 5, "win": "filled", "neutral": "closed"}),
        "chexers" => json!({"exits": 1, "repetitions": 2}),
        "freckers" => json!({"landing": "every"}),
        "hex" => json!({"size": 26, "swap": "sides"}),
        "checker-puzzle" => json!({"size": 9, "depth": 8}),
        _ => json!({"shape": "diamond", "size": 12, "open": [[0, 0], [11, 11]]}),
    });
    let limit = match game {
        "chinese-checkers" => Some(("max_turns", 60)),
        "chexers" => Some(("turns_per_seat", 20)),
        "freckers" => Some(("turn_limit", 40)),
        "checker-puzzle" => Some(("max_moves", 40)),
        _ => None,
    };
    for setup in &mut setups {
        if let Some((name, turns)) = limit.filter(|_| setup.get("position").is_none()) {
            setup[name] = json!(turns);
        }
    }
    setups
}

#[test]
fn every_setup_is_played_by_the_rules_to_the_end() {
    for game in games_of("rust/strong") {
        for (number, setup) in setups(game.name).into_iter().enumerate() {
            let seats = game.start(&setup).unwrap().seats();
            play(game.name, &setup, &among("random", seats, number % seats, 60), 1, None);
            if seats > 2 {
                play(game.name, &setup, &among("random", seats, 1, 60), 2, Some(0));
                play(game.name, &setup, &among("random", seats, 0, 60), 3, Some(4));
            }
        }
    }
}

#[test]
fn a_game_may_start_from_any_position() {
    for game in games_of("rust/strong") {
        for seed in 1..5 {
            let setup = small(game.name);
            let mut board = game.start(&setup).unwrap();
            let random = vec![Participant::from("random"); board.seats()];
            let actions = play(game.name, &setup, &random, seed, None).actions;
            for action in &actions[..actions.len() / 2] {
                board.play(action).unwrap();
            }
            let setup = from_here(board.as_ref());
            play(game.name, &setup, &among("random", board.seats(), 0, 60), seed, None);
        }
    }
}

#[test]
fn a_win_in_one_is_taken() {
    for game in games_of("rust/strong") {
        let setup = match game.name {
            "hex" => json!({"size": 7}),
            "peg-solitaire" => json!({"size": 5}),
            _ => json!({}),
        };
        let mut wins = 0;
        for seed in 1..5 {
            let mut board = game.start(&setup).unwrap();
            let greedy = vec![Participant::from("greedy"); board.seats()];
            let Played { actions, outcome } = play(game.name, &setup, &greedy, seed, None);
            let (_, before) = actions.split_last().unwrap();
            for action in before {
                board.play(action).unwrap();
            }
            let Turn::Of(winner) = board.turn() else { panic!("the game is not over here") };
            if outcome.places[winner.index()] != 1 || outcome.places.iter().sum::<u32>() == 2 {
                continue;
            }
            let agents = vec![strong(2000); board.seats()];
            let played = play(game.name, &from_here(board.as_ref()), &agents, seed, None);
            assert_eq!(played.actions.len(), 1, "{} seed {seed}", game.name);
            assert_eq!(played.outcome.places, outcome.places, "{} seed {seed}", game.name);
            wins += 1;
        }
        assert!(wins > 0, "{}: greedy never won", game.name);
    }
}

#[test]
fn bounded_by_nodes_it_plays_the_same_game_again() {
    for game in games_of("rust/strong") {
        let setup = small(game.name);
        let seats = game.start(&setup).unwrap().seats();
        let agents = among("random", seats, 0, 200);
        let played = play(game.name, &setup, &agents, 5, None);
        assert_eq!(play(game.name, &setup, &agents, 5, None), played, "{}", game.name);
    }
}

#[test]
fn it_beats_greedy() {
    let games = [("chinese-checkers", 1000), ("freckers", 1000), ("hex", 1000), ("chexers", 5000)];
    for (game, nodes) in games {
        let seats = kind(game).unwrap().start(&json!({})).unwrap().seats();
        let first = |&(seat, seed): &(usize, u64)| {
            let agents = among("greedy", seats, seat, nodes);
            let places = play(game, &json!({}), &agents, seed, None).outcome.places;
            places[seat] == 1 && places.iter().filter(|&&place| place == 1).count() == 1
        };
        let games: Vec<(usize, u64)> = (0..4).map(|seed| (seed % seats, seed as u64)).collect();
        let firsts = games.iter().filter(|game| first(game)).count();
        assert!(firsts >= 3, "{game}: {firsts} of {}", games.len());
    }
}

#[test]
fn puzzles_take_the_fewest_moves_and_leave_the_fewest_pegs() {
    for (game, setup, place, fewest) in [
        ("checker-puzzle", json!({"size": 4, "depth": 4}), 1, 9),
        ("checker-puzzle", json!({"size": 5, "depth": 2}), 1, 11),
        ("peg-solitaire", json!({"size": 6}), 1, 1),
        ("peg-solitaire", json!({"open": [[0, 0]], "finish": "start"}), 1, 1),
        ("peg-solitaire", json!({"shape": "diamond", "size": 4}), 2, 2),
    ] {
        expect_score(game, &setup, strong(1_000_000), place, fewest);
    }
}
