//! Each fault and what is told of it.

use super::{Circumstances, Defect, Used, find};
use referee_protocol::{Fault, FaultKind};
use serde_json::json;
use std::time::Duration;

fn fault(kind: FaultKind, text: &str) -> Fault {
    Fault { kind, by: None, turn: 0, text: text.to_owned(), legal: None }
}

#[test]
fn a_garbled_line_is_told_with_its_place() {
    for (line, text, defect, place, told) in [
        ("thinking...", "", Defect::DebugText, "thinking", "expected"),
        ("42", "", Defect::DebugText, "42", "a message is a JSON object"),
        ("{'type': 'ready'}", "", Defect::BrokenJson, "'type'", "key must be a string"),
        (r#"{"type":"ready","nmae":"x"}"#, "", Defect::Shape, "\"nmae\"", "unknown field `nmae`"),
        (
            r#"{"type":"ready","want":["actions","moves"]}"#,
            "",
            Defect::Shape,
            "\"moves\"",
            "want[1]",
        ),
        (
            r#"{"type":"action","turn":"1","action":{}}"#,
            "",
            Defect::Shape,
            "\"1\"",
            "turn: invalid",
        ),
        (
            r#"{"type":"action","action":{"type":"place","at":[0,"b"]}}"#,
            "action: at[1]: invalid type: string \"b\", expected i64",
            Defect::Shape,
            "\"b\"",
            "at[1]",
        ),
        (
            r#"{"type":"action","action":{"type":"place","att":[0,0]}}"#,
            "action: unknown field `att`, expected `at`",
            Defect::Shape,
            "\"att\"",
            "`att`",
        ),
    ] {
        let known = Circumstances { got: Some(line.as_bytes()), ..Circumstances::default() };
        let found = find(&fault(FaultKind::Garbled, text), &known).expect(line);
        assert_eq!(found.defect, defect, "{line}: {}", found.what);
        assert!(found.what.contains(told), "{line}: {}", found.what);
        let at = found.at_byte.unwrap_or_else(|| panic!("{line}: no place"));
        assert!(line[at - 1..].starts_with(place), "{line}: byte {at}");
    }
}

#[test]
fn silence_is_told_from_thought_and_from_lateness() {
    let late = fault(FaultKind::Late, "no answer after 900 ms; 500 ms were allowed");
    let ms = Duration::from_millis;
    for (got, cpu, waited, defect) in [
        (None, 1, 0, Defect::Waiting),
        (None, 890, 0, Defect::Thinking),
        (None, 20, 800, Defect::Thinking),
        (Some(&b"{}"[..]), 890, 0, Defect::Late),
    ] {
        let used = Used { wall: ms(900), cpu: ms(cpu), waited: ms(waited) };
        let known = Circumstances { got, used: Some(used), ..Circumstances::default() };
        assert_eq!(find(&late, &known).expect("a defect").defect, defect);
    }
}

#[test]
fn an_end_is_told_by_its_status() {
    for (kind, status, stderr, defect) in [
        (FaultKind::Gone, "exit status 1", "Traceback", Defect::Crash),
        (FaultKind::Gone, "signal 11 (SIGSEGV)", "", Defect::Crash),
        (FaultKind::Gone, "exit status 0", "", Defect::Gone),
        (FaultKind::Start, "exit status 127", "env: 'pyhton3': No such file", Defect::Interpreter),
    ] {
        let known = Circumstances { status: Some(status), stderr, ..Circumstances::default() };
        let found = find(&fault(kind, "ended"), &known).expect(status);
        assert_eq!(found.defect, defect, "{status}");
    }
    let stderr = "/usr/bin/env: 'python3\\r': No such file or directory";
    let known =
        Circumstances { status: Some("exit status 127"), stderr, ..Circumstances::default() };
    let found = find(&fault(FaultKind::Start, "ended"), &known).expect("a defect");
    assert!(found.fix.contains("line ends"), "{}", found.fix);
}

#[test]
fn an_illegal_action_is_told_with_the_nearest_legal_one() {
    let legal = Some(vec![json!({"type": "place", "at": [0, 1]}), json!({"type": "swap"})]);
    let fault = Fault { legal, ..fault(FaultKind::Illegal, "a1: the cell is taken") };
    let line = br#"{"type":"action","action":{"type":"place","at":[0,0]}}"#;
    let known = Circumstances { got: Some(line), ..Circumstances::default() };
    let found = find(&fault, &known).expect("a defect");
    assert!(found.fix.contains(r#"{"at":[0,1],"type":"place"}"#), "{}", found.fix);
    assert_eq!(found.at_byte, Some(27));
}

#[test]
fn there_is_advice_on_every_defect() {
    let schema = serde_json::to_value(schemars::schema_for!(Defect)).unwrap();
    let names = schema["oneOf"].as_array().unwrap().iter().map(|defect| &defect["const"]);
    for name in names {
        let defect: Defect = serde_json::from_value(name.clone()).unwrap();
        assert!(!defect.why().is_empty() && !defect.fix().is_empty(), "{defect:?}");
    }
}

#[test]
fn a_resignation_is_no_defect() {
    assert_eq!(find(&fault(FaultKind::Resigned, "resigned"), &Circumstances::default()), None);
}
