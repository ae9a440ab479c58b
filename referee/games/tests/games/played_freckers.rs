//! Games of Freckers played by the course's own rule code: the same actions, boards and ends here.

use crate::{digest, records};
use referee_games::freckers::{Action, Direction, Freckers, Landing, Setup};
use referee_games::{Game, Turn};
use serde_json::{Value, json};

#[test]
fn games_played_elsewhere_are_the_same_here() {
    let games = records(include_bytes!("data/freckers.jsonl.gz"));
    let (mut reasons, mut differing) = (Vec::new(), 0);
    for played in games {
        let id = &played["id"];
        let mut game = Freckers::start(Setup::default()).unwrap();
        for (ply, action) in played["actions"].as_array().unwrap().iter().enumerate() {
            assert_eq!(board(&game), played["boards"][ply], "game {id} ply {ply}");
            let listed = game.actions();
            let legal = &played["legal"][ply];
            assert_eq!(listed.len(), legal["n"], "game {id} ply {ply}");
            let ends: Vec<Value> = listed.iter().filter_map(from_and_end).collect();
            if let Some(list) = legal["od"].as_array() {
                assert_eq!(&ends, list, "game {id} ply {ply}");
            }
            let mut sorted: Vec<String> = ends.iter().map(Value::to_string).collect();
            sorted.push("\"GROW\"".to_owned());
            sorted.sort();
            assert_eq!(digest(&sorted.join("\n")), legal["od_sha"], "game {id} ply {ply}");
            let strict = strict(&game);
            assert_eq!(strict.actions().len(), legal["nstrict"], "game {id} ply {ply}");
            differing += u32::from(legal["n"] != legal["nstrict"]);
            play(&mut game, action);
        }
        assert_eq!(board(&game), played["final_board"], "game {id}");
        reasons.push(check_end(&game, &played["outcome"]));
    }
    for reason in ["all_across", "turn_limit"] {
        assert!(reasons.iter().any(|seen| seen == reason), "no game ends by {reason}");
    }
    assert!(differing > 100, "the two kinds of landing hardly ever differ: {differing}");
}

/// Plays the action as they did, with their directions, and as listed, with their end alone.
fn play(game: &mut Freckers, action: &Value) {
    if action["type"] == "GrowAction" {
        assert_eq!(game.play(&Action::Grow {}), Ok(Action::Grow {}));
        return;
    }
    let from: [i64; 2] = serde_json::from_value(action["coord"].clone()).unwrap();
    let steps: Vec<(i8, i8)> = serde_json::from_value(action["directions"].clone()).unwrap();
    let directions = Some(steps.into_iter().map(direction).collect());
    let mut by_end = game.clone();
    let recorded = game.play(&Action::Move { from, directions: directions.clone(), to: None });
    let Ok(Action::Move { directions: kept, to, .. }) = recorded else { panic!("{recorded:?}") };
    assert_eq!(kept, directions, "a direction list is recorded as sent");
    by_end.play(&Action::Move { from, directions: None, to }).unwrap();
    assert_eq!(&by_end, game);
}

fn check_end(game: &Freckers, outcome: &Value) -> String {
    let Turn::Over(ours) = game.turn() else { panic!("not over: {outcome}") };
    assert_eq!(game.turn_number(), outcome["plies"].as_u64().unwrap());
    assert_eq!(json!(ours.scores.unwrap()), outcome["score"]);
    let places = match outcome["winner"].as_str() {
        Some("RED") => [1, 2],
        Some(_) => [2, 1],
        None => [1, 1],
    };
    assert_eq!(ours.places, places, "{outcome}");
    let reason = if outcome["reason"] == "all-frogs" { "all_across" } else { "turn_limit" };
    assert_eq!(ours.reason, reason);
    ours.reason
}

/// The same position where each landing must be a pad.
fn strict(game: &Freckers) -> Freckers {
    let position = Some(game.position());
    Freckers::start(Setup { landing: Landing::Every, position, ..Setup::default() }).unwrap()
}

fn from_and_end(action: &Action) -> Option<Value> {
    match action {
        Action::Move { from, to: Some(to), .. } => Some(json!([from[0], from[1], to[0], to[1]])),
        Action::Move { .. } => panic!("{action} is listed without its end"),
        Action::Grow {} => None,
    }
}

fn direction(step: (i8, i8)) -> Direction {
    use Direction::{Down, DownLeft, DownRight, Left, Right, Up, UpLeft, UpRight};
    let all = [Right, Left, Down, DownLeft, DownRight, Up, UpLeft, UpRight];
    all.into_iter().find(|direction| direction.step() == step).unwrap()
}

/// The board as the files have it: a letter a cell, row by row.
fn board(game: &Freckers) -> String {
    let position = game.position();
    let letter = |cell| {
        let frogs = |seat: usize| position.frogs[seat].contains(&cell);
        match () {
            () if frogs(0) => 'R',
            () if frogs(1) => 'B',
            () if position.pads.contains(&cell) => '*',
            () => '.',
        }
    };
    game.view().shape.cells().into_iter().map(letter).collect()
}
