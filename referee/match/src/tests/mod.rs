//! What the match says to what happens. The files in `snapshots` are scripts of inputs, each line with
//! its effects below it, indented: the script is read from there, run, and its log compared with the
//! file. A new script is written into one of the files without effects, under a title; accepting the
//! snapshot puts them in.

mod script;
mod sums;

use insta::{Settings, assert_snapshot};
use script::run;
use std::fmt::Write as _;

/// Two seats are ready, and seat 0 thinks about its first stone.
const ASKED: &str = r#"
    hex {"size":3}
    clock {"bank_ms":100,"increment_ms":10}
    limits {"line_bytes":80,"turn_bytes":200,"match_bytes":1000}
    0ms * {"type":"ready"}
    1ms 0 asked
"#;

/// Compares a log with the snapshot of that name.
fn check(name: &str, log: &str) {
    let mut settings = Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| assert_snapshot!(name, log));
}

#[test]
fn every_script_has_its_effects() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/snapshots");
    let mut scripts = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Insta's own files for changes come and go.
        if path.extension().is_none_or(|ending| ending != "snap") {
            continue;
        }
        let snapshot = std::fs::read_to_string(&path).unwrap();
        let Some((_, titled)) = snapshot.split_once("\n---\n# ") else { continue };
        let mut log = String::new();
        for script in titled.split("\n# ") {
            let (title, lines) = script.split_once('\n').unwrap();
            let inputs = lines.lines().filter(|line| !line.starts_with(' '));
            let script = inputs.collect::<Vec<_>>().join("\n");
            writeln!(log, "# {title}\n{}", run(&script)).unwrap();
            scripts += 1;
        }
        check(path.file_stem().unwrap().to_str().unwrap(), &log);
    }
    assert!(scripts > 60, "{scripts} scripts");
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
    let mut log = String::new();
    for line in wrong {
        let whole = run(&format!("{ASKED}9ms 0 {line}"));
        let from = whole.find("9ms 0").expect("the line is in the log");
        log.push_str(&whole[from..]);
    }
    check("every_way_to_be_wrong", &log);
}

/// No tick says so: whatever happens after the time has run out comes after that.
#[test]
fn what_is_due_is_decided_before_what_happens() {
    for what in ["closed", "deaf", "exited exit status 1", "memory too much", "not_started late"] {
        let log = run(&format!("{ASKED}101ms+1ns 0 {what}"));
        assert!(log.contains(r#"finish "fault" "late""#), "{what}: {log}");
        let log = run(&format!("{ASKED}101ms 0 {what}\n 500ms - tick"));
        assert!(!log.contains(r#"finish "fault" "late""#), "{what}: {log}");
    }
}
