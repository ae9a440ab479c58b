//! `check` names every defect in the first probe that fails, and passes good agents.

use crate::support::lacks;
use crate::support::{AMPLE, RunResult, TestDir, in_parallel, python_agent, script_agent};
use serde_json::Value;

/// Returns the first failed probe: its name, its defect and the whole failure.
fn first_failure(report: &Value) -> (String, String, Value) {
    let failed = report["probes"].as_array().unwrap().iter().find(|it| it["status"] == "failed");
    let probe = failed.unwrap_or_else(|| panic!("nothing failed: {report}"));
    let failure = probe["failure"].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&probe["name"]), text(&failure["defect"]), failure)
}

fn check(dir: &TestDir, agent: &str, more: &[&str]) -> RunResult {
    dir.run(&[&["check", agent, "--game", "hex", "--json", "--start-time", "3m"], more].concat())
}

/// Scripts that wait for input instead of answering, which `check` notices long before the clock.
const SILENT: [&str; 5] = ["mute_at_start", "no_flush", "no_newline", "never_passes", "prompt"];

/// Whether the program under test notices a script's defect only when the clock expires.
fn is_not_seen(script: &str) -> bool {
    SILENT.contains(&script) && lacks("seeing that an agent waits for input")
}

/// The script's defect, the probe that finds it, the defect's name and part of the message.
const DEFECTS: &[(&str, &str, &str, &str)] = &[
    ("crash_at_start", "ready", "crash", "no book of openings"),
    ("leaves_at_start", "ready", "gone", "exit status 0"),
    ("mute_at_start", "ready", "waiting", "flush"),
    ("wrong_field", "ready", "shape", "`nmae`"),
    ("banner", "ready", "debug_text", "bot 1.0"),
    ("no_flush", "first-turn", "waiting", "flush"),
    ("endless", "first-turn", "thinking", "500 ms per turn"),
    ("slow", "first-turn", "late", "the answer came after"),
    ("python_repr", "first-turn", "broken_json", "json.dumps"),
    ("debug_text", "first-turn", "debug_text", "considering 121 actions"),
    ("wrong_type", "first-turn", "shape", "at[0]"),
    ("off_the_board", "first-turn", "illegal", "the nearest of 121 legal actions"),
    ("wrong_turn", "first-turn", "unasked", "turn 1 in turn 0"),
    ("no_newline", "first-turn", "no_line_end", "a line without a line end"),
    ("prompt", "first-turn", "debug_text", "Your move"),
    ("not_a_number", "first-turn", "broken_json", "allow_nan"),
    ("indented", "first-turn", "broken_json", "on one line"),
    ("long_line", "first-turn", "flood", "65536"),
    ("second_turn", "turns", "crash", "second turn"),
    ("twice", "turns", "unasked", "`action`"),
    ("ponders_aloud", "quiet", "unasked", "outside its own turn"),
    ("strict_fields", "unknown-fields", "crash", "x_new"),
    ("strict_types", "unknown-types", "crash", "x_news"),
    ("ascii_names", "names", "crash", "'ascii' codec"),
    ("only_first_seat", "seat:hex:1", "crash", "list index out of range"),
    ("short_of_breath", "long:hex", "crash", "maximum recursion depth"),
    ("stays", "over", "stays", "after `over`"),
    ("burns_on", "over", "stays", "after `over`"),
    ("waits_for_more", "end-of-input", "stays", "its input ended"),
    ("leaves_a_child", "leftovers", "leaves_processes", "1 process left"),
];

#[test]
fn each_defect_is_named_by_the_first_probe_that_fails() {
    in_parallel(4, DEFECTS.len(), check_defect);
}

