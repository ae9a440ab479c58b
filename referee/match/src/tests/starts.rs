//! Start-up: who is ready, in time, or not at all.

use super::script::Sheet;

const TWO: &str = r#"
    hex {"size":3}
    clock {"start_ms":100}
"#;
const THREE: &str = r#"
    chinese-checkers {"seats":3,"size":2}
    clock {"start_ms":100}
"#;
const READY: &str = r#"{"type":"ready"}"#;

#[test]
fn ready_is_due() {
    let mut sheet = Sheet::default();
    sheet.add("ready at the last moment", &format!("{TWO} 100ms * {READY}"));
    sheet.add("ready too late", &format!("{TWO} 5ms 1 {READY}\n 100ms+1ns 0 {READY}"));
    sheet.add("never ready", &format!("{TWO} 5ms 1 {READY}\n 100ms+1ns - tick"));
    sheet.add(
        "the lag gives time to be ready",
        &format!("{TWO} 5ms 1 {READY}\n 100ms+1ns - tick [lag 9ms]\n 109ms 0 {READY} [lag 9ms]"),
    );
    sheet.add("nobody ready", &format!("{TWO} 100ms+1ns - tick"));
    sheet.check("ready_is_due");
}

#[test]
fn bad_starts() {
    let mut sheet = Sheet::default();
    sheet.add(
        "not started",
        &format!("{TWO} 1ms 0 closed\n 2ms 0 not_started can't start `./agent0`"),
    );
    sheet.add(
        "not started after an end",
        &format!("{TWO} 1ms 1 closed\n 2ms 0 not_started no program"),
    );
    sheet.add("exited before ready", &format!("{TWO} 1ms 0 closed\n 2ms 0 exited exit status 127"));
    sheet.add(
        "closed before ready",
        &format!("{TWO} 1ms 0 closed\n 100ms+1ns - tick\n 201ms - tick"),
    );
    sheet.add("garbled start", &format!("{TWO} 1ms 0 {{\"type\":\"raedy\"}}"));
    sheet.add("unknown want", &format!("{TWO} 1ms 0 {{\"type\":\"ready\",\"want\":[\"board\"]}}"));
    sheet.add("ready twice", &format!("{TWO} 1ms 0 {READY}\n 2ms 0 {READY}"));
    sheet.add("an answer before ready", &format!("{TWO} 1ms 0 {{\"type\":\"resign\"}}"));
    sheet.add(
        "gone while others start",
        &format!("{TWO} 1ms 0 {READY}\n 2ms 0 exited exit status 0"),
    );
    sheet.check("bad_starts");
}

#[test]
fn several_bad_starts() {
    let mut sheet = Sheet::default();
    sheet.add(
        "one of three does not start",
        &format!(
            "{THREE} 1ms 0 not_started no program\n 2ms 1 {READY}\n 3ms 2 {READY}\n 4ms 1 asked"
        ),
    );
    sheet.add(
        "two of three do not start",
        &format!("{THREE} 1ms 1 {READY}\n 2ms 2 not_started no program\n 100ms+1ns - tick"),
    );
    sheet.add(
        "an end before the start is due",
        &format!("{THREE} 99ms 2 closed\n 99ms 1 {READY}\n 100ms+1ns - tick"),
    );
    sheet.add("three of three do not start", &format!("{THREE} 100ms+1ns - tick"));
    sheet.check("several_bad_starts");
}
