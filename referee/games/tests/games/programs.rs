//! Games whose rules are a program: what is made of its answers. The program here is a function.

use referee_games::program::{Drawer, Pending, Program, Rules, RulesFailure, check_answer};
use referee_games::wire::{Answer, Move, Request, read_answer};
use referee_games::{AnyGame, GameKind, Games, NoRules, Planes, Refusal, Turn};
use referee_protocol::Seat;
use serde_json::{Value, json};
use std::fmt::{self, Debug};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// Answers as the function does, and counts the requests.
#[derive(Clone)]
pub(super) struct Fake {
    answer: Arc<dyn Fn(&Value) -> Value + Send + Sync>,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fake")
    }
}

impl Rules for Fake {
    fn send(&self, request: Request) -> Pending<Result<Answer, RulesFailure>> {
        Box::pin(std::future::ready(self.ask(request)))
    }

    fn ask(&self, request: Request) -> Result<Answer, RulesFailure> {
        let asked = request;
        let request = serde_json::to_value(&asked).unwrap();
        let mut answer = (self.answer)(&request);
        self.asked.lock().unwrap().push(request);
        answer["id"] = 1.into();
        let read = read_answer(answer.to_string().as_bytes()).map_err(RulesFailure)?;
        check_answer(&asked, &read.message).map(|()| read.message)
    }
}

pub(super) fn described() -> Value {
    json!({
        "type": "described", "name": "nim", "title": "Nim", "summary": "Take the last one.", "seats": [2],
        "setup": [{ "name": "heap", "type": "integer", "min": 1, "max": 20, "default": 4 },
                  { "name": "dice", "type": "boolean", "default": false }],
        "actions": [{ "type": "take", "text": "{count}", "fields": [{ "name": "count", "type": "integer", "min": 1, "max": 9 }],
                      "example": { "type": "take", "count": 2 } }],
        "pieces": [{ "name": "one", "colour": "red" }, { "name": "two", "colour": "#102030" }],
        "reasons": [{ "name": "last", "text": "it took the last one" }],
        "score": null, "chance": true, "plies_max": 40
    })
}

/// The state is the heap, the seat to move and whether a die is to be rolled first.
fn ply(state: &Value) -> Value {
    let (heap, seat, rolls) =
        (state[0].as_i64().unwrap(), state[1].as_i64().unwrap(), state[2] == true);
    let turn = if heap <= 0 {
        let places = if seat == 0 { [2, 1] } else { [1, 2] };
        json!({ "over": { "places": places, "reason": "last" } })
    } else if rolls {
        json!({ "chance": { "weights": [1, 0, 2], "labels": ["a", "b", "c"] } })
    } else {
        json!({ "of": [seat] })
    };
    let actions: Vec<Value> =
        (1..=heap.min(3)).map(|count| json!({ "type": "take", "count": count })).collect();
    json!({ "state": state, "turn": turn, "actions": actions, "position": { "heap": heap },
            "view": { "text": "|".repeat(usize::try_from(heap.max(0)).unwrap()) } })
}

pub(super) fn nim(request: &Value) -> Value {
    if request["type"] == "describe" {
        return described();
    }
    let mut state = if let Some(setup) = request.get("setup") {
        json!([setup["heap"], 0, setup["dice"]])
    } else {
        request["state"].clone()
    };
    let (mut plies, mut recorded) = (vec![ply(&state)], Vec::new());
    for (index, step) in request["moves"].as_array().unwrap().iter().enumerate() {
        let refused = |rule: &str| json!({ "type": "refused", "move": index, "kind": "illegal", "rule": rule });
        if step.get("draw").is_some() {
            state[2] = false.into();
            recorded.push(Value::Null);
        } else {
            let count = step["action"]["count"].as_i64().unwrap();
            let heap = state[0].as_i64().unwrap();
            match count {
                9 => return json!({ "type": "failed", "text": "nine" }),
                count if count > heap.min(3) => return refused("there are not so many"),
                count => {
                    state = json!([heap - count, 1 - state[1].as_i64().unwrap(), false]);
                    recorded.push(step["action"].clone());
                }
            }
        }
        plies.push(ply(&state));
    }
    if request["at"] == "end" {
        plies = vec![plies.pop().unwrap()];
    }
    let mut walked = json!({ "type": "walked", "recorded": recorded, "plies": plies });
    if request.get("setup").is_some() {
        walked["seats"] = json!(["one", "two"]);
    }
    walked
}