fn check_defect(index: usize) {
    let (script, probe, defect, expected) = DEFECTS[index];
    if is_not_seen(script) {
        return;
    }
    let Some(agent) = script_agent("broken.py", script) else { return };
    let dir = TestDir::sandboxed();
    let clock: &[&str] = match script {
        "slow" | "endless" => &["--move-time", "500ms"],
        _ => &["--clock", "1h"],
    };
    let report = check(&dir, &agent, &[clock, &["--fail-fast"]].concat()).code(3).json();
    let (name, found, failure) = first_failure(&report);
    assert_eq!((name.as_str(), found.as_str()), (probe, defect), "{script}: {failure}");
    assert!(failure.to_string().contains(expected), "{script}: {failure} lacks {expected:?}");
    assert!(!failure["fix"].as_str().unwrap().is_empty(), "{script}");
    dir.assert_tmp_is_empty();
    if DEFECTS[..index].iter().any(|earlier| earlier.1 == probe) {
        return;
    }
    // The printed command runs only that probe and finds the same defect. Tested once per probe.
    let probes = report["probes"].as_array().unwrap();
    let again = probes.iter().find(|it| it["name"] == probe).unwrap()["again"].as_str().unwrap();
    let again = dir.shell(&format!("{again} --json")).code(3).json();
    let (name, found, _) = first_failure(&again);
    assert_eq!((name.as_str(), found.as_str()), (probe, defect), "{script}, again");
    assert_eq!(again["probes"].as_array().unwrap().len(), 1, "{script}, again");
}

/// The script's defect, its game, the status of the probe that is about it, and part of the message.
const SITUATIONS: &[(&str, &str, &str, &str, &str)] = &[
    ("no_swap", "hex", "swap-pieces:hex:0", "failed", "KeyError"),
    ("no_swap", "hex", "swap-sides:hex:0", "failed", "KeyError"),
    ("three_players", "chexers", "retired:chexers", "failed", "games of two"),
    ("three_players", "chexers", "retired-at-start:chexers", "failed", "games of two"),
    ("never_passes", "chexers", "pass:chexers:0", "failed", "also if its only legal action is"),
    (
        "never_passes",
        "chinese-checkers",
        "pass:chinese-checkers:0",
        "failed",
        "also if its only legal action is",
    ),
    ("no_positions", "chexers", "pass:chexers:0", "not_applicable", "setup.position"),
];

#[test]
fn situations_that_are_rare_are_tested() {
    in_parallel(4, SITUATIONS.len(), |index| {
        let (script, game, probe, status, expected) = SITUATIONS[index];
        if is_not_seen(script) {
            return;
        }
        let Some(agent) = script_agent("broken.py", script) else { return };
        let words = [&["check", &agent, "--game", game, "--json", "--probe", probe][..], &AMPLE];
        let report = TestDir::sandboxed().run(&words.concat()).json();
        let probe = &report["probes"][0];
        assert_eq!(probe["status"], status, "{script}: {report}");
        assert_eq!(report["ok"], status != "failed", "{script}: {report}");
        assert!(probe.to_string().contains(expected), "{script}: {report} lacks {expected:?}");
    });
}

/// A setup that is given replaces the special ones.
#[test]
fn situations_that_contradict_the_setup_are_left_out() {
    for (setup, count) in [("size=3", 4), ("swap=none", 0), ("swap=sides", 2)] {
        let words = ["check", "@random", "--game", "hex", "--json", "--setup", setup];
        let report = TestDir::sandboxed().run(&[&words[..], &AMPLE].concat()).code(0).json();
        let probes = report["probes"].as_array().unwrap();
        let swaps = probes.iter().filter(|it| it["name"].as_str().unwrap().starts_with("swap-"));
        assert_eq!(swaps.count(), count, "{setup}: {report}");
    }
}

#[test]
fn start_failures_are_distinguished() {
    let dir = TestDir::sandboxed();
    dir.write("plain.py", "print('hello')\n");
    dir.program("bare", "print('hello')\n");
    dir.program("lost", "#!/usr/bin/python2.2\n");
    dir.program("typo", "#!/usr/bin/env pyhton3\n");
    dir.program("windows", "#!/usr/bin/env python3\r\nprint()\r\n");
    dir.write("folder/agent.toml", "comand = [\"x\"]\n");
    dir.write("empty/readme.txt", "");
    for (agent, probe, defect, expected) in [
        ("./missing", "start", "not_found", "no program `./missing`"),
        ("missing --depth 3", "start", "not_found", "in PATH"),
        ("./plain.py", "start", "not_executable", "chmod +x"),
        ("./bare", "start", "interpreter", "nor a script with a #! line"),
        ("./lost", "start", "interpreter", "#!/usr/bin/python2.2"),
        ("./typo", "ready", "interpreter", "pyhton3"),
        ("./windows", "ready", "interpreter", "line ends"),
        ("folder", "start", "cannot_start", "comand"),
        ("empty", "start", "not_found", "agent.toml"),
    ] {
        let report = check(&dir, agent, &[]).code(3).json();
        let (name, found, failure) = first_failure(&report);
        assert_eq!((name.as_str(), found.as_str()), (probe, defect), "{agent}: {failure}");
        assert!(failure.to_string().contains(expected), "{agent}: {failure} lacks {expected:?}");
    }
}

