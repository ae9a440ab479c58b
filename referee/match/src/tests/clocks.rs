//! Clocks: what is in time, what is late, and what the referee can't tell.

use super::script::{Sheet, run};

const PLACE: &str = r#"{"type":"action","action":{"type":"place","at":[1,1]}}"#;

/// Seat 0 is asked at 1 ms, by this clock.
fn asked(clock: &str) -> String {
    format!(
        r#"
        hex {{"size":3}}
        clock {clock}
        0ms * {{"type":"ready"}}
        1ms 0 asked [cpu 5ms]
        "#
    )
}

const BANK: &str = r#"{"bank_ms":100,"increment_ms":10}"#;
const MARGIN: &str = r#"{"bank_ms":100,"increment_ms":10,"margin_ms":5}"#;
const CPU: &str = r#"{"kind":"cpu","bank_ms":null,"increment_ms":0,"move_ms":100}"#;

#[test]
fn exactly_the_limit_is_in_time() {
    let mut sheet = Sheet::default();
    sheet.add("exactly the limit", &format!("{} 101ms - tick\n 101ms 0 {PLACE}", asked(BANK)));
    sheet.add("one nanosecond more", &format!("{} 101ms+1ns 0 {PLACE}", asked(BANK)));
    sheet.add("silence", &format!("{} 101ms - tick\n 101ms+1ns - tick", asked(BANK)));
    sheet.add("within the margin", &format!("{} 106ms 0 {PLACE}", asked(MARGIN)));
    sheet.add("past the margin", &format!("{} 106ms+1ns 0 {PLACE}", asked(MARGIN)));
    sheet.check("exactly_the_limit_is_in_time");
}

#[test]
fn lag_makes_a_late_answer_void() {
    let mut sheet = Sheet::default();
    let start = asked(BANK);
    sheet.add("late by no more than the lag", &format!("{start} 104ms 0 {PLACE} [lag 3ms]"));
    sheet.add("late by more than the lag", &format!("{start} 104ms+1ns 0 {PLACE} [lag 3ms]"));
    sheet.add(
        "silence longer than the lag",
        &format!("{start} 101ms+1ns - tick [lag 3ms]\n 104ms+1ns - tick [lag 3ms]"),
    );
    sheet.add(
        "what is no answer does not make it void",
        &format!(
            "{start} 103ms 0 {{\"type\":\"info\"}} [lag 3ms]\n 103ms 0 blank [lag 3ms]
            104ms 0 blank [lag 3ms]\n 104ms+1ns 0 blank [lag 3ms]"
        ),
    );
    sheet.check("lag_makes_a_late_answer_void");
}

#[test]
fn a_late_seat_comes_before_what_came_after() {
    let mut sheet = Sheet::default();
    // The tick that would have said so at 101 ms is late itself.
    sheet.add(
        "a line after another seats time",
        &format!("{} 105ms 1 {{\"type\":\"resign\"}}", asked(BANK)),
    );
    sheet.check("a_late_seat_comes_before_what_came_after");
}

/// No tick says so: whatever happens after the time has run out comes after that.
#[test]
fn what_is_due_is_decided_before_what_happens() {
    for what in ["closed", "deaf", "exited exit status 1", "memory too much", "not_started late"] {
        let log = run(&format!("{} 101ms+1ns 0 {what}", asked(BANK)));
        assert!(log.contains(r#"finish "fault" "late""#), "{what}: {log}");
        let log = run(&format!("{} 101ms 0 {what}\n 500ms - tick", asked(BANK)));
        assert!(!log.contains(r#"finish "fault" "late""#), "{what}: {log}");
    }
}

#[test]
fn cpu_clocks() {
    let mut sheet = Sheet::default();
    let start = asked(CPU);
    sheet.add("a cpu clock in time", &format!("{start} 1999ms 0 {PLACE} [cpu 105ms]"));
    sheet.add("a cpu clock late", &format!("{start} 50ms 0 {PLACE} [cpu 105ms+1ns]"));
    sheet.add(
        "a cpu clock is looked at",
        &format!(
            "{start} 14ms - tick [cpu 40ms]\n 22ms - tick [cpu 97ms]\n 23ms - tick [cpu 106ms]"
        ),
    );
    sheet.add("the backstop", &format!("{start} 2001ms+1ns - tick [cpu 5ms]"));
    sheet.check("cpu_clocks");
}

/// Seat 0 has answered at 11 ms, when it had used 20 ms; then seat 1 answers.
fn pondered(clock: &str, pondering: &str) -> String {
    let second = PLACE.replace("[1,1]", "[0,0]");
    format!(
        r#"
        hex {{"size":3}}
        clock {clock}
        pondering {pondering}
        0ms * {{"type":"ready"}} [cpu 5ms]
        1ms 0 asked [cpu 10ms]
        11ms 0 {PLACE} [cpu 20ms]
        11ms 1 asked [cpu 5ms]
        51ms 1 {second} [cpu 6ms]
        "#
    )
}

const CAPPED: &str = r#"{"bank_ms":null,"increment_ms":0,"move_ms":100}"#;

#[test]
fn pondering_is_charged_where_it_is_measured() {
    let mut sheet = Sheet::default();
    let third = PLACE.replace("[1,1]", "[2,2]");
    let played = |clock, how| {
        let start = pondered(clock, how);
        format!("{start} 51ms 0 asked [cpu 70ms]\n 61ms 0 {third} [cpu 80ms]")
    };
    sheet.add("allowed", &played(BANK, "allow"));
    sheet.add("measured", &played(BANK, "measure"));
    sheet.add("without a bank the turn pays", &played(CAPPED, "measure"));
    let start = pondered(CAPPED, "measure");
    sheet.add("all is used", &format!("{start} 51ms 0 asked [cpu 120ms]\n 52ms 0 {third}"));
    let start = pondered(BANK, "measure");
    sheet.add("it can't be read", &format!("{start} 51ms 0 asked"));
    sheet.check("pondering_is_charged_where_it_is_measured");
}