pub(super) fn load(
    answer: impl Fn(&Value) -> Value + Send + Sync + 'static,
) -> Result<(GameKind, Fake), String> {
    let rules = Fake { answer: Arc::new(answer), asked: Arc::default() };
    let program = Program::describe(
        Box::new(rules.clone()),
        ("nim", 1),
        PathBuf::from("nim"),
        "digest".to_owned(),
    );
    let program = program.map_err(|failure| failure.to_string())?;
    Ok((GameKind::of_program(Box::leak(Box::new(program))), rules))
}

fn start(setup: &Value) -> (Box<dyn AnyGame>, Fake) {
    let (kind, rules) = load(nim).unwrap();
    (kind.start(setup).unwrap(), rules)
}

fn take(count: i64) -> Value {
    json!({ "type": "take", "count": count })
}

#[test]
fn it_is_played_like_any_game() {
    let (mut game, _) = start(&json!({}));
    assert_eq!(game.setup(), json!({ "heap": 4, "dice": false }));
    assert_eq!(game.colours(), ["one", "two"]);
    assert_eq!(game.turn(), Turn::Of(Seat(0)));
    assert_eq!(game.actions().len(), 3);
    assert_eq!(game.format_action(&take(3)), "3");
    assert_eq!(game.parse_action(" 3 "), Ok(take(3)));
    assert_eq!(game.play(&take(3)), Ok(take(3)));
    assert_eq!((game.turn_number(), game.position()), (1, json!({ "heap": 1 })));
    assert_eq!(game.view().text, "|");
    assert!(
        matches!(game.play(&take(2)), Err(Refusal::Illegal(rule)) if rule.to_string() == "there are not so many")
    );
    assert_eq!(game.turn_number(), 1);
    game.play(&take(1)).unwrap();
    assert!(matches!(game.turn(), Turn::Over(outcome) if outcome.places == [2, 1]));
    assert!(matches!(game.play(&take(1)), Err(Refusal::Illegal(_))));
    assert_eq!(start(&json!({})).0.perft(2), Ok(3 + 3 + 1 - 1));
}

/// A count or planes that the rules fail to give are no zeros.
#[test]
fn what_the_rules_fail_to_give_is_an_error() {
    fn odd(request: &Value) -> Value {
        let heap = request["state"][0].as_i64();
        match heap {
            Some(3) if request["want"] == json!(["view"]) => {
                json!({ "type": "failed", "text": "no view" })
            }
            Some(2) => json!({ "type": "failed", "text": "two" }),
            _ => nim(request),
        }
    }
    let failed = |text: &str| RulesFailure(text.to_owned());
    let mut game = load(odd).unwrap().0.start(&json!({})).unwrap();
    assert_eq!(game.perft(1), Ok(3));
    assert_eq!(game.perft(3), Err(Refusal::Failed(failed("two"))));
    let planes = Planes::new(game.as_ref()).unwrap();
    game.play(&take(1)).unwrap();
    let mut out = vec![0.0; planes.len()];
    assert_eq!(planes.write(game.as_ref(), Seat(0), &mut out), Err(failed("no view")));
    assert_eq!(game.view().text, "the rules returned no picture of the board: no view");
    assert_eq!(game.failure(), None);
    assert_eq!(game.actions().len(), 3);
}

#[test]
fn a_game_begins_in_a_state() {
    let (mut game, _) = start(&json!({}));
    game.play(&take(1)).unwrap();
    let origin = game.origin();
    let (again, _) = start(&json!({ "heap": 9, "position": origin }));
    assert_eq!((again.turn(), again.position()), (Turn::Of(Seat(1)), json!({ "heap": 3 })));
    assert_eq!(again.setup()["position"], origin);
    // Rules need not know what another state means.
    let picky = |request: &Value| match &request["state"] {
        Value::String(_) => json!({ "type": "failed", "text": "no list" }),
        _ => nim(request),
    };
    let error = load(picky).unwrap().0.start(&json!({ "position": "x" })).unwrap_err();
    assert!(error.help.starts_with("`position` must be a state"), "{}", error.help);
}

