//! The explanation of each fault.

use super::{AtEnd, Defect, Engine, Evidence, Hang, IllegalAction, Stage, Usage, Wait, find};
use referee_games::{AnyGame, kind};
use referee_protocol::{Fault, FaultKind};
use serde_json::{Value, json};
use std::time::Duration;

mod known_match;

fn game(name: &str, setup: &Value) -> Box<dyn AnyGame> {
    kind(name).unwrap().start(setup).unwrap()
}

/// An agent that has answered before.
const LATER: Evidence<'static> = Evidence {
    got: None,
    unended: b"",
    foreign: false,
    engine: None,
    has_kit: false,
    status: None,
    stderr: "",
    denied: None,
    game: None,
    used: None,
    stage: Stage::LaterTurn,
    illegal: &[],
    hang: None,
    transcript: None,
};

fn fault(kind: FaultKind, text: &str) -> Fault {
    Fault { kind, by: None, turn: 0, text: text.to_owned(), legal: None }
}

#[test]
fn a_garbled_line_has_a_place() {
    for (line, text, defect, place, words) in [
        ("thinking...", "", Defect::DebugText, "thinking", "not JSON"),
        ("42", "", Defect::DebugText, "42", "expected an object such as"),
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
            "turn: expected a whole number",
        ),
        (
            r#"{"type":"action","action":{"type":"place","at":[0,"b"]}}"#,
            "action: at[1]: expected a whole number, got \"b\"",
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
        let known = Evidence { got: Some(line.as_bytes()), ..Evidence::default() };
        let found = find(&fault(FaultKind::Garbled, text), &known);
        assert_eq!(found.defect, defect, "{line}: {}", found.what);
        assert!(found.what.contains(words), "{line}: {}", found.what);
        let at = found.at_byte.unwrap_or_else(|| panic!("{line}: no place"));
        assert!(line[at - 1..].starts_with(place), "{line}: byte {at}");
    }
}

#[test]
fn waiting_thinking_and_late_are_distinguished() {
    let late = fault(FaultKind::Late, "no answer after 900 ms; the limit is 500 ms per turn");
    let ms = Duration::from_millis;
    for (got, cpu, waited, asleep, defect) in [
        (None, 1, 0, false, Defect::Waiting),
        (None, 890, 0, false, Defect::Thinking),
        (None, 20, 800, false, Defect::Thinking),
        (None, 20, 800, true, Defect::Waiting),
        (Some(&b"{}"[..]), 890, 0, false, Defect::Late),
    ] {
        let (wall, cpu, waited) = (ms(900), ms(cpu), ms(waited));
        let used = Usage { wall, cpu, waited, asleep };
        let known = Evidence { got, used: Some(used), ..Evidence::default() };
        assert_eq!(find(&late, &known).defect, defect);
    }
}

#[test]
fn an_exit_is_judged_by_its_status() {
    for (kind, status, stderr, defect) in [
        (FaultKind::Gone, "exit status 1", "Traceback", Defect::Crash),
        (FaultKind::Gone, "signal 11 (SIGSEGV)", "", Defect::Crash),
        (FaultKind::Gone, "exit status 0", "", Defect::Gone),
        (FaultKind::Start, "exit status 127", "env: 'pyhton3': No such file", Defect::Interpreter),
    ] {
        let known = Evidence { status: Some(status), stderr, ..Evidence::default() };
        let found = find(&fault(kind, "ended"), &known);
        assert_eq!(found.defect, defect, "{status}");
        assert_eq!(found.fix.contains("debug FILE --wait"), status.contains("SIG"), "{status}");
    }
    for (status, words) in [
        ("exit status 1", "no error to stderr"),
        ("signal 11 (SIGSEGV)", "-fsanitize=address"),
        ("signal 14 (SIGALRM)", "`alarm`"),
        ("signal 8 (SIGFPE)", "test the divisor"),
    ] {
        let known = Evidence { status: Some(status), ..Evidence::default() };
        let fix = find(&fault(FaultKind::Gone, "ended"), &known).fix;
        assert!(fix.contains(words) && !fix.contains("read its stderr"), "{status}: {fix}");
    }
    let stderr = "terminate called after throwing an instance of 'Odd'\n  what():  odd\n";
    let known = Evidence { status: Some("signal 6 (SIGABRT)"), stderr, ..Evidence::default() };
    let found = find(&fault(FaultKind::Gone, "ended"), &known);
    assert!(found.fix.contains("catch throw"), "{}", found.fix);
    let text = "can't start `/a/bot.sh`: the interpreter in its first line, `#!/bin/bash\\r`, does not exist";
    let found = find(&fault(FaultKind::Start, text), &Evidence::default());
    assert!(found.fix.contains("line ends"), "{}", found.fix);
    let stderr = "/usr/bin/env: 'python3\\r': No such file or directory";
    let known = Evidence { status: Some("exit status 127"), stderr, ..Evidence::default() };
    let found = find(&fault(FaultKind::Start, "ended"), &known);
    assert!(found.fix.contains("line ends"), "{}", found.fix);
}

