//! Games of Chexers played by the course's own rule code: the same actions, boards and ends here.

use crate::{digest, records};
use referee_games::chexers::{Action, Chexers, Setup};
use referee_games::{Game, Turn};
use serde_json::{Value, json};

#[test]
fn games_played_elsewhere_are_the_same_here() {
    let games = records(include_bytes!("data/chexers.jsonl.gz"));
    let mut reasons = Vec::new();
    for played in games {
        let id = &played["id"];
        let mut game = Chexers::start(Setup::default()).unwrap();
        for (ply, action) in played["actions"].as_array().unwrap().iter().enumerate() {
            assert_eq!(board(&game), played["boards"][ply], "game {id} ply {ply}");
            let listed: Vec<Value> = game.actions().iter().map(theirs).collect();
            let legal = &played["legal"][ply];
            assert_eq!(listed.len(), legal["n"], "game {id} ply {ply}");
            assert_eq!(game.actions().len(), legal["n"], "game {id} ply {ply}");
            let mut sorted: Vec<String> = listed.iter().map(Value::to_string).collect();
            sorted.sort();
            assert_eq!(digest(&sorted.join("\n")), legal["sha"], "game {id} ply {ply}");
            if let Some(list) = legal["list"].as_array() {
                let mut list: Vec<String> = list.iter().map(Value::to_string).collect();
                list.sort();
                assert_eq!(sorted, list, "game {id} ply {ply}");
            }
            let index = listed.iter().position(|other| other == action).unwrap();
            let action = game.actions()[index].clone();
            assert_eq!(game.play(&action), Ok(action), "game {id} ply {ply}");
        }
        assert_eq!(board(&game), played["final_board"], "game {id}");
        reasons.push(check_end(&game, &played["outcome"]));
    }
    for reason in ["four_exits", "repetition", "turn_limit"] {
        assert!(reasons.iter().any(|seen| seen == reason), "no game ends by {reason}");
    }
}

/// The end is theirs, but for a 4th exit on the very last turn, which wins here.
fn check_end(game: &Chexers, outcome: &Value) -> String {
    let Turn::Over(ours) = game.turn() else { panic!("not over: {outcome}") };
    assert_eq!(game.turn_number(), outcome["plies"].as_u64().unwrap());
    assert_eq!(json!(ours.scores.as_ref().unwrap()), outcome["exits"]);
    let winner = ["RED", "GREEN", "BLUE"].iter().position(|name| outcome["winner"] == **name);
    let late = ours.scores.unwrap().iter().position(|&exits| exits == 4);
    if winner.is_none() && late.is_some() {
        assert_eq!(outcome["reason"], "turn-limit");
    }
    let mut places = vec![1, 1, 1];
    if let Some(winner) = winner.or(late) {
        places = vec![2, 2, 2];
        places[winner] = 1;
    }
    assert_eq!(ours.places, places, "{outcome}");
    let reason = match outcome["reason"].as_str().unwrap() {
        "win" => "four_exits",
        "turn-limit" if late.is_some() => "four_exits",
        "turn-limit" => "turn_limit",
        other => other,
    };
    assert_eq!(ours.reason, reason);
    ours.reason
}

/// The action as the files have it.
fn theirs(action: &Action) -> Value {
    match action {
        Action::Exit { from } => json!(["EXIT", from]),
        Action::Move { from, to } => json!(["MOVE", [from, to]]),
        Action::Jump { from, to } => json!(["JUMP", [from, to]]),
        Action::Pass {} => json!(["PASS", null]),
    }
}

/// The board as the files have it: a letter a hex, in the order of the hexes.
fn board(game: &Chexers) -> String {
    let pieces = game.position().pieces;
    let letter = |cell| {
        (0..3).find(|&seat| pieces[seat].contains(&cell)).map(|seat| "rgb"[seat..].chars().next())
    };
    let cells = game.view().shape.cells();
    cells.into_iter().map(|cell| letter(cell).flatten().unwrap_or('.')).collect()
}
