//! The misbehaving built-in agents: each commits its own fault, which ends the match or retires the
//! seat, and changes the exit code only with `--fail-on-fault`.

use crate::support::{TestDir, script_agent};
use serde_json::{Value, json};

/// An agent, the clock, its fault and part of the message.
const ROWS: &[(&str, &[&str], &str, &str)] = &[
    ("@crash", &[], "gone", "exit status 1"),
    ("@slow", &["--move-time", "10ms"], "late", "the limit is 10 ms per turn"),
    ("@mute", &["--move-time", "10ms"], "late", "the limit is 10 ms per turn"),
    ("@flood", &[], "flood", "longer than 65536 bytes"),
    ("@illegal", &[], "illegal", ""),
];

#[test]
fn each_has_a_fault_of_its_own() {
    for (agent, clock, kind, words) in ROWS {
        let dir = TestDir::new();
        // In the first seat, so that the speed of the opponent doesn't matter.
        let output = dir.play(&[&["hex", *agent, "@random"][..], *clock].concat());
        assert_eq!(output["verdict"]["result"], "fault", "{agent}: {output}");
        assert_eq!(output["verdict"]["places"], json!([2, 1]), "{agent}: {output}");
        assert_eq!(output["outcome"], Value::Null, "{agent}: {output}");
        let fault = &output["verdict"]["seats"][0]["fault"];
        assert_eq!(fault["kind"], *kind, "{agent}: {output}");
        assert!(fault["text"].as_str().unwrap().contains(words), "{agent}: {output}");
        assert_eq!(output["verdict"]["seats"][1]["fault"], Value::Null, "{agent}: {output}");
        assert_eq!(dir.verify_status(output["transcript"].as_str().unwrap()), "ok");
        dir.assert_tmp_is_empty();
    }
}

#[test]
fn a_fault_leaves_a_puzzle_unsolved() {
    let dir = TestDir::new();
    let output = dir.play(&["peg-solitaire", "@crash"]);
    assert_eq!(output["verdict"]["places"], json!([2]));
}

#[test]
fn fail_on_fault_sets_the_exit_code() {
    let dir = TestDir::new();
    dir.run(&["play", "hex", "@crash", "@random", "--fail-on-fault"])
        .code(3)
        .stdout_has("crashed in turn");
    let words = ["play", "hex", "@first", "@random", "--setup", "size=3", "--fail-on-fault"];
    dir.run(&words).code(0);
}

#[test]
fn two_of_three_play_on() {
    let dir = TestDir::new();
    let output = dir.play(&["chexers", "@random", "@crash", "@random"]);
    assert_eq!(output["verdict"]["result"], "played");
    assert_eq!(output["verdict"]["places"][1], 3);
    assert_eq!(output["verdict"]["seats"][1]["fault"]["kind"], "gone");
    assert!(output["turns"].as_u64().unwrap() > 20, "{output}");
    let transcript = output["transcript"].as_str().unwrap();
    let retired = &dir.events_of(transcript, "retired")[0];
    assert_eq!((&retired["seat"], &retired["turn"]), (&json!(1), &json!(1)));
    assert_eq!(dir.verify_status(transcript), "ok");
    // The summary shows the last line of its stderr.
    let words = ["replay", transcript, "--print", "--board", "none"];
    dir.run(&words).code(0).stdout_has("(exit status 1), and is out").stdout_has("@crash stderr: ");
}

#[test]
fn the_last_of_three_wins() {
    let dir = TestDir::new();
    let output = dir.play(&["chexers", "@crash", "@crash", "@random"]);
    assert_eq!(output["verdict"]["reason"], "last_seat");
    assert_eq!(output["verdict"]["places"], json!([3, 2, 1]));
}

#[test]
fn on_fault_end_ends_a_match_of_three() {
    let dir = TestDir::new();
    let output = dir.play(&["chexers", "@random", "@crash", "@random", "--on-fault", "end"]);
    assert_eq!(output["verdict"]["places"], json!([1, 3, 1]));
    assert_eq!(output["turns"], 1);
}

