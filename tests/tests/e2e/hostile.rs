//! Agents that break the protocol in every way that anyone has thought of, as a table: what each
//! does, and the fault that it gets for it. The other one plays on; nothing of them is left.

use crate::support::{AMPLE, Place, scripted};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Plays hex 3x3 against `@first`.
struct Row {
    /// The mode of agents/hostile.py, with its argument.
    mode: &'static str,
    /// Its seat; the first is asked first.
    seat: usize,
    /// Options of `play`.
    options: &'static [&'static str],
    /// Its fault, and some words of what is said of it; `None` if it plays to the end.
    fault: Option<(&'static str, &'static str)>,
}

const fn row(mode: &'static str, kind: &'static str, words: &'static str) -> Row {
    Row { mode, seat: 0, options: &AMPLE, fault: Some((kind, words)) }
}

const fn fine(mode: &'static str) -> Row {
    Row { mode, seat: 0, options: &AMPLE, fault: None }
}

const GOOD: &[Row] = &[
    fine("good"),
    fine("without-turn"),
    fine("crlf"),
    fine("byte-by-byte"),
    fine("nests 30"),
    Row { options: &["--limit", "line_bytes=200"], ..fine("pads 200") },
    Row { options: &["--limit", "turn_bytes=201"], ..fine("pads 200") },
    fine("ready-with '{\"want\": [\"actions\", \"position\"], \"version\": \"1\"}'"),
    fine("exits-after-over 5"),
    fine("lingers"),
];

const START: &[Row] = &[
    row("exits-at-start 7", "start", "ended with exit status 7 before it said `ready`"),
    // The other one has to be ready within it.
    Row {
        options: &["--start-time", "15s"],
        ..row("never-ready", "start", "gave no `ready` within 15000 ms")
    },
    row("ready-with '{\"nmae\": \"x\"}'", "garbled", "unknown field `nmae`"),
    row("ready-with '{\"want\": [\"moves\"]}'", "garbled", "unknown variant `moves`"),
    row("ready-with '{\"type\": \"hello\"}'", "garbled", "unknown type"),
    row("ready-twice", "unasked", "a second `ready`"),
];

