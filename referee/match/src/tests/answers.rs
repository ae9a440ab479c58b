//! What agents say, and what is wrong with it.

use super::script::{Sheet, run};

/// Two seats are ready, and seat 0 thinks about its first stone.
const ASKED: &str = r#"
    hex {"size":3}
    clock {"bank_ms":100,"increment_ms":10}
    limits {"line_bytes":80,"turn_bytes":200,"match_bytes":1000}
    0ms * {"type":"ready"}
    1ms 0 asked
"#;

fn after_asked(rest: &str) -> String {
    format!("{ASKED}{rest}")
}

#[test]
fn a_match_is_played() {
    let mut sheet = Sheet::default();
    sheet.add(
        "a match is played",
        r#"
        hex {"size":3}
        clock {"bank_ms":100,"increment_ms":10}
        2ms 1 {"type":"ready","name":"two","want":["position","actions"]}
        3ms 0 stderr loading
        4ms 0 {"type":"ready","version":"1"}
        5ms 0 asked [cpu 70ms wait 2ms]
        25ms 0 {"type":"info","depth":3}
        30ms 0 {"type":"action","action":{"type":"place","at":[0,0]}} [cpu 90ms wait 5ms lag 1ms]
        31ms 1 asked
        31ms 1 blank
        32ms 1 {"type":"action","turn":1.0,"action":{"type":"place","at":[2,2]}}
        33ms 0 asked
        34ms 0 {"type":"action","turn":2,"action":{"type":"place","at":[0,1]}}
        35ms 1 asked
        36ms 1 {"type":"action","action":{"type":"place","at":[2,1]}}
        37ms 0 asked
        38ms 0 {"type":"action","action":{"type":"place","at":[0,2]}}
        39ms 1 {"type":"action","action":{"type":"place","at":[1,1]}}
        39ms 1 closed
        39ms 0 memory too much
        40ms 1 exited exit status 0
        41ms 0 stderr bye
        42ms 0 exited signal 11 (SIGSEGV)
        43ms - tick
        44ms - disk_full after all
        "#,
    );
    sheet.check("a_match_is_played");
}

#[test]
fn every_way_to_be_wrong() {
    let wrong = [
        // Garbled.
        "hello",
        "bytes",
        "[]",
        r#"{"type":"action","action":{"type":"place","at":[0,0],"at":[0,1]}}"#,
        r#"{"type":"action"}"#,
        r#"{"type":"move","action":{"type":"place","at":[0,0]}}"#,
        r#"{"type":"action","action":{"type":"place","at":[0,0]},"score":1}"#,
        r#"{"type":"action","action":{"type":"place"}}"#,
        r#"{"type":"action","action":{"type":"place","at":[0,0],"x":1}}"#,
        r#"{"type":"action","action":{"type":"place","at":[0,0.5]}}"#,
        r#"{"type":"action","action":{"type":"pass"}}"#,
        // Illegal.
        r#"{"type":"action","action":{"type":"place","at":[0,3]}}"#,
        r#"{"type":"action","action":{"type":"swap"}}"#,
        // Unasked.
        r#"{"type":"ready"}"#,
        r#"{"type":"action","turn":1,"action":{"type":"place","at":[0,0]}}"#,
        r#"{"type":"resign","turn":2}"#,
        // No fault, but the same effect.
        r#"{"type":"resign"}"#,
        r#"{"type":"resign","turn":0}"#,
        // Others.
        "memory 600 MiB of memory, 512 are allowed",
        "processes 129 processes, 128 are allowed",
        "exited signal 9 (SIGKILL)",
    ];
    let mut sheet = Sheet::default();
    for line in wrong {
        let whole = run(&after_asked(&format!("9ms 0 {line}")));
        let from = whole.find("9ms 0").expect("the line is in the log");
        sheet.push(&whole[from..]);
    }
    sheet.check("every_way_to_be_wrong");
}

#[test]
fn the_order_of_judging() {
    let mut sheet = Sheet::default();
    // Each line breaks all the rules from its own on.
    let bad = r#"{"type":"action","turn":9,"action":{"type":"place","at":[9,9]}}"#;
    let worse = r#"{"type":"action","turn":9,"action":{"type":"place"}}"#;
    sheet.add("late before all", &after_asked(&format!("101ms+1ns 0 cut {worse}")));
    sheet.add("flood before garbled", &after_asked(&format!("9ms 0 cut {worse}")));
    sheet.add("garbled before unasked", &after_asked(&format!("9ms 0 {worse}")));
    sheet.add("unasked before illegal", &after_asked(&format!("9ms 0 {bad}")));
    sheet.add("garbled of a seat that waits", &after_asked(&format!("9ms 1 {worse}")));
    sheet.check("the_order_of_judging");
}

#[test]
fn floods() {
    let mut sheet = Sheet::default();
    // 100 bytes a line with its end: two of them are the bound.
    let long = format!("{{\"type\":\"info\",\"text\":\"{}\"}}", "x".repeat(74));
    assert_eq!(long.len() + 1, 100);
    let limits = r#"limits {"line_bytes":99,"turn_bytes":200,"match_bytes":1000}"#;
    let start =
        ASKED.replace(r#"limits {"line_bytes":80,"turn_bytes":200,"match_bytes":1000}"#, limits);
    sheet.add(
        "the bound of a turn is exact",
        &format!("{start} 2ms 0 {long}\n 3ms 0 {long}\n 4ms 0 blank"),
    );
    // 17 bytes of the `ready` line are there already.
    let limits = r#"limits {"line_bytes":99,"turn_bytes":2000,"match_bytes":218}"#;
    let start =
        ASKED.replace(r#"limits {"line_bytes":80,"turn_bytes":200,"match_bytes":1000}"#, limits);
    sheet.add(
        "the bound of a match is exact",
        &format!("{start} 2ms 0 {long}\n 3ms 0 {long}\n 4ms 0 blank"),
    );
    sheet.check("floods");
}

#[test]
fn lines_that_nothing_asked_for() {
    let mut sheet = Sheet::default();
    let answer = r#"{"type":"action","action":{"type":"place","at":[1,1]}}"#;
    sheet.add("a second answer", &after_asked(&format!("5ms 0 {answer}\n 6ms 0 {answer}")));
    sheet.add(
        "an answer before its request",
        &after_asked(&format!("5ms 0 {answer}\n 6ms 1 {answer}")),
    );
    sheet.add("info outside its own turn", &after_asked("5ms 1 blank\n 6ms 1 {\"type\":\"info\"}"));
    sheet.add("resigning out of turn", &after_asked("5ms 1 {\"type\":\"resign\"}"));
    sheet.check("lines_that_nothing_asked_for");
}
