//! Plays every game in every size of its rule document to the end, with every kind of well-behaved
//! agent.

use crate::support::{TestDir, python, python_agent};
use serde_json::{Value, json};

/// The games that the tests below play.
const PLAYED: &[&str] =
    &["checker-puzzle", "chexers", "chinese-checkers", "freckers", "hex", "peg-solitaire"];

#[test]
fn no_game_is_left_out() {
    let output = TestDir::new().run(&["games", "--json"]).code(0).json();
    let games = output["games"].as_array().unwrap();
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
    // Random play solves none of the larger ones, so a short limit is enough.
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

/// Plays each setup once, alternating between kinds of agents, and verifies all transcripts.
#[track_caller]
fn play_all(game: &str, setups: impl IntoIterator<Item = Value>) {
    let dir = TestDir::new();
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
        let output = dir.play(&words);
        assert_eq!(output["verdict"]["result"], "played", "{output}");
        assert!(output["outcome"]["reason"].is_string(), "{output}");
        played += 1;
    }
    let verified = dir.run(&["verify", "--json", "matches"]).code(0).json_lines();
    assert_eq!(verified.len(), played);
    assert!(verified.iter().all(|output| output["status"] == "ok"), "{verified:?}");
    dir.assert_tmp_is_empty();
}
