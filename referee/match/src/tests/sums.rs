//! A game in which all seats choose at once, for scripts: each says a number, twice; the highest sum wins. Its rules are
//! a program that is a function. They fail at the number six, and at any number if a seat has a sum of seven.

use referee_games::GameKind;
use referee_games::program::{Pending, Program, Rules, RulesFailure};
use referee_games::wire::{Answer, Move, Request, Walk, read_answer};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::LazyLock;

static SUMS: LazyLock<Program> = LazyLock::new(|| {
    Program::describe(Box::new(Sums), ("sums", 1), PathBuf::new(), String::new()).unwrap()
});

/// Returns the game.
pub(super) fn kind() -> GameKind {
    GameKind::of_program(&SUMS)
}

#[derive(Debug)]
struct Sums;

impl Rules for Sums {
    fn send(&self, request: Request) -> Pending<Result<Answer, RulesFailure>> {
        Box::pin(std::future::ready(self.ask(request)))
    }

    fn ask(&self, request: Request) -> Result<Answer, RulesFailure> {
        let mut answer = match request {
            Request::Describe { .. } => json!({
                "type": "described", "name": "sums", "title": "Sums", "summary": "The highest sum wins.",
                "seats": [2, 3], "simultaneous": true, "plies_max": 6,
                "setup": [{ "name": "seats", "type": "integer", "min": 2, "max": 3, "default": 2 }],
                "actions": [{ "type": "say", "text": "{number}", "example": { "type": "say", "number": 1 },
                              "fields": [{ "name": "number", "type": "integer", "min": 0, "max": 9 }] }],
                "pieces": [{ "name": "one", "colour": "red" }, { "name": "two", "colour": "blue" },
                           { "name": "three", "colour": "green" }],
                "reasons": [{ "name": "sum", "text": "it has the highest sum" }]
            }),
            Request::Walk(walk) => walked(&walk)?,
        };
        answer["id"] = 1.into();
        read_answer(answer.to_string().as_bytes()).map(|it| it.message).map_err(RulesFailure)
    }
}

/// A state has the sum of each seat, what was said in this round, who is out, and how many rounds are over.
fn walked(walk: &Walk) -> Result<Value, RulesFailure> {
    let walk_json = serde_json::to_value(walk).unwrap();
    let (mut state, seats) = match walk_json.get("setup") {
        Some(setup) => {
            let seats = usize::try_from(setup["seats"].as_u64().unwrap()).unwrap();
            let state = json!({ "sums": vec![0; seats], "said": {}, "out": [], "rounds": 0 });
            (state, &["one", "two", "three"][..seats])
        }
        None => (walk_json["state"].clone(), &[][..]),
    };
    let mut recorded = Vec::new();
    for (number, step) in walk.moves.iter().enumerate() {
        match step {
            Move::Action { action, .. } if action["number"] == 9 => {
                return Ok(
                    json!({ "type": "refused", "move": number, "kind": "illegal", "rule": "nine is too much" }),
                );
            }
            Move::Action { action, .. }
                if action["number"] == 6
                    || state["sums"].as_array().unwrap().contains(&json!(7)) =>
            {
                return Err(RulesFailure("a defect".to_owned()));
            }
            Move::Action { seat, action } => {
                state["said"][seat.to_string()] = action["number"].clone();
                recorded.push(action.clone());
            }
            Move::Retire { retire } => {
                state["out"].as_array_mut().unwrap().push(json!(retire));
                recorded.push(Value::Null);
            }
            Move::Draw { .. } => unreachable!("nothing is drawn"),
        }
        if choosing(&state).is_empty() {
            let said = std::mem::take(&mut state["said"]);
            for (seat, number) in said.as_object().into_iter().flatten() {
                let sum = &mut state["sums"][seat.parse::<usize>().unwrap()];
                *sum = json!(sum.as_u64().unwrap() + number.as_u64().unwrap());
            }
            state["said"] = json!({});
            state["rounds"] = json!(state["rounds"].as_u64().unwrap() + 1);
        }
    }
    let of = choosing(&state);
    let sums = state["sums"].as_array().unwrap();
    let place = |sum: &Value| 1 + sums.iter().filter(|it| it.as_u64() > sum.as_u64()).count();
    let turn = if state["rounds"] == 2 {
        json!({ "over": { "places": sums.iter().map(place).collect::<Vec<_>>(), "reason": "sum" } })
    } else {
        json!({ "of": of })
    };
    let actions: Vec<_> = of.iter().map(|_| [json!({ "type": "say", "number": 1 })]).collect();
    let position = json!({ "sums": sums });
    let mut ply = json!({ "state": state, "turn": turn, "view": { "text": "" } });
    if walk_json["want"].as_array().unwrap().contains(&json!("position")) {
        (ply["actions"], ply["position"]) = (json!(actions), position);
    }
    Ok(json!({ "type": "walked", "seats": seats, "recorded": recorded, "plies": [ply] }))
}

/// The seats that are in and have said nothing in this round.
fn choosing(state: &Value) -> Vec<usize> {
    let is_out = |seat: &usize| state["out"].as_array().unwrap().contains(&json!(seat));
    let has_said = |seat: &usize| state["said"].get(seat.to_string()).is_some();
    let seats = 0..state["sums"].as_array().unwrap().len();
    seats.filter(|seat| !is_out(seat) && !has_said(seat)).collect()
}
