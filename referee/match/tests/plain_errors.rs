//! No text about a malformed line has a term of Rust or of serde.

use referee_games::{GAMES, Refusal};
use referee_match::diagnosis::{Evidence, find};
use referee_protocol::{Fault, FaultKind, parse_from_agent};
use serde_json::{Value, json};

/// Terms that authors of agents don't know.
const TERMS: &[&str] = &[
    "enum",
    "struct",
    "variant",
    "i64",
    "u64",
    "u32",
    "u8",
    "f64",
    "usize",
    "ident",
    "tuple",
    "internally tagged",
    "sequence",
    "map,",
    "map with",
    "a map",
    "EOF",
    "serde",
    "Option",
    "newtype",
    "unit",
];

/// A value of every type, and some that are nearly right.
fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!("x"),
        json!([]),
        json!([0]),
        json!([0, 1, 2]),
        json!(["a", "b"]),
        json!([[0, 1], 5]),
        json!({}),
        json!({"x": 1}),
        json!(u64::MAX),
    ]
}

#[track_caller]
fn assert_plain(line: &str, text: &str) {
    let term = TERMS.iter().find(|term| text.contains(**term));
    assert_eq!(term, None, "{line}: {text}");
    let fault =
        Fault { kind: FaultKind::Garbled, by: None, turn: 0, text: text.to_owned(), legal: None };
    let evidence = Evidence { got: Some(line.as_bytes()), ..Evidence::default() };
    let finding = find(&fault, &evidence);
    let term = TERMS.iter().find(|term| finding.what.contains(**term));
    assert_eq!(term, None, "{line}: {}", finding.what);
}

#[test]
fn malformed_messages() {
    let mut lines: Vec<String> = [
        "x",
        "{",
        "[",
        "[1,",
        "\"",
        "{\"a",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":1}}",
        "{\"a\":tru}",
        "{\"a\":nul",
        "nul",
        "{\"a\":NaN}",
        "[1,]",
        "{\"a\":01}",
        "{\"a\":1e}",
        "{\"a\":-}",
        "{\"a\":1e999}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\u{1}\"}",
        "{\"a\":1,\"a\":2}",
        "\u{feff}{}",
        "{} {}",
        "null",
        "true",
        "1",
        "\"x\"",
        "[]",
        "{}",
        "{1:2}",
        "{\"a\" 1}",
        "[1 2]",
    ]
    .map(str::to_owned)
    .to_vec();
    lines.push("[".repeat(200));
    for value in values() {
        lines.push(json!({"type": value}).to_string());
        for (kind, fields) in [
            ("ready", &["name", "version", "want", "other"][..]),
            ("action", &["turn", "other"]),
            ("resign", &["turn", "other"]),
        ] {
            for field in fields {
                let mut message = json!({"type": kind, "action": {}});
                if kind != "action" {
                    message.as_object_mut().unwrap().remove("action");
                }
                message[*field] = value.clone();
                lines.push(message.to_string());
            }
        }
        lines.push(json!({"type": "ready", "want": [value]}).to_string());
        lines.push(json!({"type": "action", "turn": value}).to_string());
    }
    let mut refused = 0;
    for line in lines {
        if let Err(error) = parse_from_agent(line.as_bytes()) {
            assert_plain(&line, &error.to_string());
            refused += 1;
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn malformed_actions_and_setups_of_every_game() {
    for kind in GAMES {
        let game = kind.start(&json!({})).unwrap();
        let about = kind.about();
        let mut actions = values();
        for value in values() {
            actions.push(json!({"type": value}));
            for example in about.actions.iter().map(|action| &action.example) {
                for field in example.as_object().unwrap().keys() {
                    let mut action = example.clone();
                    action[field] = value.clone();
                    actions.push(action.clone());
                    action.as_object_mut().unwrap().remove(field);
                    actions.push(action);
                }
                let mut action = example.clone();
                action["other"] = value.clone();
                actions.push(action);
            }
        }
        for action in actions {
            if let Err(Refusal::Malformed(text)) = game.clone_box().play(&action) {
                let line = json!({"type": "action", "action": action}).to_string();
                assert_plain(&line, &format!("action: {text}"));
            }
        }
        for field in about.setup.iter().map(|field| field.name).chain(["position"]) {
            for value in values() {
                if let Err(error) = kind.start(&json!({ field: value })) {
                    let text = error.to_string();
                    let term = TERMS.iter().find(|term| text.contains(**term));
                    assert_eq!(term, None, "{} {field} {value}: {text}", kind.name);
                }
            }
        }
    }
}
