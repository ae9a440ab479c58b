//! Explanations that need the transcript of the match.

use super::super::{Evidence, Stage, find};
use super::{fault, game};
use crate::{header, transcript};
use referee_games::{AnyGame, Games, kind};
use referee_protocol::{Event, Fault, FaultKind, Ready, Seat};
use serde_json::{Value, json};

/// A match up to a request to its first seat.
struct Known {
    games: Games,
    bytes: Vec<u8>,
    game: Box<dyn AnyGame>,
}

impl Known {
    /// Plays the first legal actions for so many turns; all seats have asked for `want`.
    fn after(name: &str, setup: &Value, want: &Value, turns: u64) -> Self {
        let mut game = game(name, setup);
        let mut head = header(&*game);
        // So that no request has `left_ms`, which counts down.
        (head.clock.bank_ms, head.clock.increment_ms, head.clock.move_ms) = (None, 0, Some(1000));
        let ready = json!({"type": "ready", "want": want});
        let mut greetings = Vec::new();
        for seat in &mut head.seats {
            seat.name = "Jo Ann".to_owned();
            seat.ready = Some(serde_json::from_value::<Ready>(json!({"want": want})).unwrap());
            greetings.push(
                json!({"type": "line", "at_ns": 0, "seat": seat.seat, "line": ready.to_string()}),
            );
        }
        let mut lines = vec![serde_json::to_value(Event::Header(head.into())).unwrap()];
        lines.append(&mut greetings);
        let turn = |game: &dyn AnyGame| {
            let number = game.turn_number();
            let referee_games::Turn::Of(Seat(seat)) = game.turn() else { panic!("it is over") };
            (number, seat)
        };
        for at in 0..=turns {
            let (number, seat) = turn(&*game);
            lines.push(
                json!({"type": "turn", "at_ns": at, "turn": number, "seat": seat, "left_ms": null}),
            );
            if at < turns {
                let action = game.actions().swap_remove(0);
                let line = json!({"type": "action", "action": action}).to_string();
                lines.push(json!({"type": "line", "at_ns": at, "seat": seat, "line": line}));
                lines.push(json!({"type": "played", "at_ns": at, "turn": number, "seat": seat, "action": action,
                                  "used_ms": 0, "wall_ns": 0, "cpu_ns": 0}));
                game.play(&action).unwrap();
            }
        }
        let bytes = lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
        Self { games: Games::of([kind(name).unwrap()]), bytes, game }
    }

    /// A match of Hex before its first request.
    fn unasked() -> Self {
        let mut known = Self::after("hex", &json!({"size": 4}), &json!(["actions"]), 0);
        let last = known.bytes.trim_ascii_end().iter().rposition(|&byte| byte == b'\n').unwrap();
        known.bytes.truncate(last + 1);
        known
    }

    fn evidence(&self) -> Evidence<'_> {
        let transcript = Some((self.bytes.as_slice(), &self.games));
        Evidence {
            game: Some(&*self.game),
            transcript,
            stage: Stage::LaterTurn,
            ..Evidence::default()
        }
    }
}

#[test]
fn a_missing_field_that_was_asked_for_means_another_message() {
    let wanted = Known::after("chexers", &json!({}), &json!(["actions"]), 3);
    let status = Some("exit status 1");
    for (key, words) in
        [("actions", "3 `played` came before this `turn`"), ("position", "\"want\":[")]
    {
        let stderr = format!(
            "Traceback (most recent call last):\n  File \"/a/bot.py\", line 24\n    f(m[\"actions\"], m[\"position\"])\nKeyError: '{key}'\n"
        );
        let known = Evidence { status, stderr: &stderr, ..wanted.evidence() };
        let fix = find(&fault(FaultKind::Gone, "ended"), &known).fix;
        assert!(fix.contains(words), "{key}: {fix}");
        assert_eq!(fix.contains("is no `turn`"), key == "actions", "{fix}");
    }
}

#[test]
fn a_value_that_is_missing_in_what_was_asked_for_may_be_another_messages() {
    let wanted = Known::after("hex", &json!({"size": 4}), &json!(["actions"]), 2);
    let node = "/a/bot.js:2\n  const a = m.actions[0];\n\nTypeError: Cannot read properties of undefined (reading '0')\n    at \
                turn (/a/bot.js:2:12)\n";
    let known = Evidence { status: Some("exit status 1"), stderr: node, ..wanted.evidence() };
    let fix = find(&fault(FaultKind::Gone, "ended"), &known).fix;
    assert!(fix.starts_with("perhaps the message that it reads there is no `turn`"), "{fix}");
}