#[test]
fn forms_are_checked_before_the_rules_are_asked() {
    let (game, rules) = start(&json!({}));
    let asked = rules.asked.lock().unwrap().len();
    for (action, why) in [
        (json!([]), "expected an object such as {\"count\":2,\"type\":\"take\"}"),
        (json!({ "count": 1 }), "missing field `type`"),
        (json!({ "type": "give", "count": 1 }), "unknown type `give`; known ones are `take`"),
        (json!({ "type": "take" }), "missing field `count`"),
        (json!({ "type": "take", "count": 10 }), "count: expected a whole number, 1 to 9, got 10"),
        (json!({ "type": "take", "count": 1, "of": 2 }), "unknown field `of`"),
    ] {
        let refused = game.clone_box().play(&action).unwrap_err();
        assert!(matches!(&refused, Refusal::Malformed(text) if text.starts_with(why)), "{refused}");
        assert_eq!(game.malformed(&action), Some(refused.to_string()));
    }
    assert_eq!(rules.asked.lock().unwrap().len(), asked);
    let (kind, _) = load(nim).unwrap();
    for (setup, why) in [
        (json!({ "heaps": 1 }), "unknown field `heaps`; did you mean `heap`?"),
        (json!({ "heap": 21 }), "heap: expected a whole number, 1 to 20"),
    ] {
        let refused = kind.start(&setup).unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
        assert!(!refused.rules_failed);
    }
}

#[test]
fn what_was_foreseen_is_not_asked_again() {
    let (mut game, rules) = start(&json!({ "heap": 6 }));
    let step = |seat, count| Move::Action { seat: Seat(seat), action: take(count) };
    game.foresee(vec![step(0, 1), step(1, 2), step(0, 3)]);
    let asked = || rules.asked.lock().unwrap().len();
    let before = asked();
    game.play(&take(1)).unwrap();
    game.play(&take(2)).unwrap();
    assert_eq!(asked(), before);
    // Another move than the one that was foreseen.
    let mut other = game.clone_box();
    other.play(&take(1)).unwrap();
    game.play(&take(1)).unwrap();
    assert_eq!(asked(), before + 2);
    assert_eq!(game.origin(), other.origin());
}

#[test]
fn points_are_written_by_their_names() {
    fn named(request: &Value) -> Value {
        let mut answer = nim(request);
        if request["type"] == "describe" {
            answer["labels"] = json!(["a7", "d7", "7"]);
            answer["actions"] = json!([{ "type": "move", "text": "{from}>{path}",
                "fields": [{ "name": "from", "type": "cell" }, { "name": "path", "type": "cells" }],
                "example": { "type": "move", "from": [0, 0], "path": [[1, 0], [2, 0]] } }]);
        }
        answer
    }
    let game = load(named).unwrap().0.start(&json!({})).unwrap();
    let action = json!({ "type": "move", "from": [2, 0], "path": [[1, 0], [0, 0]] });
    assert_eq!(game.format_action(&action), "7>d7-a7");
    assert_eq!(game.parse_action("7>d7-a7"), Ok(action));
    assert!(game.parse_action("b7>d7").is_err());
    // One that there isn't, as its coordinates.
    let off = json!({ "type": "move", "from": [3, 0], "path": [[0, 1]] });
    assert_eq!(game.format_action(&off), "3,0>0,1");
    assert_eq!(game.parse_action("3,0>0,1"), Ok(off));
}

/// A text that ends in a field which is left out has no blank at its end, as what people type.
#[test]
fn texts_have_no_blanks_around_them() {
    let (kind, _) = load(|request| {
        let mut answer = nim(request);
        if request["type"] == "describe" {
            let form = &mut answer["actions"][0];
            form["text"] = "take {count} to {how} {fast}".into();
            form["fields"] = json!([
                { "name": "count", "type": "integer", "min": 1, "max": 9 },
                { "name": "how", "type": "string", "max": 9, "optional": true },
                { "name": "fast", "type": "boolean", "optional": true }]);
        }
        answer
    })
    .unwrap();
    let game = kind.start(&json!({})).unwrap();
    for (action, text) in [
        (json!({ "type": "take", "count": 2, "how": "me", "fast": true }), "take 2 to me true"),
        (json!({ "type": "take", "count": 2, "how": "me" }), "take 2 to me"),
        (json!({ "type": "take", "count": 2, "fast": true }), "take 2 to  true"),
        (json!({ "type": "take", "count": 2 }), "take 2 to"),
    ] {
        assert_eq!(game.format_action(&action), text);
        for typed in [text.to_owned(), format!(" {text} ")] {
            assert_eq!(game.parse_action(&typed), Ok(action.clone()), "{typed:?}");
        }
    }
    for text in ["take 2", "take 2 t", "take 2 to me true x", ""] {
        assert!(game.parse_action(text).is_err(), "{text}");
    }
}

