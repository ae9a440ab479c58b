//! Every game, in every size that its rule document asks for, played to its end by every kind of
//! well-behaved agent.

use crate::support::{Place, python, python_agent};
use serde_json::{Value, json};

/// The games that the tests below play.
const PLAYED: &[&str] =
    &["checker-puzzle", "chexers", "chinese-checkers", "freckers", "hex", "peg-solitaire"];

#[test]
fn no_game_is_left_out() {
    let told = Place::new().run(&["games", "--json"]).code(0).json();
    let games = told["games"].as_array().unwrap();
    let mut names: Vec<&str> = games.iter().map(|game| game["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, PLAYED, "play the new game here, in every size that its rules ask for");
}

#[test]
fn chinese_checkers_with_two_to_six() {
    play_all("chinese-checkers", [2, 3, 4, 6].map(|seats| json!({"seats": seats})));
}

#[test]
fn chexers() {
    play_all("chexers", [json!({})]);
}

#[test]
fn freckers() {
    play_all("freckers", ["last", "every"].map(|landing| json!({"landing": landing})));
}

#[test]
fn hex_of_all_sizes() {
    play_all("hex", (3..=10).map(|size| json!({"size": size})));
}

#[test]
fn checker_puzzles_of_all_sizes() {
    let sizes = (3..=8).flat_map(|size| (2..=4).map(move |depth| (size, depth)));
    // Chance solves none of the larger ones, and need not be given long to show it.
    let setup = |(size, depth)| json!({"size": size, "depth": depth, "max_moves": 60});
    play_all("checker-puzzle", sizes.map(setup));
}

#[test]
fn peg_solitaire_on_triangles_of_all_sizes() {
    play_all("peg-solitaire", (4..=8).flat_map(|size| pegs("triangle", size)));
}

#[test]
fn peg_solitaire_on_diamonds_of_all_sizes() {
    play_all("peg-solitaire", (3..=6).flat_map(|size| pegs("diamond", size)));
}

/// The usual open cell, a corner, and several open cells.
fn pegs(shape: &str, size: u32) -> [Value; 3] {
    [
        json!({"shape": shape, "size": size}),
        json!({"shape": shape, "size": size, "open": [[0, 0]]}),
        json!({"shape": shape, "size": size, "open": [[1, 0], [size - 1, 1], [size - 1, 2]]}),
    ]
}

/// Plays each setup once, in turn with every kind of agent, and verifies all transcripts.
#[track_caller]
fn play_all(game: &str, setups: impl IntoIterator<Item = Value>) {
    let place = Place::new();
    let mut agents = vec!["@random".to_owned(), "@greedy".to_owned()];
    agents.extend(python().map(|_| python_agent()));
    let kind = referee_games::kind(game).unwrap();
    let (mut next, mut played) = (0, 0);
    for setup in setups {
        let seats = kind.start(&setup).unwrap().seats();
        let setup = setup.to_string();
        let mut words = vec![game, "--setup", &setup, "--fail-on-fault"];
        words.extend((next..next + seats).map(|it| agents[it % agents.len()].as_str()));
        next += seats;
        let told = place.play(&words);
        assert_eq!(told["verdict"]["result"], "played", "{told}");
        assert!(told["outcome"]["reason"].is_string(), "{told}");
        played += 1;
    }
    let verified = place.run(&["verify", "--json", "matches"]).code(0).json_lines();
    assert_eq!(verified.len(), played);
    assert!(verified.iter().all(|told| told["status"] == "ok"), "{verified:?}");
    place.assert_tidy();
}
