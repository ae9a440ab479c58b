//! `debug` replays a turn of a recorded match; `play` prints the command after a fault.

use crate::support::lacks;
use crate::support::{AMPLE, TestDir, python, script_agent, strings};
use serde_json::Value;
use std::fs;

/// Plays Hex with a defect of `broken.py` in seat 0; returns the `debug: ` line that `play` prints.
fn lost(dir: &TestDir, defect: &str) -> Option<String> {
    let agent = script_agent("broken.py", defect)?;
    let words = ["play", "hex", &agent, "@random", "--seed", "3", "--board", "none"];
    let move_time = if defect == "slow" { "500ms" } else { "90s" };
    let output = dir.run(&[&words[..], &["--move-time", move_time]].concat()).code(0).stdout;
    assert!(output.contains("\nfix: "), "{output}");
    let line = output.lines().find_map(|line| line.strip_prefix("debug: "));
    Some(line.unwrap_or_else(|| panic!("no way to debug: {output}")).to_owned())
}

#[test]
fn the_printed_debug_command_repeats_the_fault() {
    for (defect, turn, expected) in [
        ("crash_at_start", 0, "exit status 1"),
        ("off_the_board", 0, "off the board"),
        ("closes", 2, "closed its stdout"),
        ("slow", 0, "no answer after"),
    ] {
        let dir = TestDir::new();
        let Some(command) = lost(&dir, defect) else { return };
        let told_turn = command.split_whitespace().last().unwrap().to_owned();
        if defect != "crash_at_start" {
            assert_eq!(told_turn, turn.to_string(), "{command}");
        }
        let report = dir.shell(&format!("{command} --json")).code(3).json();
        // Late answers are not recorded.
        assert_eq!(report["same"], defect != "slow", "{defect}: {report}");
        assert_eq!(report["strayed"], serde_json::json!([]), "{defect}");
        let all = format!("{} {}", report["wrong"], report["status"]);
        assert!(all.contains(expected), "{defect}: {all} lacks {expected:?}");
        let text = dir.shell(&command).code(3).stdout;
        assert_eq!(text.contains("recorded  the same"), defect != "slow", "{text}");
        assert!(text.contains("\nfix "), "{text}");
        dir.assert_tmp_is_empty();
    }
}