#[test]
fn draws_are_listed_and_counted() {
    let (mut game, _) = start(&json!({ "heap": 2, "dice": true }));
    let Turn::Chance(chance) = game.turn() else { panic!("{:?}", game.turn()) };
    assert_eq!((chance.label(2), chance.weights), ("c".to_owned(), vec![1, 0, 2]));
    // Two of three outcomes are possible; then one or two are taken.
    assert_eq!(game.perft(1), Ok(2));
    assert_eq!(game.perft(2), Ok(4));
    assert_eq!(game.draws(), 0);
    game.draw(2).unwrap();
    assert_eq!((game.draws(), game.turn_number(), game.turn()), (1, 0, Turn::Of(Seat(0))));
}

/// Rules that draw without end fail: nobody waits for them for ever.
#[test]
fn what_has_no_weight_is_not_drawn() {
    let (game, _) = start(&json!({ "dice": true }));
    let Turn::Chance(chance) = game.turn() else { panic!("{:?}", game.turn()) };
    assert_eq!((chance.find("c"), chance.find("0")), (Ok(2), Ok(0)));
    assert_eq!((chance.find("draw c"), chance.find("draw 0")), (Ok(2), Ok(0)));
    for text in ["b", "1", "3", "draw b"] {
        assert_eq!(
            chance.find(text).unwrap_err(),
            "the referee draws next, and the outcomes are a, c"
        );
    }
}

#[test]
fn draws_end() {
    fn endless(request: &Value) -> Value {
        if request["type"] == "describe" {
            let mut described = described();
            described["plies_max"] = u64::MAX.into();
            return described;
        }
        let moves = request["moves"].as_array().unwrap().len();
        let mut answer = json!({
            "type": "walked", "recorded": vec![Value::Null; moves], "plies": [ply(&json!([4, 0, true]))]
        });
        if request.get("setup").is_some() {
            answer["seats"] = json!(["one", "two"]);
        }
        answer
    }
    let (kind, rules) = load(endless).unwrap();
    // What is drawn ahead of a match.
    let mut started = kind.start_later(&json!({}), Arc::new(|_, _| 0));
    let polled = started.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(Ok(mut game)) = polled else { panic!("the rules answer at once") };
    assert!(rules.asked.lock().unwrap().len() < 1010);
    for draw in 0.. {
        if let Err(refusal) = game.draw(0) {
            let text = refusal.to_string();
            assert!(text.contains("more than 1000 draws follow each other"), "{draw}: {text}");
            assert_eq!(draw, 1000);
            break;
        }
    }
}

#[test]
fn a_description_is_bounded() {
    fn long(request: &Value) -> Value {
        let mut described = nim(request);
        described["summary"] = "x".repeat(1 << 20).into();
        described
    }
    let error = load(long).map(drop).unwrap_err();
    assert_eq!(error, "`described` is longer than 1048576 bytes");
}

#[test]
fn rules_that_fail_stay_failed() {
    let (mut game, _) = start(&json!({}));
    let refused = game.play(&take(9)).unwrap_err();
    assert!(
        matches!(&refused, Refusal::Failed(failure) if failure.to_string() == "nine"),
        "{refused}"
    );
    assert!(game.failure().is_some());
    assert!(matches!(game.play(&take(1)), Err(Refusal::Failed(_))));
}

/// A count of what could be played before they failed would look like the right one.
#[test]
fn rules_that_fail_are_not_counted() {
    let (kind, _) = load(|request| {
        if request["moves"][0]["action"]["count"] == 2 {
            return json!({ "type": "failed", "text": "two" });
        }
        nim(request)
    })
    .unwrap();
    let game = kind.start(&json!({})).unwrap();
    assert_eq!(game.perft(1).unwrap(), 3);
    assert_eq!(game.perft(2).unwrap_err().to_string(), "the rules failed: two");
}

