//! The schema of a game program's answers takes what is read, and nothing else, as far as a schema can know it.

use super::programs::{described, load, nim};
use referee_games::program::check_walk_answer;
use referee_games::wire::{Answer, At, answer_schema, read_answer};
use serde_json::{Value, json};

/// Whether an answer, with its view, is read.
fn is_read(line: &Value) -> bool {
    if line["type"] == "described" {
        let line = line.clone();
        return load(move |_| line.clone()).is_ok();
    }
    let Ok(read) = read_answer(line.to_string().as_bytes()) else { return false };
    let Answer::Walked(walked) = &read.message else { return true };
    let (kind, _) = load(nim).unwrap();
    let program = kind.program().unwrap();
    check_walk_answer(&[], At::End, true, &read.message).is_ok()
        && walked.plies[0].view.as_ref().is_none_or(|view| program.picture(view).is_ok())
}

/// Right answers: to `describe`, and to `walk` in front of a draw, at the end, and at a seat's turn.
fn right_answers() -> [Value; 4] {
    let mut described = described();
    described["labels"] = json!(["a1", "b1"]);
    described["pieces"][0]["text"] = "X".into();
    described["actions"][0]["fields"] = json!([
        { "name": "count", "type": "integer", "min": 1, "max": 9, "meaning": "" },
        { "name": "how", "type": "choice", "values": ["all"], "optional": true }]);
    let points = json!({ "points": { "places": [[0, 0], [50, 0]], "lines": [[0, 1]], "names": ["a-1", "b"] } });
    let view = json!({
        "shape": points, "pieces": [{ "at": [0, 0], "piece": "one", "text": "12" }],
        "ground": [{ "at": [1, 0], "colour": "#A0b0c0" }],
        "edges": [{ "colour": "white", "cells": [[0, 0]], "outward": [0, -1] }],
        "figures": [{ "name": "n", "value": "2" }], "rows": [{ "name": "hand", "items": ["one"] }],
        "text": "a\nb"
    });
    let request = json!({ "setup": { "heap": 4, "dice": true }, "moves": [], "at": "end" });
    let mut walked = nim(&request);
    walked["plies"][0]["view"] = view;
    let mut over = walked.clone();
    over["plies"][0]["turn"] = json!({ "over": { "places": [1, 2], "reason": "last" } });
    let mut of = walked.clone();
    of["plies"][0]["turn"] = json!({ "of": [0] });
    [described, walked, over, of]
}