/// What the referee has to judge is no reason for it to be late: the answer after it is.
#[test]
fn a_flood_before_the_end_of_a_turn_is_no_excuse() {
    let Some(agent) = script_agent("hostile.py", "floods-until 4") else { return };
    let dir = TestDir::new();
    let words = ["hex", &agent, "@first", "--move-time", "1s"];
    let limits = ["--limit", "turn_bytes=1000000000", "--limit", "match_bytes=1000000000"];
    let output = dir.play(&[&words[..], &limits].concat());
    assert_eq!(output["verdict"]["reason"], "late", "{output}");
}

/// Whoever thinks is heard before what others have written, in either seat.
#[test]
fn a_flood_after_a_turn_does_not_make_the_next_seat_late() {
    let Some(flood) = script_agent("hostile.py", "floods-after 500000") else { return };
    let honest = script_agent("hostile.py", "sleeps 0.2").unwrap();
    for (agents, seat) in [([&flood, &honest], 1), ([&honest, &flood], 0)] {
        let dir = TestDir::new();
        let words = ["hex", agents[0], agents[1], "--setup", "size=3", "--move-time", "2s"];
        let limits = ["--limit", "turn_bytes=1000000000", "--limit", "match_bytes=1000000000"];
        let output = dir.play(&[&words[..], &limits].concat());
        let verdict = &output["verdict"];
        assert_eq!(verdict["seats"][seat]["fault"], Value::Null, "{output}");
        assert_eq!(dir.verify_status(output["transcript"].as_str().unwrap()), "ok");
    }
}

/// When an end between two turns is seen doesn't matter, nor whether the agent has been asked by then.
#[test]
fn an_exit_after_an_answer_is_an_exit_before_the_next() {
    let Some(agent) = script_agent("hostile.py", "answers-and-exits 3") else { return };
    for other in ["@first", "@slow"] {
        let dir = TestDir::new();
        let output = dir.play(&["hex", &agent, other, "--setup", "size=3"]);
        let fault = &output["verdict"]["seats"][0]["fault"];
        assert_eq!(fault["text"], "ended with exit status 3 before answering turn 2", "{output}");
        assert_eq!((&fault["turn"], &output["turns"]), (&json!(2), &json!(2)), "{output}");
        assert_eq!(dir.verify_status(output["transcript"].as_str().unwrap()), "ok");
        dir.assert_tmp_is_empty();
    }
}

/// Programs that don't end, and don't take or give lines either.
#[test]
fn closed_and_full_pipes_are_faults() {
    for (mode, clock, kind, words) in [
        ("never-reads", &["--move-time", "1s"][..], "late", "the limit is 1000 ms per turn"),
        ("closes-stdin", &[], "gone", "closed its stdin"),
        ("closes-stdout", &[], "gone", "closed its stdout"),
        ("exits-at-start 7", &[], "start", "ended with exit status 7 before it sent `ready`"),
    ] {
        let Some(agent) = script_agent("hostile.py", mode) else { return };
        let dir = TestDir::new();
        let output = dir.play(&[&["hex", &agent, "@first", "--setup", "size=3"], clock].concat());
        let fault = &output["verdict"]["seats"][0]["fault"];
        assert_eq!(fault["kind"], kind, "{mode}: {output}");
        assert!(fault["text"].as_str().unwrap().contains(words), "{mode}: {output}");
        dir.assert_tmp_is_empty();
    }
}

#[test]
fn programs_that_are_none() {
    let rows = [
        ("plain.txt", "just text\n", false, "run `chmod +x` on it"),
        ("text", "just text\n", true, "it is not executable"),
        ("lost", "#!/no/such/interpreter\n", true, "the interpreter in its first line"),
    ];
    for (name, text, executable, words) in rows {
        let dir = TestDir::new();
        if executable {
            dir.program(name, text)
        } else {
            dir.write(name, text)
        };
        let output = dir.play(&["hex", &format!("./{name}"), "@first"]);
        let fault = &output["verdict"]["seats"][0]["fault"];
        assert_eq!(fault["kind"], "start", "{name}: {output}");
        assert!(fault["text"].as_str().unwrap().contains(words), "{name}: {output}");
        dir.assert_tmp_is_empty();
    }
    // A missing program is a usage error.
    let dir = TestDir::new();
    dir.run(&["play", "hex", "missing-program", "@first"]).code(2).stderr_has("or in PATH");
    assert!(!dir.path("matches").exists());
}