#[test]
fn contradictions_in_a_description_are_named() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 12] = [
        (|it| it["labels"] = json!(["a1", "a1"]), "`labels`: \"a1\" is not 1 to 4 letters"),
        (|it| it["name"] = "mim".into(), "game.toml says `nim`, `described` says `mim`"),
        (|it| it["pieces"][0]["colour"] = "mauve".into(), "the piece `one` has the colour `mauve`"),
        (|it| it["setup"][0]["default"] = 0.into(), "the default of the setup field `heap`"),
        (|it| it["actions"][0]["example"]["count"] = 0.into(), "the example of `take`: count"),
        (|it| it["actions"][0]["text"] = "{number}".into(), "number"),
        (|it| it["setup"][0]["name"] = "position".into(), "a setup field is named `position`"),
        (|it| it["setup"][0]["name"] = "dice".into(), "two of the setup fields are named `dice`"),
        (|it| it["actions"][0]["fields"][0]["name"] = "type".into(), "is named `type`"),
        (|it| it["seats"] = json!([2, 3]), "needs an integer field `seats`"),
        (|it| it["seats"] = json!([]), "must list numbers from 1"),
        (|it| it["reasons"][0]["name"] = "".into(), "one of the reasons has no name"),
    ];
    for (index, (change, why)) in cases.into_iter().enumerate() {
        let mut described = described();
        change(&mut described);
        let error = load(move |_| described.clone()).err().unwrap();
        assert!(error.contains(why), "{index}: {error}");
    }
}

fn over(places: &[u32], reason: &str) -> Value {
    json!({ "over": { "places": places, "reason": reason } })
}

#[test]
fn a_retired_seat_is_not_to_move() {
    fn unmoved(request: &Value) -> Value {
        let retires = request["moves"]
            .as_array()
            .is_some_and(|it| it.iter().any(|it| it.get("retire").is_some()));
        if !retires {
            return nim(request);
        }
        json!({ "type": "walked", "recorded": [null], "plies": [ply(&request["state"])] })
    }
    let (kind, _) = load(unmoved).unwrap();
    let mut game = kind.start(&json!({})).unwrap();
    game.retire(Seat(0));
    assert!(game.failure().unwrap().to_string().contains("seat 0's turn, which was retired"));
}

#[test]
fn answers_that_break_the_contract_are_failures() {
    fn changed(request: &Value, change: fn(&mut Value)) -> Value {
        let mut answer = nim(request);
        if request["type"] == "walk" {
            change(&mut answer);
        }
        answer
    }
    for (answer, why) in [
        (
            (|it| changed(it, |it| it["plies"] = json!([]))) as fn(&Value) -> Value,
            "`walked` needs 1 entries in `plies`, not 0",
        ),
        (
            |it| changed(it, |it| it["seats"] = json!(["one"])),
            "`walked` has 1 `seats`, and `described` [2]",
        ),
        (
            |it| changed(it, |it| it["seats"] = json!(["one", "three"])),
            "the piece `three` is not described",
        ),
        (
            |it| changed(it, |it| it["recorded"] = json!([1])),
            "needs 0 entries in `recorded`, not 1",
        ),
        (|it| changed(it, |it| it["plies"][0]["state"] = Value::Null), "`state` is null"),
        (
            |it| changed(it, |it| it["plies"][0]["turn"] = json!({ "of": [0, 1] })),
            "several seats are to move, but `simultaneous`",
        ),
        (
            |it| changed(it, |it| it["plies"][0]["turn"] = json!({ "chance": { "weights": [0] } })),
            "not all may be 0",
        ),
        (
            |it| changed(it, |it| it["plies"][0]["turn"] = json!({ "of": [2] })),
            "it is seat 2's turn, in a game of 2 seats",
        ),
        (|it| changed(it, |it| it["plies"][0]["actions"] = json!([])), "but `actions` is empty"),
        (|it| changed(it, |it| it["plies"][0]["actions"] = Value::Null), "but `actions` is null"),
        (|it| changed(it, |it| it["plies"][0]["position"] = json!([4])), "`position` is [4], not"),
        (|it| changed(it, |it| it["plies"][0]["turn"] = over(&[1, 3], "last")), "not a ranking"),
        (|it| changed(it, |it| it["plies"][0]["turn"] = over(&[], "last")), "not a ranking"),
        (
            |it| changed(it, |it| it["plies"][0]["turn"] = over(&[1, 2], "luck")),
            "`luck` is not declared",
        ),
        (
            |it| {
                changed(it, |it| {
                    it["plies"][0]["turn"] = over(&[1, 2], "last");
                    it["plies"][0]["turn"]["over"]["scores"] = json!([1, 0]);
                })
            },
            "but none are declared",
        ),
    ] {
        let (kind, _) = load(answer).unwrap();
        let error = kind.start(&json!({})).unwrap_err();
        assert!(error.rules_failed && error.to_string().contains(why), "{error}");
    }
}