#[test]
fn the_schema_and_the_reading_agree() {
    let [described, walked, over, of] = right_answers();
    let schema = serde_json::to_value(answer_schema()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();

    let turn = "/plies/0/turn/chance";
    let places =
        |count: usize| json!((0..count).map(|at| [at % 25 * 2, at / 25 * 2]).collect::<Vec<_>>());
    let text = |length: usize| json!("x".repeat(length));
    // An answer, where it is changed, and to what; `true` if it is then still right.
    let table: Vec<(&Value, String, Value, bool)> = [
        (&described, "/more", json!(1), false),
        (&described, "/seats", json!([]), false),
        (&described, "/seats/0", json!(0), false),
        (&described, "/plies_max", json!(-1), false),
        (&described, "/score", json!({ "unit": "stones", "fewer_is_better": true }), true),
        (&described, "/setup/0/name", json!("position"), false),
        (&described, "/setup/0/more", json!(1), false),
        (&described, "/setup/0/values", json!(["a"]), false),
        (&described, "/setup/1/meaning", json!("whether a die is rolled"), true),
        (&described, "/actions/0/more", json!(1), false),
        (&described, "/actions/0/fields/0/name", json!("type"), false),
        (&described, "/actions/0/fields/0/default", json!(1), false),
        (&described, "/actions/0/fields/1/values", json!([]), false),
        (&described, "/pieces/0/text", json!("1234"), false),
        (&described, "/pieces/0/text", json!("a b"), false),
        (&described, "/pieces/0/colour", json!("peg"), false),
        (&described, "/pieces/0/colour", json!("#12345"), false),
        (&described, "/labels", json!([]), false),
        (&described, "/labels/0", json!("a-1"), false),
        (&described, "/labels/0", json!("a1234"), false),
        (&described, "/labels", json!("letter_number"), true),
        (&walked, "/more", json!(1), false),
        (&walked, "/plies", json!([]), false),
        (&walked, "/plies/0/more", json!(1), false),
        (&walked, "/plies/0/state", Value::Null, false),
        (&walked, "/plies/0/state", json!(0), true),
        (&walked, &format!("{turn}/more"), json!(1), false),
        (&walked, &format!("{turn}/weights"), json!([]), false),
        (&walked, &format!("{turn}/labels"), json!([]), true),
        (&walked, &format!("{turn}/weights"), json!([0, 0, 0]), false),
        (&walked, &format!("{turn}/weights/0"), json!(1_000_000), true),
        (&walked, &format!("{turn}/weights/0"), json!(1_000_001), false),
        (&walked, &format!("{turn}/weights/0"), json!(-1), false),
        (&walked, turn, json!({ "weights": vec![1; 10_000] }), true),
        (&walked, turn, json!({ "weights": vec![1; 10_001] }), false),
        (&of, "/plies/0/turn/of", json!([]), false),
        (&of, "/plies/0/turn/of", json!([0, 1]), true),
        (&of, "/plies/0/turn/of", json!([0, 0]), false),
        (&over, "/plies/0/turn/over/more", json!(1), false),
        (&over, "/plies/0/turn/over/scores", json!([1, 0]), true),
        (&walked, "/plies/0/view/more", json!(1), false),
        (&walked, "/plies/0/view/text", text(10_000), true),
        (&walked, "/plies/0/view/text", text(10_001), false),
        (&walked, "/plies/0/view/text", json!("a\tb"), false),
        (&walked, "/plies/0/view/pieces/0/text", json!("1234"), false),
        (&walked, "/plies/0/view/ground/0/colour", json!("mauve"), false),
        (&walked, "/plies/0/view/edges/0/colour", json!("mauve"), false),
        (&walked, "/plies/0/view/figures/0/name", text(60), true),
        (&walked, "/plies/0/view/figures/0/name", text(61), false),
        (&walked, "/plies/0/view/figures/0/value", text(61), false),
        (&walked, "/plies/0/view/figures/0/value", json!("1\n2"), false),
        (&walked, "/plies/0/view/rows/0/name", text(61), false),
        (&walked, "/plies/0/view/rows/0/items", json!(vec!["one"; 100]), true),
        (&walked, "/plies/0/view/rows/0/items", json!(vec!["one"; 101]), false),
        (&walked, "/plies/0/view/shape/points/more", json!(1), false),
        (&walked, "/plies/0/view/shape/points/names/0", json!("a1234"), false),
        (&walked, "/plies/0/view/shape/points/names/0", json!("a b"), false),
        (&walked, "/plies/0/view/shape/points/places/1", json!([51, 0]), false),
        (&walked, "/plies/0/view/shape", json!({ "points": { "places": places(120) } }), true),
        (&walked, "/plies/0/view/shape", json!({ "points": { "places": places(121) } }), false),
        (&walked, "/plies/0/view/shape", json!({ "grid": [2, 26] }), true),
        (&walked, "/plies/0/view/shape", json!({ "grid": [2, 27] }), false),
        (&walked, "/plies/0/view/shape", json!({ "grid": [0, 2] }), false),
        (&walked, "/plies/0/view/shape", json!({ "hexagon": 14 }), false),
        (&walked, "/plies/0/view/shape", json!({ "star": 6 }), false),
    ]
    .map(|(line, pointer, value, is_right)| (line, pointer.to_owned(), value, is_right))
    .into();
    for (line, pointer, value, is_right) in table {
        let mut line = line.clone();
        line["id"] = 1.into();
        assert!(is_read(&line) && schema.is_valid(&line), "{line}");
        let (before, key) = pointer.rsplit_once('/').unwrap();
        match line.pointer_mut(before).unwrap() {
            Value::Array(all) => all[key.parse::<usize>().unwrap()] = value.clone(),
            parent => parent[key] = value.clone(),
        }
        assert_eq!(is_read(&line), is_right, "read: {pointer} {value}");
        assert_eq!(schema.is_valid(&line), is_right, "schema: {pointer} {value}");
    }
    for refused in [
        json!({ "id": 1, "type": "refused", "move": 0, "kind": "illegal", "rule": "x", "more": 1 }),
        json!({ "id": 1, "type": "failed", "text": "x", "more": 1 }),
    ] {
        assert!(!is_read(&refused) && !schema.is_valid(&refused), "{refused}");
    }
}