#[test]
fn a_good_agent_passes_every_probe() {
    let dir = TestDir::sandboxed();
    // The tests of `new` check the Python sample in every game.
    let python = python_agent();
    for (agent, game) in [
        ("@random", &[][..]),
        ("@greedy", &["--game", "chexers"]),
        ("@slow", &["--game", "hex", "--probe", "first-turn"]),
        (&python, &["--game", "hex"]),
    ] {
        if agent == python && crate::support::python().is_none() {
            continue;
        }
        let words = [&["check", agent, "--json"], &AMPLE[..], game].concat();
        let report = dir.run(&words).code(0).json();
        assert_eq!(report["ok"], true, "{agent}");
        let probes = report["probes"].as_array().unwrap();
        let all =
            probes.iter().all(|probe| probe["status"] == "passed" || probe["name"] == "again");
        assert!(all, "{agent}: {report}");
        let long = probes.iter().filter(|it| it["name"].as_str().unwrap().starts_with("long:"));
        assert_eq!(game.is_empty(), long.count() >= 6, "{agent}: {probes:?}");
    }
    dir.assert_tmp_is_empty();
}

#[test]
fn sleeping_within_the_time_limit_is_not_late() {
    let Some(agent) = script_agent("broken.py", "sleeper") else { return };
    let report = check(&TestDir::sandboxed(), &agent, &["--probe", "ready"]).code(0).json();
    assert_eq!(report["probes"][0]["status"], "passed", "{report}");
}

/// The agent needs longer to exit than a match allows, like one that waits for a core.
#[test]
fn slow_cleanup_after_over_passes() {
    let Some(agent) = script_agent("broken.py", "ends_slowly") else { return };
    let report =
        check(&TestDir::sandboxed(), &agent, &["--clock", "1h", "--probe", "over"]).code(0).json();
    assert_eq!(report["probes"][0]["status"], "passed", "{report}");
    let note = report["probes"][0]["note"].as_str().unwrap();
    assert!(note.contains("a match kills it after 1 s"), "{note}");
}

#[test]
fn carriage_returns_and_resignations_pass() {
    let Some(agent) = script_agent("windows.py", "") else { return };
    let dir = TestDir::sandboxed();
    let report = check(&dir, &agent, &["--clock", "1h"]).code(0).json();
    assert_eq!(report["ok"], true);
}

/// An agent that also fails without the unknown fields isn't accused of failing because of them.
#[test]
fn an_unusual_probe_is_blamed_only_if_its_control_passes() {
    let Some(agent) = script_agent("broken.py", "fourth_start") else { return };
    let dir = TestDir::sandboxed();
    let count = dir.path("starts").display().to_string();
    let words = [&agent, " ", &count].concat();
    let report = check(&dir, &words, &["--sandbox", "none", "--clock", "1h"]).code(3).json();
    let (name, defect, failure) = first_failure(&report);
    assert_eq!((name.as_str(), defect.as_str()), ("unknown-fields", "illegal"), "{report}");
    let fix = failure["fix"].as_str().unwrap();
    assert!(fix.starts_with("rows are 0 to 10 and columns 0 to 10: "), "{failure}");
    assert!(fix.contains("; the nearest of 121 legal actions is "), "{failure}");
    assert_eq!(failure["why"], "an illegal action loses the match (fault `illegal`)");
}

#[test]
fn limits_are_those_of_a_match() {
    if lacks("a limit of memory") {
        return;
    }
    let dir = TestDir::sandboxed();
    dir.run(&["check", "@first", "--limit", "memory=5"]).code(2).stderr_has("memory_mb");
    let Some(agent) = script_agent("hostile.py", "allocates 300") else { return };
    let limit = ["--limit", "memory_mb=150"];
    let report = check(&dir, &agent, &limit).code(3).json();
    let (_, defect, failure) = first_failure(&report);
    assert_eq!(defect, "limit", "{failure}");
    let again = |probe: &Value| probe["again"].as_str().unwrap().contains(limit[1]);
    assert!(report["probes"].as_array().unwrap().iter().all(again), "{report}");
}