/// What agents get is checked at every ply of a match, which is asked ahead.
#[test]
fn what_agents_get_is_checked_before_they_are_asked() {
    for part in ["actions", "position"] {
        static PART: Mutex<&str> = Mutex::new("");
        *PART.lock().unwrap() = part;
        let answer = |request: &Value| {
            let mut answer = nim(request);
            if request["moves"].as_array().is_some_and(|moves| !moves.is_empty()) {
                answer["plies"][0][*PART.lock().unwrap()] = Value::Null;
            }
            answer
        };
        let mut game = load(answer).unwrap().0.start(&json!({})).unwrap();
        let drawer: Drawer = Arc::new(|_, _| 0);
        let mut ahead = game.prepare(&take(1), &drawer).unwrap();
        let polled = ahead.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_ready());
        let refused = game.play(&take(1)).unwrap_err();
        assert!(matches!(&refused, Refusal::Failed(it) if it.0.contains(part)), "{refused}");
    }
}

/// Asks for all that a match and its viewers ask for. Fails as the rules do.
fn asked_everything(kind: GameKind) -> Result<(), RulesFailure> {
    let failed = |refusal: Refusal| match refusal {
        Refusal::Failed(failure) => failure,
        refusal => panic!("an agent is blamed: {refusal}"),
    };
    let game = kind.start(&json!({ "dice": true }));
    let mut game = game.map_err(|error| {
        assert!(error.rules_failed, "the setup is blamed: {error}");
        RulesFailure(error.to_string())
    })?;
    game.draw(0).map_err(failed)?;
    game.view_or_failure()?;
    game.position();
    game.failure().map_or(Ok(()), |failure| Err(failure.clone()))?;
    game.perft(2).map_err(failed)?;
    game.foresee(vec![Move::Action { seat: Seat(0), action: take(1) }]);
    game.play(&take(1)).map_err(failed)?;
    game.retire(Seat(0));
    game.failure().map_or(Ok(()), |failure| Err(failure.clone()))
}

/// Each damage at each request is a failure of the rules, but where nothing depends on the answer.
#[test]
fn no_damage_is_blamed_on_an_agent() {
    type Damage = fn(&mut Value);
    let damages: [Damage; 8] = [
        |it| it["more"] = 1.into(),
        |it| it["plies"] = json!([]),
        |it| it["type"] = "walking".into(),
        |it| *it = described(),
        |it| *it = json!({ "type": "failed", "text": "no" }),
        |it| *it = json!({ "type": "refused", "move": 9, "kind": "illegal", "rule": "no" }),
        |it| it["plies"][0]["state"] = Value::Null,
        |it| it["recorded"] = json!([1, 2]),
    ];
    let retiring = |request: &Value| {
        let mut request = request.clone();
        let moves = request["moves"].as_array_mut().into_iter().flatten();
        let leaves = moves.filter(|step| step.get("retire").is_some());
        // The function knows no seats that leave.
        leaves.for_each(|step| *step = json!({ "draw": 0 }));
        nim(&request)
    };
    let (kind, fake) = load(retiring).unwrap();
    assert_eq!(asked_everything(kind), Ok(()));
    let requests = fake.asked.lock().unwrap().len();
    assert!(requests > 8, "{requests}");
    for (index, damage) in damages.into_iter().enumerate() {
        for number in 1..requests {
            let asked = AtomicUsize::new(0);
            let answer = move |request: &Value| {
                let mut answer = retiring(request);
                if asked.fetch_add(1, Ordering::Relaxed) == number {
                    damage(&mut answer);
                }
                answer
            };
            let (kind, fake) = load(answer).unwrap();
            let played = asked_everything(kind);
            let request = fake.asked.lock().unwrap()[number].clone();
            // What is foreseen is asked again.
            assert_eq!(played.is_err(), request["at"] == "end", "damage {index} of {request}");
        }
    }
}