#[test]
fn one_that_ends_before_its_first_turn_may_not_read_hello() {
    let known = Known::after("hex", &json!({"size": 4}), &json!(["actions"]), 0);
    let first =
        Evidence { status: Some("exit status 1"), stderr: "bad message\n", ..known.evidence() };
    let first = Evidence { stage: Stage::FirstTurn, ..first };
    let ended = fault(FaultKind::Gone, "ended");
    let fix = find(&ended, &first).fix;
    assert!(
        fix.contains("name with a blank, \"Jo Ann\"") && fix.contains("else read its stderr"),
        "{fix}"
    );
    // The turn of a fault is not known if there was none.
    let known = Known::unasked();
    let start = Evidence { stage: Stage::Start, game: Some(&*known.game), ..first };
    let start = Evidence { transcript: Some((&known.bytes, &known.games)), ..start };
    assert!(find(&ended, &start).fix.starts_with("it ended before its first `turn`"));
    let fix = find(&ended, &Evidence { game: None, ..first }).fix;
    assert!(
        fix.starts_with("it ended before its first `turn`") && fix.contains("whole lines"),
        "{fix}"
    );
}

#[test]
fn an_illegal_action_is_compared_with_what_was_asked_for() {
    for (want, words) in [
        (json!(["actions"]), "with `actions` in"),
        (json!(["position"]), "with `position` in"),
        (json!([]), "ask for the legal actions"),
    ] {
        let known = Known::after("hex", &json!({"size": 4}), &want, 2);
        let line = br#"{"type":"action","action":{"type":"place","at":[0,1]}}"#;
        let legal = Some(known.game.actions());
        let illegal = Fault { legal, ..fault(FaultKind::Illegal, "no") };
        let fix = find(&illegal, &Evidence { got: Some(line), ..known.evidence() }).fix;
        assert!(fix.contains(words), "{want}: {fix}");
    }
}

#[test]
fn a_piece_that_has_left_a_numbered_cell_is_no_other_order() {
    let known = Known::after("chinese-checkers", &json!({}), &json!(["position"]), 2);
    let line = br#"{"type":"action","action":{"type":"move","path":[4,5]}}"#;
    let text = "4-5: seat 0 has no marble on 4";
    let fault = Fault { legal: Some(known.game.actions()), ..fault(FaultKind::Illegal, text) };
    let found = find(&fault, &Evidence { got: Some(line), ..known.evidence() });
    assert!(found.what.contains("4 is empty since your turn 0"), "{}", found.what);
    assert!(found.fix.starts_with("apply each `played`"), "{}", found.fix);
}

#[test]
fn a_broken_line_may_be_cut_from_what_was_not_asked_for() {
    let known = Known::after("hex", &json!({"size": 4}), &json!([]), 0);
    let line = br#"{"type":"action","action":urn","turn":0,"left_ms":9}"#;
    let known = Evidence { got: Some(line), stage: Stage::FirstTurn, ..known.evidence() };
    let fix = find(&fault(FaultKind::Garbled, "this is not JSON"), &known).fix;
    assert!(fix.starts_with("a `turn` has `actions`"), "{fix}");
}

#[test]
fn an_action_for_hello_may_answer_a_word_in_it() {
    let known = Known::unasked();
    let fault = fault(FaultKind::Unasked, "sent `action` before the first `turn`");
    let line = br#"{"type":"action","action":{"type":"pass"}}"#;
    let known = Evidence { got: Some(line), stage: Stage::Start, ..known.evidence() };
    let found = find(&fault, &known);
    assert!(found.fix.starts_with("answer `hello` with `ready`"), "{}", found.fix);
}

#[test]
fn an_answer_that_was_cut_with_its_request_shows_a_short_buffer() {
    let known = Known::after("hex", &json!({"size": 11}), &json!(["actions"]), 2);
    let mut reader = transcript::read(&known.bytes).unwrap();
    let events: Vec<Event> = reader.by_ref().collect();
    let input = transcript::sent(&reader.header, &known.games, Seat(0), &events, None).unwrap();
    let request = input.split_inclusive(|&byte| byte == b'\n').next_back().unwrap();
    for size in [2000, 2047, 2048] {
        let read = String::from_utf8(request[..size].to_vec()).unwrap();
        let last = &read[read.rfind("{\"at\"").unwrap()..];
        let line = format!("{{\"type\":\"action\",\"action\":{last}}}}}");
        let known = Evidence { got: Some(line.as_bytes()), ..known.evidence() };
        let found = find(&fault(FaultKind::Garbled, "garbled"), &known);
        let words = format!("the first {size} bytes");
        assert_eq!(found.fix.contains(&words), size != 2000, "{line}: {}", found.fix);
    }
}