#[test]
fn debug_repeats_every_turn_of_a_good_agent() {
    let dir = TestDir::new();
    dir.short_match(["@random", "@greedy"]);
    let turns = dir.events_of("x.jsonl", "turn");
    assert!(turns.len() >= 5);
    for event in turns {
        let (seat, turn) = (event["seat"].to_string(), event["turn"].to_string());
        let words = ["debug", "x.jsonl", "--seat", &seat, "--turn", &turn, "--json"];
        let report = dir.run(&words).code(0).json();
        assert_eq!(report["same"], true, "seat {seat}, turn {turn}: {report}");
        assert_eq!(report["got"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn printed_lines_can_be_piped_into_the_agent() {
    let dir = TestDir::new();
    dir.short_match(["@random", "@greedy"]);
    let line = "referee debug x.jsonl --seat 0 --turn 2 --print | referee agent random";
    let output = dir.shell(line).code(0).stdout;
    let said: Vec<&str> = output.lines().collect();
    let lines = dir.events_of("x.jsonl", "line").into_iter();
    let recorded = strings(lines.filter(|it| it["seat"] == 0).map(|it| it["line"].clone()));
    assert_eq!(said, recorded[..3], "ready, and the answers to turns 0 and 2");
}

#[test]
fn wait_prints_the_process_id_and_continues() {
    let dir = TestDir::new();
    dir.short_match(["@random", "@greedy"]);
    let ran = dir.run_with_input(&["debug", "x.jsonl", "--seat", "0", "--wait"], "\n").code(0);
    let output = ran.stderr.lines().find(|line| line.starts_with("process ")).unwrap();
    let number = output.split_whitespace().nth(1).unwrap();
    assert!(number.parse::<u32>().is_ok(), "{output}");
    assert!(output.contains(&format!("`gdb -p {number}`")), "{output}");
    assert!(ran.stdout.contains("recorded  the same"), "{}", ran.stdout);
}

#[test]
fn the_agent_can_be_replaced_and_mistakes_are_reported() {
    let dir = TestDir::new();
    dir.short_match(["a=@random", "@greedy"]);
    let base = ["debug", "x.jsonl"];
    let ran =
        dir.run(&[&base[..], &["--seat", "0", "--turn", "2", "--agent", "@illegal"]].concat());
    assert!(ran.code(3).stdout.contains("count from 1 instead of 0"));
    // A turn of the other seat selects the turn before it.
    let ran = dir.run(&[&base[..], &["--seat", "1", "--turn", "2"]].concat()).code(0);
    assert!(ran.stderr.contains("showing turn 1"), "{}", ran.stderr);
    for (more, expected) in [
        (&[][..], "no agent was at fault"),
        (&["--seat", "2"], "the seats are 0 (a), 1 (@greedy)"),
        (&["--seat", "b"], "the seats are 0 (a), 1 (@greedy)"),
        (&["--seat", "0", "--turn", "99"], "the last turn of the match is"),
        (&["--seat", "0", "--agent", "@human"], "a person played"),
        (&["--seat", "0", "--agent", "./missing"], "no program `./missing`"),
    ] {
        let ran = dir.run(&[&base[..], more].concat()).code(2);
        assert!(ran.stderr.contains(expected), "{more:?}: {}", ran.stderr);
    }
    for (more, seat) in [(&["--turn", "2"][..], 0), (&["--turn", "3"], 1), (&["--seat", "a"], 0)] {
        let report = dir.run(&[&base[..], more, &["--json"]].concat()).code(0).json();
        assert_eq!(report["seat"], seat, "{more:?}");
    }
    dir.write("other.txt", "no transcript\n");
    dir.run(&["debug", "other.txt", "--seat", "0"]).code(1);
}

/// A mode of agents/hostile.py, its seat, the options of the match, the expected fault and part of
/// the output of `debug`.
type Verdict = (&'static str, usize, &'static [&'static str], &'static str, &'static str);

/// Every kind of fault; `late` with every kind of clock and bound.
const VERDICTS: &[Verdict] = &[
    ("says '{\"type\":\"resign\"}'", 0, &[], "resigned", ""),
    ("much-info", 0, &["--limit", "turn_bytes=2000"], "flood", "in turn 0"),
    ("pads 400", 0, &["--limit", "match_bytes=1000"], "flood", "in the match"),
    ("sleeps 2", 0, &["--move-time", "200ms"], "late", "the limit is 200 ms per turn"),
    ("sleeps 2", 0, &["--clock", "200ms"], "late", "its clock had 200 ms"),
    ("sleeps 3", 0, &["--cpu", "--move-time", "100ms"], "late", "a CPU clock also limits"),
    (
        "sleeps 2",
        0,
        &["--cpu", "--clock", "9s", "--backstop", "300ms"],
        "late",
        "a CPU clock also limits",
    ),
    (
        "burning-child",
        0,
        &["--cpu", "--move-time", "200ms", "--backstop", "5m"],
        "late",
        "CPU time",
    ),
    ("answers-and-exits 3", 0, &[], "gone", "exit status 3"),
    ("allocates 300", 0, &["--limit", "memory_mb=150"], "memory", "150 MiB are allowed"),
    ("forks 30", 0, &["--limit", "processes=9"], "processes", "9 are allowed"),
];

#[test]
fn debug_judges_as_the_match_did() {
    for (mode, seat, conditions, kind, words) in VERDICTS {
        let of_tree = *mode == "burning-child" || ["memory", "processes"].contains(kind);
        if of_tree && lacks("limits of a process tree") {
            continue;
        }
        let dir = TestDir::sandboxed();
        let Some(agent) = script_agent("hostile.py", mode) else { return };
        let mut seats = ["@first", "@first"];
        seats[*seat] = &agent;
        let match_words = ["hex", "--setup", "size=3", seats[0], seats[1], "--out", "x.jsonl"];
        let output = dir.play(&[&match_words, *conditions].concat());
        let fault = &output["verdict"]["seats"][*seat]["fault"];
        assert_eq!(fault["kind"], *kind, "{mode} {conditions:?}: {output}");
        let words_of_debug = ["debug", "x.jsonl", "--agent", &agent, "--json"];
        if *kind == "resigned" {
            // This is allowed.
            let report = dir.run(&words_of_debug).code(0).json();
            assert!(report["wrong"].is_null() && report["same"] == true, "{report}");
            continue;
        }
        let report = dir.run(&words_of_debug).code(3).json();
        let wrong = report["wrong"].as_str().unwrap();
        assert!(wrong.contains(words), "{mode} {conditions:?}: {report}");
        dir.assert_tmp_is_empty();
    }
}

/// Earlier turns, and the start, have the time that they had in the match, however little is left for
/// the turn that is judged.
#[test]
fn slow_answers_before_the_turn_are_waited_for() {
    let conditions = [("6 0", ["--move-time", "3s"]), ("0 6", ["--clock", "12s"])];
    let checks = conditions.map(|(seconds, clock)| {
        std::thread::spawn(move || {
            let dir = TestDir::new();
            let Some(agent) = script_agent("slow.py", seconds) else { return };
            let seats = ["hex", "--setup", "size=3", &agent, "@first", "--out", "x.jsonl"];
            let output = dir.play(&[&seats[..], &clock].concat());
            assert_eq!(output["verdict"]["seats"][0]["fault"]["kind"], "illegal", "{output}");
            let words = ["debug", "x.jsonl", "--agent", &agent, "--json"];
            let report = dir.run(&words).code(3).json();
            assert!(report["wrong"].as_str().unwrap().contains("board"), "{seconds}: {report}");
        })
    });
    for check in checks {
        check.join().unwrap();
    }
}

#[test]
fn debug_refuses_limits_that_allow_no_line() {
    let dir = TestDir::new();
    dir.short_match(["@random", "@random"]);
    let text = fs::read_to_string(dir.path("x.jsonl")).unwrap();
    fs::write(dir.path("x.jsonl"), text.replace("\"line_bytes\":65536", "\"line_bytes\":0"))
        .unwrap();
    let output = dir.run(&["debug", "x.jsonl", "--seat", "0"]).code(1);
    assert!(output.stderr.contains("line 1: limits: `line_bytes`"), "{}", output.stderr);
}

/// A fault may be seen before the first request in the match, and after it in the replay.
#[test]
fn a_fault_between_ready_and_the_first_request_is_judged() {
    let dir = TestDir::new();
    let Some(agent) = script_agent("hostile.py", "closes-stdout") else { return };
    dir.play(&["hex", "--setup", "size=3", &agent, "@first", "--out", "x.jsonl"]);
    let text = fs::read_to_string(dir.path("x.jsonl")).unwrap();
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.contains("\"type\":\"turn\"")).collect();
    dir.write("x.jsonl", lines.join("\n") + "\n");
    let report = dir.run(&["debug", "x.jsonl", "--agent", &agent, "--json"]).code(3).json();
    assert!(report["wrong"].as_str().unwrap().contains("closed its stdout"), "{report}");
}

/// Both commands that a match with two faults prints repeat the start of their agents.
#[test]
fn two_faults_have_a_fix_and_a_command_each() {
    let (Some(one), Some(other)) =
        (script_agent("broken.py", "wrong_field"), script_agent("broken.py", "banner"))
    else {
        return;
    };
    let dir = TestDir::new();
    let (one, other) = (format!("one={one}"), format!("other={other}"));
    let words = ["play", "chexers", &one, &other, "@first"];
    let text = dir.run(&[&words[..], &AMPLE].concat()).code(0).stdout;
    let commands: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("debug ")).collect();
    assert_eq!(commands.len(), 2, "{text}");
    for line in commands {
        let (agent, command) = line.split_once(": ").unwrap();
        let report = dir.shell(&format!("{command} --json")).code(3).json();
        assert_eq!(report["same"], true, "{report}");
        assert_eq!(report["turn"], Value::Null, "{report}");
        let expected = if report["seat"] == 0 { "one (seat 0)" } else { "other (seat 1)" };
        assert_eq!(agent, expected, "{text}");
        assert!(text.contains(&format!("\nfix {agent}: ")), "{text}");
    }
}

#[test]
fn answers_that_do_not_repeat_are_explained() {
    let Some(python) = python() else { return };
    let dir = TestDir::new();
    let note = "seed them from `seed` in `hello`";
    for (seed, repeats) in [("", false), ("random.seed(message[\"seed\"])", true)] {
        let bot = format!(
            "import json, random, sys\n\
             for line in sys.stdin:\n    message = json.loads(line)\n    answer = None\n    \
             if message[\"type\"] == \"hello\":\n        {seed}\n        \
             answer = {{\"type\": \"ready\", \"want\": [\"actions\"]}}\n    \
             if message[\"type\"] == \"turn\":\n        action = random.choice(message[\"actions\"])\n        \
             answer = {{\"type\": \"action\", \"turn\": message[\"turn\"], \"action\": action}}\n    \
             if answer:\n        print(json.dumps(answer), flush=True)\n"
        );
        dir.write("bot.py", bot);
        let agent = format!("{} bot.py", python.display());
        let file = format!("{repeats}.jsonl");
        dir.run(&["play", "hex", &agent, "@first", "--seed", "1", "--out", &file]).code(0);
        let words = ["debug", &file, "--seat", "0", "--turn", "2", "--agent", &agent];
        let ran = dir.run(&words).code(0);
        assert_eq!(!ran.stderr.contains(note), repeats, "{}", ran.stderr);
    }
}

/// An agent in shell that leaves a file where it was started, and answers nothing.
const LEAVES_A_FILE: &str = "#!/bin/sh\ntouch \"$HERE/started\"\n";

/// A transcript may come from a stranger.
#[test]
fn a_transcript_starts_no_program_that_it_names() {
    let dir = TestDir::new();
    let program = dir.program("bot.sh", &LEAVES_A_FILE.replace("$HERE", &path_of(&dir)));
    let outside = TestDir::new();
    outside.program("bot/bot.sh", &LEAVES_A_FILE.replace("$HERE", &path_of(&dir)));
    outside.write("bot/agent.toml", "command = [\"./bot.sh\"]\n");
    let outside = outside.path("bot").display().to_string();
    std::os::unix::fs::symlink(&outside, dir.path("link")).unwrap();
    for agent in [&program, "sh bot.sh", &outside, "link", "a=link", "link/bot.sh"] {
        dir.run(&["-q", "play", "hex", agent, "@first", "--out", "x.jsonl"]).code(0);
        fs::remove_file(dir.path("started")).unwrap();
        let refused = dir.run(&["debug", "x.jsonl"]).code(2);
        refused.stderr_has("neither built in nor a folder here").stderr_has("--agent");
        assert!(!dir.path("started").exists(), "{agent}");
        fs::remove_file(dir.path("x.jsonl")).unwrap();
    }
}

#[test]
fn a_folder_is_started_if_it_has_the_files_that_played() {
    let dir = TestDir::new();
    dir.program("bots/bot/bot.sh", &LEAVES_A_FILE.replace("$HERE", &path_of(&dir)));
    dir.write("bots/bot/agent.toml", "command = [\"./bot.sh\"]\n");
    dir.run(&["-q", "play", "hex", "bots/bot", "@first", "--out", "x.jsonl"]).code(0);
    let is_started = |words: &[&str], code| {
        fs::remove_file(dir.path("started")).ok();
        dir.run(&[&["debug", "x.jsonl"], words].concat()).code(code);
        dir.path("started").exists()
    };
    assert!(is_started(&[], 3));
    dir.write("bots/bot/more.txt", "changed");
    assert!(!is_started(&[], 2));
    assert!(is_started(&["--agent", "bots/bot"], 3));
}

fn path_of(dir: &TestDir) -> String {
    dir.path("").display().to_string()
}