const LINES: &[Row] = &[
    row("says hello", "garbled", "expected value"),
    row("says '[]'", "garbled", "a message is a JSON object"),
    row("says '{}'", "garbled", "missing field `type`"),
    row(r#"says '\xef\xbb\xbf{"type":"resign"}'"#, "garbled", "byte-order mark"),
    row(r#"says '{"type":"info","text":"\x00"}'"#, "garbled", "control character"),
    row(r#"says '{"type":"info","text":"\xff"}'"#, "garbled", "invalid UTF-8"),
    row(r#"says '{"type":"resign","turn":0,"turn":0}'"#, "garbled", "duplicate key \"turn\""),
    row(r#"says '{"type":"resign"} {}'"#, "garbled", "trailing"),
    row("nests 5000", "garbled", "nested deeper than 32"),
    row("action-with '{\"trun\": 0}'", "garbled", "unknown field `trun`"),
    row("action-with '{\"action\": {\"type\": \"grow\"}}'", "garbled", "action:"),
    row(
        "action-with '{\"action\": {\"type\": \"place\", \"at\": [0, 0, 0]}}'",
        "garbled",
        "action:",
    ),
    row("action-with '{\"action\": {\"type\": \"place\", \"at\": [9, 9]}}'", "illegal", "board"),
    row("answers-twice", "unasked", "when it wasn't asked"),
    row("turn-off-by -2", "unasked", "for turn 0 in turn 2"),
    row("turn-off-by 2", "unasked", "for turn 4 in turn 2"),
    Row {
        seat: 1,
        ..row("ready-then '{\"type\":\"info\"}'", "unasked", "`info` outside its own turn")
    },
    Row {
        seat: 1,
        ..row(
            "ready-then '{\"type\":\"action\",\"action\":{\"type\":\"place\",\"at\":[0,0]}}'",
            "unasked",
            "`action`",
        )
    },
    row(r#"says '{"type":"resign"}'"#, "resigned", "resigned"),
];

const BOUNDS: &[Row] = &[
    row("endless-line", "flood", "longer than 65536 bytes"),
    Row {
        options: &["--limit", "line_bytes=200"],
        ..row("pads 201", "flood", "longer than 200 bytes")
    },
    Row {
        options: &["--limit", "turn_bytes=2000"],
        ..row("much-info", "flood", "more than 2000 bytes of output in turn 0")
    },
    Row {
        options: &["--limit", "match_bytes=1000"],
        ..row("pads 900", "flood", "more than 1000 bytes of output in the match")
    },
    Row { options: &["--move-time", "1s"], ..row("sleeps 30", "late", "1000 ms were allowed") },
    Row { options: &["--move-time", "1s"], ..row("never-reads", "late", "1000 ms were allowed") },
    Row {
        options: &["--cpu", "--move-time", "500ms", "--backstop", "5m"],
        ..row("burning-child", "late", "of CPU time; 500 ms were allowed")
    },
];

const EXITS: &[Row] = &[
    // How it ended may come after the other one's answer, which ends the waiting for it.
    row("without-end", "gone", ""),
    row("exits 3", "gone", "exit status 3"),
    row("kills-itself 9", "gone", "signal 9 (SIGKILL)"),
    row("kills-itself 11", "gone", "signal 11 (SIGSEGV)"),
    row("closes-stdin", "gone", "closed its stdin"),
    row("closes-stdout", "gone", "closed its stdout"),
];

#[test]
fn odd_but_allowed() {
    play_all(GOOD);
}

#[test]
fn faults_at_the_start() {
    play_all(START);
}

#[test]
fn faults_of_lines() {
    play_all(LINES);
}

#[test]
fn faults_of_measure() {
    play_all(BOUNDS);
}

#[test]
fn faults_of_ends() {
    play_all(EXITS);
}

fn play_all(rows: &[Row]) {
    for row in rows {
        let place = Place::new();
        let Some(agent) = scripted("hostile.py", row.mode) else { return };
        let told = play(&place, row, &agent);
        let (verdict, mode) = (&told["verdict"], row.mode);
        let other = 1 - row.seat;
        assert_eq!(verdict["seats"][other]["fault"], Value::Null, "{mode}: {verdict}");
        let fault = &verdict["seats"][row.seat]["fault"];
        match row.fault {
            None => {
                assert_eq!(*fault, Value::Null, "{mode}: {verdict}");
                assert_eq!(verdict["result"], "played", "{mode}: {verdict}");
            }
            Some((kind, words)) => {
                assert_eq!(fault["kind"], kind, "{mode}: {verdict}");
                assert!(fault["text"].as_str().unwrap().contains(words), "{mode}: {verdict}");
                assert_eq!(verdict["places"][other], 1, "{mode}: {verdict}");
            }
        }
        assert_eq!(place.verified("x.jsonl"), "ok", "{mode}");
        place.assert_tidy();
    }
}

fn play(place: &Place, row: &Row, agent: &str) -> Value {
    let mut seats = ["@first", "@first"];
    seats[row.seat] = agent;
    let words = ["hex", "--setup", "size=3", seats[0], seats[1], "--out", "x.jsonl"];
    let is_given = row.options.contains(&"--start-time");
    let start: &[&str] = if is_given { &[] } else { &["--start-time", "3m"] };
    place.play(&[&words, row.options, start].concat())
}

/// A puzzle's only agent is asked again as soon as it has answered, which must not turn a second
/// answer into the next one.
#[test]
fn a_second_answer_is_no_answer_to_the_next_turn() {
    let place = Place::new();
    let Some(agent) = scripted("hostile.py", "answers-twice") else { return };
    let told = place.play(&[&["peg-solitaire", agent.as_str()], &AMPLE[..]].concat());
    assert_eq!(told["verdict"]["seats"][0]["fault"]["kind"], "unasked", "{told}");
    assert_eq!(told["turns"], 1);
}

#[test]
fn an_answer_without_its_line_end_counts() {
    let place = Place::new();
    let Some(agent) = scripted("hostile.py", "without-end") else { return };
    let told = play(&place, &row("without-end", "gone", ""), &agent);
    assert_eq!(told["verdict"]["seats"][0]["turns"], 1, "{told}");
}

#[test]
fn a_slow_start_is_not_charged() {
    let place = Place::new();
    let Some(agent) = scripted("hostile.py", "starts-slowly 3") else { return };
    let begun = Instant::now();
    let told = play(&place, &fine(""), &agent);
    let whole = begun.elapsed();
    assert_eq!(told["verdict"]["result"], "played", "{told}");
    // Turns follow one another, and the start before them takes three seconds.
    let events = place.events("x.jsonl");
    let charged = events.iter().filter_map(|event| event["wall_ns"].as_u64()).sum();
    let charged = Duration::from_nanos(charged);
    assert!(charged + Duration::from_secs(3) <= whole, "{charged:?} of {whole:?}");
}

/// How the two end in a match of seat 0: status, and whether they had to be killed.
fn exits(agent: &str) -> [(Value, Value); 2] {
    let place = Place::new();
    play(&place, &fine(""), agent);
    let events = place.events("x.jsonl");
    [0, 1].map(|seat| {
        let exit = events.iter().find(|it| it["type"] == "exit" && it["seat"] == seat).unwrap();
        (exit["status"].clone(), exit["late"].clone())
    })
}

/// Who gets no core for a second is killed, too; so what is to come of itself comes of itself in one of
/// some matches.
const MATCHES: usize = 5;

#[test]
fn an_end_that_comes_late_is_noted_and_not_punished() {
    let Some(agent) = scripted("hostile.py", "lingers") else { return };
    assert!((0..MATCHES).any(|_| {
        let [lingering, other] = exits(&agent);
        assert_eq!(lingering, (json!("killed by the referee"), json!(true)));
        other == (json!("exit status 0"), Value::Null)
    }));
}

#[test]
fn how_an_agent_ends_after_the_match_is_only_recorded() {
    let Some(agent) = scripted("hostile.py", "exits-after-over 5") else { return };
    assert!((0..MATCHES).any(|_| exits(&agent)[0].0 == "exit status 5"));
}

#[test]
fn a_flood_of_complaints_is_kept_at_both_ends() {
    let place = Place::new();
    let Some(agent) = scripted("hostile.py", "noisy") else { return };
    let told = play(&place, &fine("noisy"), &agent);
    assert_eq!(told["verdict"]["result"], "played");
    let events = place.events("x.jsonl");
    let of_agent = |it: &&Value| it["type"] == "stderr" && it["seat"] == 0;
    let pieces: Vec<&Value> = events.iter().filter(of_agent).collect();
    let text: String = pieces.iter().map(|piece| piece["text"].as_str().unwrap()).collect();
    assert!(text.starts_with("the head\nzzz"), "{:?}", &text[..20]);
    assert!(text.ends_with("zzz\nthe tail\n") || text.ends_with("zzzthe tail\n"));
    let dropped: u64 = pieces.iter().filter_map(|piece| piece["dropped_bytes"].as_u64()).sum();
    assert_eq!(text.len(), 2 * 65_536);
    assert_eq!(text.len() as u64 + dropped, 50_000_018);
}

#[test]
fn programs_that_are_none() {
    let rows = [
        ("plain.txt", "just text\n", false, "it is not executable: `chmod +x` it"),
        ("text", "just text\n", true, "it is no program"),
        ("lost", "#!/no/such/interpreter\n", true, "the interpreter in its first line"),
    ];
    for (name, text, executable, words) in rows {
        let place = Place::new();
        if executable {
            place.program(name, text)
        } else {
            place.write(name, text)
        };
        let agent = format!("./{name}");
        let told = place.play(&[&["hex", agent.as_str(), "@first"], &AMPLE[..]].concat());
        let fault = &told["verdict"]["seats"][0]["fault"];
        assert_eq!(fault["kind"], "start", "{name}: {told}");
        assert!(fault["text"].as_str().unwrap().contains(words), "{name}: {told}");
        place.assert_tidy();
    }
}

#[test]
fn a_program_that_does_not_exist_is_a_slip_of_whoever_named_it() {
    let place = Place::new();
    for (agent, words) in [
        ("./nobody", "no program `./nobody`"),
        ("nobody-at-all --fast", "none in PATH"),
        ("@randm", "did you mean @random?"),
    ] {
        place.run(&["play", "hex", agent, "@first"]).code(2).complains(words);
    }
    assert!(!place.path("matches").exists());
}