#[test]
fn an_illegal_action_has_a_nearest_legal_one() {
    let legal = Some(vec![json!({"type": "place", "at": [0, 1]}), json!({"type": "swap"})]);
    let fault = Fault { legal, ..fault(FaultKind::Illegal, "a1: the cell is taken") };
    let line = br#"{"type":"action","action":{"type":"place","at":[0,0]}}"#;
    let known = Evidence { got: Some(line), ..Evidence::default() };
    let found = find(&fault, &known);
    assert!(found.fix.contains(r#"{"at":[0,1],"type":"place"}"#), "{}", found.fix);
    assert_eq!(found.at_byte, Some(27));
    // Rules that list none still say which one is illegal.
    let known = Evidence { has_kit: true, ..known };
    let unlisted = find(&Fault { legal: Some(Vec::new()), ..fault }, &known);
    assert!(unlisted.fix.starts_with("the rules don't list what is legal"), "{}", unlisted.fix);
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
fn a_resignation_may_be_a_mistake() {
    let hex = game("hex", &json!({"size": 4}));
    let resigned = Fault { turn: 4, ..fault(FaultKind::Resigned, "resigned") };
    let first = Evidence { game: Some(&*hex), ..Evidence::default() };
    assert_eq!(find(&resigned, &first).what, "resigned without having played");
    let later = find(&resigned, &Evidence { stage: Stage::LaterTurn, ..first });
    assert_eq!(later.what, "resigned in turn 4 with 16 legal actions");
    assert!(later.fix.starts_with("if it isn't meant, "), "{}", later.fix);
}

#[test]
fn silence_is_explained_by_what_is_known() {
    let late = fault(FaultKind::Late, "no answer after 900 ms; the limit is 500 ms per turn");
    let unready = fault(FaultKind::Start, "sent no `ready` within 900 ms");
    let used = |cpu_ms| {
        let (wall, cpu) = (Duration::from_millis(900), Duration::from_millis(cpu_ms));
        Some(Usage { wall, cpu, ..Usage::default() })
    };
    let (idle, busy) = (used(1), used(880));
    let position = json!({"to_move": 0, "marbles": [[1], [2, 3, 4, 6, 61]], "turn": 0});
    let pass = game("chinese-checkers", &json!({"position": position}));
    let ended = Hang { at_end: Some(AtEnd::Ended), ..Hang::default() };
    let ended = Some(&ended);
    let first = Evidence { used: idle, ..Evidence::default() };
    let later = Evidence { stage: Stage::LaterTurn, ..first };
    for (fault, known, defect, words) in [
        (&unready, Evidence { used: busy, ..first }, Defect::SlowStart, "--start-time"),
        (&unready, first, Defect::Waiting, "flush stdout after every line"),
        (&late, Evidence { used: busy, ..first }, Defect::Thinking, "min(`left_ms`, `move_ms`)"),
        (&late, first, Defect::Waiting, "flush stdout after every line"),
        (&late, Evidence { hang: ended, ..first }, Defect::Waiting, "whose `type` is `turn`"),
        (&late, Evidence { hang: ended, ..later }, Defect::Waiting, "differs from those"),
        (
            &late,
            Evidence { hang: ended, game: Some(&*pass), ..later },
            Defect::Waiting,
            "its only legal action",
        ),
        (&late, Evidence { unended: b"{\"type\"", ..first }, Defect::NoLineEnd, "end every"),
        (&late, Evidence { stderr: "hm", ..later }, Defect::Waiting, "read its stderr; if"),
        (
            &late,
            Evidence { stderr: "/a/bot.sh: line 3: jqq: command not found\n", ..first },
            Defect::Waiting,
            "name of that command",
        ),
        (
            &late,
            Evidence { stderr: "{\"type\":\"resign\"}\n", ..first },
            Defect::Waiting,
            "write them to stdout",
        ),
    ] {
        let found = find(fault, &known);
        assert_eq!(found.defect, defect, "{known:?}: {found:?}");
        assert!(found.fix.contains(words), "{known:?}: {}", found.fix);
    }
}

/// What a process waits for, what it does at the end of its input, and its place in the source say why nothing comes.
#[test]
fn a_hang_is_explained_by_what_the_agent_waits_for() {
    let late = fault(FaultKind::Late, "no answer");
    let wait = |call| Wait::of(call, call == "read", call == "readv", true);
    let used = Some(Usage { wall: Duration::from_millis(900), asleep: true, ..Usage::default() });
    let sort = || Some("sort".to_owned());
    let wrote = || Some(AtEnd::Wrote(b"{}".to_vec()));
    let failed = || Some(AtEnd::Failed("EOFError (bot.py:9)".to_owned()));
    let usual = Hang { unread: Some(0), ..Hang::default() };
    for (call, hang, what, fix) in [
        (
            "nanosleep",
            Hang { place: Some("bot.py:9".to_owned()), ..usual.clone() },
            "has read its input, and sleeps in bot.py:9",
            "pause",
        ),
        (
            "nanosleep",
            Hang { unread: Some(70), ..usual.clone() },
            "has not read its input, and sleeps",
            "pause",
        ),
        ("futex", usual.clone(), "has read its input, and waits for a lock", "who holds the lock"),
        ("wait4", usual.clone(), "waits for a process that it started", "time limit"),
        (
            "readv",
            Hang { process: sort(), ..usual.clone() },
            "a process that it started (`sort`)",
            "close its input",
        ),
        (
            "nanosleep",
            Hang { process: sort(), ..usual.clone() },
            "sleeps (its process `sort`)",
            "pause",
        ),
        ("connect", usual.clone(), "waits for a network connection", "no network"),
        ("write", usual.clone(), "until somebody reads what it writes", "read what"),
        (
            "read",
            Hang { at_end: Some(AtEnd::Ended), ..usual.clone() },
            "has read its input, and waits for more",
            "branch that writes nothing",
        ),
        (
            "read",
            Hang { at_end: wrote(), ..usual.clone() },
            "only when its input was closed: {}",
            "a second read",
        ),
        (
            "select",
            Hang { at_end: wrote(), ..usual.clone() },
            "only when its input was closed: {}",
            "the buffer of the library",
        ),
        (
            "read",
            Hang { at_end: wrote(), process: sort(), ..usual.clone() },
            "`sort`, which it has started, reads its input; only when that was closed came {}",
            "let `sort` write each line at once",
        ),
        (
            "read",
            Hang { at_end: failed(), ..usual.clone() },
            "waits for another line, without which it fails: EOFError (bot.py:9)",
            "before you read the next line",
        ),
        (
            "epoll_wait",
            Hang { at_end: Some(AtEnd::Stays), ..usual.clone() },
            "for an event that doesn't come, even at the end",
            "a promise",
        ),
        (
            "read",
            Hang { at_end: Some(AtEnd::Stays), ..usual.clone() },
            "waits for more without an answer; at the end of its input it loops",
            "print_exc()",
        ),
        ("mmap", usual.clone(), "no answer", "differs from those"),
    ] {
        let hang = Hang { wait: wait(call), ..hang };
        let found = find(&late, &Evidence { used, hang: Some(&hang), ..LATER });
        assert_eq!(found.defect, Defect::Waiting, "{call}");
        assert!(found.what.contains(what), "{call}: {}", found.what);
        assert!(found.fix.contains(fix), "{call}: {}", found.fix);
        assert!(!found.fix.contains("flush stdout"), "{call}: {}", found.fix);
    }
    let hang = Hang { at_end: wrote(), wait: wait("read"), ..usual.clone() };
    let first = Evidence { used, hang: Some(&hang), stage: Stage::FirstTurn, ..LATER };
    assert!(find(&late, &first).fix.contains("flush stdout"));
    let busy =
        Usage { cpu: Duration::from_secs(1), wall: Duration::from_secs(1), ..Usage::default() };
    // What it started may have waited for a core, which `used` doesn't have.
    for (used, awake) in [(Some(busy), false), (used, true)] {
        let hang = Hang { awake, place: Some("bot.py:9".to_owned()), ..usual.clone() };
        let found = find(&late, &Evidence { used, hang: Some(&hang), ..LATER });
        assert!(found.what.ends_with("; it computes in bot.py:9"), "{}", found.what);
    }
}

/// The authors of engines for other programs know nothing of the referee's messages.
#[test]
fn advice_for_engines_is_not_about_the_protocol() {
    let busy =
        Usage { cpu: Duration::from_secs(1), wall: Duration::from_secs(1), ..Usage::default() };
    let known = Evidence { foreign: true, used: Some(busy), ..Evidence::default() };
    for (kind, text, words) in [
        (FaultKind::Memory, "used more than 512 MB", "--limit memory_mb="),
        (FaultKind::Start, "sent no `ready` within 900 ms", "--start-time"),
        (FaultKind::Garbled, "`genmove black` was answered `= z`", "docs/existing-agents.md"),
    ] {
        let found = find(&fault(kind, text), &known);
        assert!(found.fix.contains(words), "{kind:?}: {}", found.fix);
        assert!(!found.fix.contains("hello"), "{kind:?}: {}", found.fix);
    }
    // An engine that fails by itself at its start is to be sent its first command all the same.
    let hex = kind("hex").unwrap();
    let spoken = serde_json::from_value(json!({"name": "htp"})).unwrap();
    let engine = Engine::of(Some(&spoken), hex, "protocol_version\n");
    for (stderr, end, skips) in [
        ("", "exit status 1", true),
        ("hello\n", "exit status 1", true),
        ("Traceback\nModuleNotFoundError: No module named 'numpy'\n", "exit status 1", false),
        ("could not open '/srv/x/net.bin'\n", "exit status 1", false),
        ("could not open '/srv/x/net.bin'\n", "signal 11 (SIGSEGV)", true),
    ] {
        let fault = fault(FaultKind::Start, &format!("ended with {end} before `ready`"));
        let known = Evidence { engine, stderr, status: Some(end), stage: Stage::Start, ..known };
        let fix = find(&fault, &known).fix;
        assert_eq!(fix.contains("add `skip ="), skips, "{stderr}: {fix}");
    }
    let denied = Evidence { denied: Some("grant it"), ..known };
    let refused = fault(FaultKind::Garbled, "`boardsize 9` was answered `? Could not find 'x'`");
    assert_eq!(find(&refused, &denied).fix, "grant it");
    assert_ne!(find(&refused, &Evidence { foreign: false, ..denied }).fix, "grant it");
}

#[test]
fn a_line_that_is_nearly_a_message_is_repaired() {
    let place = r#"{"type":"action","action":{"at":[0,3],"type":"place"}}"#;
    let hex = game("hex", &json!({"size": 4}));
    let turn = Evidence { game: Some(&*hex), ..Evidence::default() };
    let start = Evidence { stage: Stage::Start, ..turn };
    let position = json!({"to_move": 0, "marbles": [[1], [2, 3, 4, 6, 61]], "turn": 0});
    let pass = game("chinese-checkers", &json!({"position": position}));
    for (line, known, meant) in [
        (r#"{"Type":"ACTION","Action":{"Type":"Place","At":[0,3]}}"#, turn, place),
        (r#"{"type":"place","at":[0,3]}"#, turn, place),
        (r#"{"type":"action","at":[0,3]}"#, turn, place),
        (r#"{"type":"action","action":{"type":"place","at":"d1"}}"#, turn, place),
        (r#"{"type"=>"action", "action"=>{"type"=>"place", "at"=>[0, 3]}}"#, turn, place),
        (r#"{"type":"action","action":{"at":[0,3]}}"#, turn, place),
        (r#"{"type":"action","action":{"type":"place","cell":[0,3]}}"#, turn, place),
        (r#"{"type":"action","move":[0,3]}"#, turn, place),
        (r#"{"type":"action","action":{"type":"place","at":["0","3"]}}"#, turn, place),
        (r#"{"type":"action","action":"d1"}"#, turn, place),
        (r#"{"type":"action","action":"{\"type\":\"place\",\"at\":[0,3]}"}"#, turn, place),
        ("{'type': 'action', 'action': {'type': 'place', 'at': (0, 3)}}", turn, place),
        (r#"{"type":"action","action":{"type":"place","at":[0,3],},}"#, turn, place),
        (r#"{"type":"action","action":{"type":"place","at":[0,3]}"#, turn, place),
        (r#"{type: "action", action: {type: "place", at: [0, 3]}}"#, turn, place),
        (r#"Your move: {"type":"action","action":{"type":"place","at":[0,3]}}"#, turn, place),
        ("[0, 3]", turn, place),
        (r#""{\"type\":\"action\",\"action\":{\"type\":\"place\",\"at\":[0,3]}}""#, turn, place),
        ("{type:action,action:{type:place,at:[0,3]}}", turn, place),
        ("[debug] {\"type\":\"action\",\"action\":{\"type\":\"place\",\"at\":[0,3]}}", turn, place),
        (
            r#"[{"type":"info","depth":1},{"type":"action","action":{"at":[0,3],"type":"place"}}]"#,
            turn,
            &format!(r#"{{"depth":1,"type":"info"}} and, on a line of its own, {place}"#),
        ),
        (r#"{"type":"action","action":3}"#, turn, place),
        ("{type:ready}", start, r#"{"type":"ready"}"#),
        ("type:ready want:[actions]", start, r#"{"type":"ready","want":["actions"]}"#),
        (r#"{"type":"ready","want":"actions"}"#, start, r#"{"type":"ready","want":["actions"]}"#),
        (r#"{"type":"ready","want":["action"]}"#, start, r#"{"type":"ready","want":["actions"]}"#),
        (
            r#"{"type":"action"}"#,
            Evidence { game: Some(&*pass), ..turn },
            r#"{"type":"action","action":{"type":"pass"}}"#,
        ),
        ("d1", turn, place),
        ("\"D1\"", turn, place),
        ("{'type': 'resign'}", turn, r#"{"type":"resign"}"#),
        ("READY", start, r#"{"type":"ready"}"#),
        ("{'type': 'Ready', 'again': True}", start, r#"{"again":true,"type":"ready"}"#),
        (
            r#"{"type":"action","action":{"type":"PLACE","at":["9","9"]}}"#,
            turn,
            r#"{"type":"action","action":{"at":[9,9],"type":"place"}}"#,
        ),
    ] {
        let known = Evidence { got: Some(line.as_bytes()), ..known };
        let found = find(&fault(FaultKind::Garbled, "garbled"), &known);
        assert!(found.fix.starts_with(&format!("write {meant}")), "{line}: {}", found.fix);
        assert!(!found.fix.contains("remove the field"), "{line}: {}", found.fix);
    }
    for (line, known) in [
        ("thinking about {the centre}", turn),
        ("evaluating 14 moves", turn),
        ("{", turn),
        ("{}", turn),
        ("{}", start),
        (r#"{"type":"ready","nmae":"x"}"#, start),
        (r#"{"type":"action","action":{"x":[0,3],"y":7}}"#, turn),
        (r#"{"type":"action","action":{"row":0,"column":3}}"#, turn),
        (r#"{"type":"action","action":{"at":[0,0]},"action":{"at":[0,1]}}"#, turn),
        (r#"{"type":"action","action":{"type":"place","at":[0,3]}}"#, start),
        ("", turn),
    ] {
        let known = Evidence { got: Some(line.as_bytes()), ..known };
        let found = find(&fault(FaultKind::Garbled, "garbled"), &known);
        assert!(!found.fix.starts_with("write {\"type\""), "{line}: {}", found.fix);
    }
}

#[test]
fn text_in_another_encoding_is_not_repaired() {
    let line = b"{\"type\":\"ready\",\"name\":\"Jos\xE9\"}";
    let known = Evidence { got: Some(line), stage: Stage::Start, ..Evidence::default() };
    let found = find(&fault(FaultKind::Garbled, "garbled"), &known);
    assert!(found.fix.starts_with("write UTF-8"), "{}", found.fix);
}

#[test]
fn what_no_message_can_mean_is_named() {
    for (line, what, fix) in [
        (&b"undefined"[..], "`undefined` is no message", "returns nothing"),
        (b"null", "`null` is no message", "returns nothing"),
        (b"[object Object]", "is no message", "JSON.stringify"),
        (b"{\0\"\0t\0y\0p\0e\0\"\0:\0", "this is UTF-16", "write UTF-8"),
        (b"[:moves, 117]", "not a message", "to stderr"),
        (b"[123 34 116]", "bytes, as Go prints them", "string(line)"),
        (b"> /a/bot.py(12)<module>()", "not a message", "`breakpoint()`"),
        (b"[INFO] best: {\"at\":[0,3],\"type\":\"place\"}", "not a message", "to stderr"),
        (b"type:action action:type:place", "not JSON", "its quotes are missing"),
        (b"b'{\"type\": \"ready\"}'", "not JSON", "prints bytes"),
        (b"{}", "missing field `type`", "`await` it"),
        (b"{\"type\":\"error\"}", "unknown type", "write errors"),
        (b"{type: action", "key must be a string", "its quotes are missing"),
        (b"\"{\\\"type\\\":\\\"resign\\\"}\"", "expected an object", "JSON twice"),
    ] {
        let known = Evidence { got: Some(line), ..Evidence::default() };
        let found = find(&fault(FaultKind::Garbled, "garbled"), &known);
        assert!(found.what.contains(what), "{}", found.what);
        assert!(found.fix.contains(fix), "{}", found.fix);
    }
}

#[test]
fn what_is_on_the_cells_of_an_illegal_action_is_said() {
    let mut hex = game("hex", &json!({"size": 4}));
    hex.play(&json!({"type": "place", "at": [0, 1]})).unwrap();
    hex.play(&json!({"type": "place", "at": [2, 2]})).unwrap();
    let found = |line: &str, text: &str| {
        let fault = Fault { legal: Some(hex.actions()), ..fault(FaultKind::Illegal, text) };
        let known =
            Evidence { got: Some(line.as_bytes()), game: Some(&*hex), ..Evidence::default() };
        find(&fault, &known)
    };
    let occupied =
        found(r#"{"type":"action","action":{"type":"place","at":[2,2]}}"#, "c3 is occupied");
    assert_eq!(occupied.what, "c3 is occupied; c3 has a red piece; you are black, seat 0",);
    let outside = found(
        r#"{"type":"action","action":{"type":"place","at":[4,1]}}"#,
        "[4,1] is off the board",
    );
    assert_eq!(outside.what, "[4,1] is off the board");
    assert_eq!(
        outside.fix,
        r#"its coordinates count from 1 instead of 0: {"at":[3,0],"type":"place"} is legal"#,
    );
}

#[test]
fn exchanged_coordinates_are_recognized() {
    let game = game("freckers", &json!({}));
    let legal = game.actions();
    let line = br#"{"type":"action","action":{"type":"move","from":[3,0],"to":[2,1]}}"#;
    let legal = Some(legal);
    let fault = Fault { legal, ..fault(FaultKind::Illegal, "red has no frog on [3,0]") };
    let known = Evidence { got: Some(line), game: Some(&*game), ..Evidence::default() };
    let found = find(&fault, &known);
    let meant = r#"{"from":[0,3],"to":[1,2],"type":"move"}"#;
    assert_eq!(found.fix, format!("its coordinates are exchanged: {meant} is legal"));
}

#[test]
fn a_wrong_type_of_action_is_recognized() {
    let mut chexers = game("chexers", &json!({}));
    chexers.play(&json!({"type": "move", "from": [-3, 0], "to": [-2, 0]})).unwrap();
    let green = chexers.actions().into_iter().find(|it| it["type"] == "move").unwrap();
    let mut wrong = green.clone();
    wrong["type"] = json!("jump");
    let line = json!({"type": "action", "action": wrong}).to_string();
    let fault = Fault { legal: Some(chexers.actions()), ..fault(FaultKind::Illegal, "no jump") };
    let known =
        Evidence { got: Some(line.as_bytes()), game: Some(&*chexers), ..Evidence::default() };
    let found = find(&fault, &known).fix;
    assert_eq!(found, format!("its `type` is that of another action: {green} is legal"));
}

/// An agent that moves another seat's piece doesn't mean a cell that happens to be legal, and what is wrong with one
/// action is wrong with all.
#[test]
fn a_change_counts_if_it_makes_all_illegal_actions_legal() {
    let freckers = game("freckers", &json!({}));
    let checkers = game("chinese-checkers", &json!({}));
    let found = |game: &dyn AnyGame, action: &str, text: &str, illegal: &[IllegalAction]| {
        let fault = Fault { legal: Some(game.actions()), ..fault(FaultKind::Illegal, text) };
        let line = format!("{{\"type\":\"action\",\"action\":{action}}}");
        let known = Evidence {
            got: Some(line.as_bytes()),
            game: Some(game),
            illegal,
            ..Evidence::default()
        };
        find(&fault, &known).fix
    };
    let swapped = r#"{"from":[3,0],"to":[2,1],"type":"move"}"#;
    let text = "red has no frog on [3,0]";
    assert!(found(&*freckers, swapped, text, &[]).starts_with("its coordinates are exchanged"));
    let other = json!({"type": "move", "from": [5, 5], "to": [6, 6]});
    let other =
        IllegalAction { game: freckers.clone_box(), action: other, text: "no frog".to_owned() };
    assert!(!found(&*freckers, swapped, text, &[other]).contains("exchanged"));
    let legal = checkers.actions()[0]["path"].clone();
    let (from, to) = (legal[0].as_i64().unwrap(), legal[1].as_i64().unwrap());
    let reversed = format!(r#"{{"type":"move","path":[{to},{from}]}}"#);
    let text = "seat 0 has no marble there";
    assert!(found(&*checkers, &reversed, text, &[]).starts_with("its `path` is reversed"));
    let later = r#"{"type":"move","from":[1,2],"directions":["LEFT"]}"#;
    let from_one = found(&*freckers, later, "red has no frog on 1,2", &[]);
    assert!(from_one.starts_with("its coordinates count from 1"), "{from_one}");
    let theirs = r#"{"from":[7,1],"to":[6,1],"type":"move"}"#;
    let found = found(&*freckers, theirs, "red has no frog on [7,1]", &[]);
    assert!(found.starts_with("move your own pieces: you are red, seat 0"), "{found}");
}

#[test]
fn advice_names_the_functions_of_the_kit() {
    let fault = fault(FaultKind::Illegal, "a1 is occupied");
    let plain = find(&fault, &Evidence::default());
    let with_kit = find(&fault, &Evidence { has_kit: true, ..Evidence::default() });
    assert!(
        plain.fix.contains("\"want\":[\"actions\"]") && with_kit.fix.contains("`game.actions()`")
    );
}

#[test]
fn what_a_worker_process_wrote_explains_why_no_answer_comes() {
    let stderr = "RuntimeError:\n        An attempt has been made to start a new process before the\n        current \
                  process has finished its bootstrapping phase.\n";
    let late =
        find(&fault(FaultKind::Late, "no answer"), &Evidence { stderr, ..Evidence::default() });
    assert!(late.fix.contains("__main__"), "{}", late.fix);
    let stderr = "/a/bot.sh: 3: [[: not found\n";
    let shell = super::waiting(&Evidence { stderr, ..Evidence::default() });
    assert!(shell.fix.contains("#!/bin/bash"), "{}", shell.fix);
}
