//! The rules: two seats take 1 to 3 stones in turn from a pile, and whoever takes the last one wins.
//!
//! Change this game into yours, part by part, and run `referee game check .` after each.

use serde_json::{json, Value};
use std::io::{self, BufRead, Write};

const WIDTH: i64 = 5;
const SEATS: [&str; 2] = ["red", "blue"];

/// CHANGE: what the game is, as docs/game-programs.md defines it.
fn description() -> Value {
    json!({
        "name": "starter",
        "title": "Take the last stone",
        "summary": "Two sides take 1 to 3 stones in turn; whoever takes the last one wins.",
        "seats": [2],
        "setup": [{"name": "stones", "type": "integer", "min": 4, "max": 25, "default": 21,
                   "meaning": "stones at the start"}],
        "actions": [{"type": "take", "text": "{count}",
                     "fields": [{"name": "count", "type": "integer", "min": 1, "max": 3}],
                     "example": {"type": "take", "count": 2}, "meaning": "takes this many stones"}],
        "pieces": [{"name": "red", "colour": "red"}, {"name": "blue", "colour": "blue"},
                   {"name": "stone", "colour": "black"}],
        "reasons": [{"name": "last_stone", "text": "it took the last stone",
                     "meaning": "no stone is left"}],
        "score": null, "labels": "letter_number", "lists": true, "estimates": false,
        "chance": false, "plies_max": 25
    })
}

/// CHANGE: the state of a game, and the rules. A state is written as JSON and read from it.
struct State {
    left: i64,
    to_move: i64,
}

impl State {
    /// The state at the start; an error refuses the setup.
    fn start(setup: &Value) -> Result<Self, String> {
        Ok(Self { left: number(&setup["stones"]), to_move: 0 })
    }

    fn read(state: &Value) -> Self {
        Self { left: number(&state["left"]), to_move: number(&state["to_move"]) }
    }

    fn write(&self) -> Value {
        json!({"left": self.left, "to_move": self.to_move})
    }

    /// Whose turn it is, or the end.
    fn turn(&self) -> Value {
        if self.left > 0 {
            return json!({"of": [self.to_move]});
        }
        let places = if self.to_move == 0 { [2, 1] } else { [1, 2] };
        json!({"over": {"places": places, "reason": "last_stone"}})
    }

    /// Every legal action, always in the same order.
    fn actions(&self) -> Vec<Value> {
        (1..=self.left.min(3)).map(|count| json!({"type": "take", "count": count})).collect()
    }

    /// The next state. The fields of the action are as declared; all else is to be checked.
    fn play(&self, action: &Value) -> Result<Self, String> {
        let count = number(&action["count"]);
        if count > self.left {
            return Err(format!("there are only {} stones", self.left));
        }
        Ok(Self { left: self.left - count, to_move: 1 - self.to_move })
    }

    /// The picture of the board.
    fn view(&self) -> Value {
        let stone = |at: i64| json!({"at": [at / WIDTH, at % WIDTH], "piece": "stone"});
        let pieces: Vec<Value> = (0..self.left).map(stone).collect();
        json!({"shape": {"grid": [WIDTH, WIDTH]}, "pieces": pieces,
               "figures": [{"name": "stones", "value": self.left.to_string()}]})
    }
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

// The messages. Nothing below needs to change.

fn ply(state: &State, want: &Value) -> Value {
    let turn = state.turn();
    let mut ply = json!({"state": state.write(), "turn": turn});
    for want in want.as_array().into_iter().flatten() {
        match want.as_str() {
            Some("actions") if turn.get("of").is_some() => ply["actions"] = state.actions().into(),
            Some("actions") => ply["actions"] = json!([]),
            Some("position") => ply["position"] = state.write(),
            Some("view") => ply["view"] = state.view(),
            Some("notes") => ply["notes"] = json!([]),
            _ => {}
        }
    }
    ply
}

/// Plays the moves. An error is a refusal: the number of the move, the kind and the rule.
fn walk(request: &Value) -> Result<Value, (usize, &'static str, String)> {
    let (want, all) = (&request["want"], request["at"] == "all");
    let mut answer = json!({"type": "walked"});
    let mut state = match request.get("setup") {
        Some(setup) => {
            answer["seats"] = json!(SEATS);
            State::start(setup).map_err(|rule| (0, "setup", rule))?
        }
        None => State::read(&request["state"]),
    };
    let (mut plies, mut recorded) = (Vec::new(), Vec::new());
    for (index, step) in request["moves"].as_array().into_iter().flatten().enumerate() {
        if all {
            plies.push(ply(&state, want));
        }
        let is_movers = state.turn()["of"].get(0).is_some_and(|seat| *seat == step["seat"]);
        if !is_movers || step.get("action").is_none() {
            return Err((index, "illegal", "this seat is not to move".to_owned()));
        }
        state = state.play(&step["action"]).map_err(|rule| (index, "illegal", rule))?;
        recorded.push(step["action"].clone());
    }
    plies.push(ply(&state, want));
    answer["plies"] = plies.into();
    answer["recorded"] = recorded.into();
    Ok(answer)
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let mut answer = if request["type"] == "describe" {
            let mut answer = description();
            answer["type"] = "described".into();
            answer
        } else {
            walk(&request).unwrap_or_else(|(index, kind, rule)| {
                json!({"type": "refused", "move": index, "kind": kind, "rule": rule})
            })
        };
        answer["id"] = request["id"].clone();
        println!("{answer}");
        io::stdout().flush()?;
    }
    Ok(())
}
