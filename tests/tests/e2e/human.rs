//! A person at the terminal, as a pipe.

use crate::support::{Place, Ran};
use serde_json::json;

fn play(place: &Place, input: &str) -> Ran {
    let words =
        ["play", "hex", "@human", "@first", "--setup", "size=3", "--json", "--out", "x.jsonl"];
    place.run_with_input(&words, input)
}

#[test]
fn typed_actions_are_played() {
    let place = Place::new();
    // Black joins the columns in row 2, while the other one fills row 1 from the left.
    let told = play(&place, "a2\nb2\n\nc2\n").code(0).json();
    assert_eq!(told["verdict"]["result"], "played", "{told}");
    assert_eq!(told["seats"][0]["name"], "human");
    let played = place.events_of("x.jsonl", "played");
    let own = played.iter().filter(|event| event["seat"] == 0).map(|it| &it["action"]["at"]);
    assert_eq!(own.collect::<Vec<_>>(), [&json!([1, 0]), &json!([1, 1]), &json!([1, 2])]);
    assert_eq!(place.verified("x.jsonl"), "ok");
}

#[test]
fn a_slip_is_told_and_asked_again() {
    let place = Place::new();
    let ran = play(&place, "zz\na9\n?\nb2\nb2\nresign\n").code(0);
    let ran = ran
        .complains("turn 0, your action")
        .complains("a1  b1  c1")
        .complains("turn 2, your action");
    let told = ran.json();
    assert_eq!(told["verdict"]["result"], "resigned", "{told}");
    assert_eq!(told["verdict"]["places"], json!([2, 1]));
    assert_eq!(told["turns"], 2);
    assert_eq!(told["verdict"]["seats"][0]["fault"]["kind"], "resigned");
    assert_eq!(ran.stderr.matches("your action").count(), 6, "{}", ran.stderr);
    assert_eq!(place.verified("x.jsonl"), "ok");
}

#[test]
fn who_hangs_up_is_gone() {
    let place = Place::new();
    let told = play(&place, "b2\n").code(0).json();
    assert_eq!(told["verdict"]["seats"][0]["fault"]["kind"], "gone", "{told}");
    assert_eq!(told["turns"], 2);
    assert_eq!(place.verified("x.jsonl"), "ok");
}

#[test]
fn there_is_one_terminal() {
    Place::new().run(&["play", "hex", "@human", "@human"]).code(2).complains("only one @human");
}