/// A walk is read as strictly as every other answer, and nothing else may be as long.
#[test]
fn answers_are_read_strictly_and_within_bounds() {
    let request = json!({ "setup": { "heap": 4, "dice": false }, "moves": [], "at": "end" });
    let mut answer = nim(&request);
    answer["id"] = 7.into();
    let read = read_answer(answer.to_string().as_bytes()).unwrap();
    assert_eq!(read.id, Some(7));
    assert_eq!(read.message, serde_json::from_value(nim(&request)).unwrap());
    let failed = |answer: &Value| {
        let read = read_answer(answer.to_string().as_bytes());
        read.map(drop).unwrap_err()
    };
    for (pointer, value, why) in [
        ("/pliez", json!([]), "unknown field `pliez`"),
        (
            "/plies/0/estimate",
            json!([0.5]),
            "plies[0].estimate[0]: expected a whole number, got 0.5",
        ),
        ("/plies/0/turn", json!({ "of": 2 }), "plies[0].turn.of: expected a list, got 2"),
        ("/id", json!("7"), "id: expected a whole number from 0, got \"7\""),
    ] {
        let mut answer = answer.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        answer.pointer_mut(parent).unwrap()[key] = value;
        assert!(failed(&answer).starts_with(why), "{}", failed(&answer));
    }
    let mut described = described();
    described["pieces"][1] = json!({ "name": "two" });
    assert_eq!(failed(&described), "pieces[1]: missing field `colour`");
    let long = "x".repeat(3 << 20);
    let refused = json!({ "id": 1, "type": "refused", "kind": "illegal", "rule": long });
    assert!(failed(&refused).contains("only `walked` may be longer than 2097152 bytes"));
}

/// Nothing depends on a picture, so that a wrong one is no failure of the answer.
#[test]
fn a_wrong_view_leaves_the_rest_readable() {
    let (kind, _) = load(|request| {
        let mut answer = nim(request);
        if answer["type"] == "walked" {
            answer["plies"][0]["view"] = json!({ "shape": { "grid": [3, 3] }, "last": [2] });
        }
        answer
    })
    .unwrap();
    let game = kind.start(&json!({})).unwrap();
    let wrong = RulesFailure("last[0]: expected a list of 2 entries, got 2".to_owned());
    assert_eq!(game.view_or_failure().map(drop), Err(wrong));
    assert_eq!((game.actions().len(), game.failure()), (3, None));
}

/// Where the rules don't list what is legal, some guesses are.
#[test]
fn guesses_are_actions_of_the_declared_forms() {
    let (game, _) = start(&json!({}));
    let program = game.kind().program().unwrap();
    let mut number = 0;
    let mut below = |bound| {
        number += 1;
        number % bound
    };
    let guesses: Vec<Value> = (0..40).map(|_| program.guess(&[], &[], &mut below)).collect();
    assert!(guesses.iter().all(|guess| game.malformed(guess).is_none()), "{guesses:?}");
    assert!(guesses.iter().any(|guess| game.clone_box().play(guess).is_ok()));
}

#[test]
fn records_are_read_by_the_rules_that_they_name() {
    let (kind, _) = load(nim).unwrap();
    let record = kind.program().unwrap().record().clone();
    let games = Games::default().with([("./nim".to_owned(), kind)]);
    assert!(games.of_record("nim", Some(&record)).is_ok());
    assert_eq!(games.find("./nim").unwrap().name, "nim");
    assert!(games.find("hex").is_some());
    let other =
        referee_protocol::GameProgramRecord { digest: "other".to_owned(), ..record.clone() };
    assert!(matches!(games.of_record("nim", Some(&other)), Err(NoRules::Other(_))));
    assert!(matches!(
        Games::default().of_record("nim", Some(&record)),
        Err(NoRules::NotAvailable(_))
    ));
    assert!(matches!(games.of_record("nim", None), Err(NoRules::Unknown(_))));
    let reason = |code| referee_games::reason_text("nim", Some(&record), &json!({}), code);
    assert_eq!(reason("last").as_deref(), Some("it took the last one"));
    assert_eq!(reason("first"), None);
}
