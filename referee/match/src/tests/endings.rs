//! How matches end: by agents that go, one or several, by the rules, and by the machine.

use super::script::Sheet;

/// Three seats are ready, and seat 0 thinks.
const THREE: &str = r#"
    chinese-checkers {"seats":3,"size":2}
    0ms * {"type":"ready"}
    1ms 0 asked
"#;
/// Two seats are ready, and seat 0 thinks.
const TWO: &str = r#"
    hex {"size":3}
    clock {"bank_ms":100,"increment_ms":0}
    0ms * {"type":"ready"}
    1ms 0 asked
"#;
const RESIGN: &str = r#"{"type":"resign"}"#;
const PLACE: &str = r#"{"type":"action","action":{"type":"place","at":[1,1]}}"#;

#[test]
fn the_last_seat_of_three_wins() {
    let mut sheet = Sheet::default();
    sheet.add(
        "the last seat of three",
        &format!("{THREE} 2ms 0 {RESIGN}\n 3ms 1 asked\n 4ms 1 nonsense\n 5ms 2 asked"),
    );
    sheet.add("seats that wait retire", &format!("{THREE} 2ms 1 nonsense\n 3ms 0 {RESIGN}"));
    sheet.add(
        "a fault ends the match where that is wanted",
        &format!("{} 2ms 1 nonsense", THREE.replace("    0ms", "    on_fault end\n    0ms")),
    );
    sheet.check("the_last_seat_of_three_wins");
}

#[test]
fn a_request_that_waits_tells_who_is_out() {
    let mut sheet = Sheet::default();
    sheet.add(
        "a request that waits",
        r#"
        chinese-checkers {"seats":3,"size":2}
        0ms * {"type":"ready","want":["position"]}
        1ms 2 nonsense
        2ms 0 asked
        3ms 1 nonsense
        "#,
    );
    sheet.check("a_request_that_waits_tells_who_is_out");
}

#[test]
fn an_end_of_output_waits_for_the_exit_status() {
    let mut sheet = Sheet::default();
    sheet.add(
        "closed then exited",
        &format!("{TWO} 50ms 0 closed\n 51ms 0 deaf\n 249ms 0 exited exit status 3"),
    );
    sheet.add("closed and running", &format!("{TWO} 50ms 0 closed\n 250ms - tick"));
    sheet.add("deaf and running", &format!("{TWO} 50ms 1 deaf\n 250ms - tick"));
    sheet.add(
        "closed is not late",
        &format!("{TWO} 90ms 0 closed\n 101ms+1ns - tick\n 200ms 0 exited signal 6 (SIGABRT)"),
    );
    sheet.add("deaf then late", &format!("{TWO} 90ms 0 deaf\n 101ms+1ns 0 {PLACE}"));
    sheet.add("closed by memory", &format!("{TWO} 90ms 0 closed\n 91ms 0 memory 600 MiB of 512"));
    sheet.add(
        "an answer and gone",
        &format!(
            "{TWO} 50ms 0 {PLACE}\n 50ms 0 closed\n 51ms 1 asked\n 52ms 0 exited exit status 0"
        ),
    );
    sheet.check("an_end_of_output_waits_for_the_exit_status");
}

#[test]
fn what_happens_after_an_end_is_judged_after_it() {
    let mut sheet = Sheet::default();
    sheet.add("a fault after anothers end", &format!("{TWO} 50ms 1 closed\n 60ms 0 nonsense"));
    sheet.add("an answer after anothers end", &format!("{TWO} 50ms 1 closed\n 60ms 0 {PLACE}"));
    sheet.add(
        "an exit after anothers end",
        &format!("{TWO} 50ms 1 closed\n 60ms 0 exited exit status 1\n 61ms 1 exited exit status 2"),
    );
    sheet.add("an end after anothers end", &format!("{TWO} 50ms 1 closed\n 60ms 0 closed"));
    sheet.add("late after anothers end", &format!("{TWO} 90ms 1 closed\n 101ms+1ns - tick"));
    sheet.add(
        "a limit after anothers end",
        &format!("{TWO} 90ms 1 closed\n 91ms 0 processes 129 of 128"),
    );
    sheet.add(
        "three seats go at once",
        &format!("{THREE} 50ms 1 closed\n 60ms 0 exited signal 15 (SIGTERM)"),
    );
    sheet.check("what_happens_after_an_end_is_judged_after_it");
}

#[test]
fn the_machine_makes_it_void() {
    let mut sheet = Sheet::default();
    sheet.add(
        "void",
        &format!("{TWO} 50ms 0 closed\n 60ms - disk_full no space left\n 70ms 0 nonsense"),
    );
    sheet.add("void at the start", "hex {\"size\":3}\n 5ms - disk_full no space left");
    sheet.check("the_machine_makes_it_void");
}

#[test]
fn puzzles() {
    let mut sheet = Sheet::default();
    let puzzle = r#"peg-solitaire {"size":4}"#;
    let ready = r#"0ms 0 {"type":"ready","want":["actions"]}"#;
    sheet.add("over at the start", &format!("{puzzle}\n {ready}\n 1ms 0 asked"));
    sheet.add("over at the start and a fault", &format!("{puzzle}\n 0ms 0 nonsense"));
    let puzzle = r#"peg-solitaire {"size":4,"open":[[1,0]]}"#;
    sheet.add("a fault of one seat", &format!("{puzzle}\n {ready}\n 1ms 0 asked\n 2ms 0 nonsense"));
    sheet.add("giving up a puzzle", &format!("{puzzle}\n {ready}\n 1ms 0 asked\n 2ms 0 {RESIGN}"));
    sheet.check("puzzles");
}
