//! `check`: its reports. What it says about each mistake is in `mistakes` and in `full`.

use crate::support::{Running, TestDir, python};
use serde_json::Value;

/// Returns the name of the first probe that failed.
fn first_failed(report: &Value) -> &Value {
    let probes = report["probes"].as_array().unwrap();
    &probes.iter().find(|it| it["status"] == "failed").unwrap()["name"]
}

#[test]
fn a_good_agent_passes_every_probe() {
    let dir = TestDir::new();
    let words = ["check", "@first", "--game", "hex", "--setup", "size=3", "--json"];
    let report = dir.run(&words).code(0).json();
    let probes = report["probes"].as_array().unwrap();
    assert!(probes.len() > 15 && probes.iter().all(|it| it["status"] == "passed"), "{report}");
    dir.assert_tmp_is_empty();
}

#[test]
fn an_agent_that_cannot_be_read_is_reported_like_any_other() {
    let dir = TestDir::new();
    let words = ["check", "bot", "--setup", "size=5", "--junit", "check.xml", "--json"];
    // Not built; and with a mistake in agent.toml.
    for (toml, games) in [
        ("command = [\"./bot\"]\ngames = [\"hex\"]\n", 1),
        ("command = [\"./bot\"]\n", 6),
        ("command = ./bot\n", 6),
    ] {
        dir.write("bot/agent.toml", toml);
        let report = dir.run(&words).code(3).json();
        assert_eq!(first_failed(&report), "start", "{toml}: {report}");
        assert_eq!(report["games"].as_array().unwrap().len(), games, "{toml}: {report}");
        let junit = std::fs::read_to_string(dir.path("check.xml")).unwrap();
        assert_eq!(junit.matches("<failure ").count(), 1, "{toml}: {junit}");
    }
}

#[test]
fn the_text_report_and_usage_errors() {
    let dir = TestDir::new();
    let words = ["check", "@illegal", "--game", "hex", "--color", "never"];
    let text = dir.run(&words).code(3).stdout;
    for piece in [
        "ok      the program starts",
        "FAILED  answers its first `turn` with a legal action",
        "got     {\"type\":\"action\",\"turn\":0",
        "why     an illegal action loses the match",
        "fix     the nearest of 121 legal actions is",
        "again   referee check @illegal --game hex --probe first-turn",
        "2 passed, 1 failed",
    ] {
        assert!(text.contains(piece), "{piece:?} is not in\n{text}");
    }
    let caret = text.lines().find(|line| line.trim() == "^").unwrap();
    let got = text.lines().find(|line| line.contains("got ")).unwrap();
    let under = got.chars().skip(caret.find('^').unwrap()).collect::<String>();
    assert!(under.starts_with(r#"{"at""#) || under.starts_with(r#"{"type""#), "{under}");
    // The game is the only one in its agent.toml.
    dir.write("one/agent.toml", "command = [\"cat\"]\ngames = [\"hex\"]\n");
    for (words, expected) in [
        (&["check", "one", "--setup", "size=77"][..], "must be 3 to 26"),
        (&["check", "@human"], "@human is a person"),
        (&["check", "@random", "--game", "hexx"], "did you mean `hex`?"),
        (&["check", "@random", "--probe", "redy"], "did you mean `ready`?"),
        (&["check", "@random", "--setup", "size=5"], "--game GAME"),
    ] {
        let ran = dir.run(words).code(2);
        assert!(ran.stderr.contains(expected), "{words:?}: {}", ran.stderr);
    }
    let words = ["check", "@random", "--game", "hex", "--setup", "size=5", "--probe", "start"];
    dir.run(&words)
        .code(0)
        .stdout_has("next: referee play hex @random @random --setup size=5 --sandbox none\n");
}

#[test]
fn a_closed_pipe_does_not_change_the_exit_code() {
    let dir = TestDir::new();
    let command = "set -o pipefail; referee check @illegal --game hex | head -n 1 >/dev/null";
    dir.shell(&format!("bash -c '{command}'")).code(3);
}

/// A service takes lines of a step's output for commands, also after spaces, and agents write some of these lines.
#[test]
fn words_of_an_agent_are_no_commands_of_a_service() {
    let dir = TestDir::new();
    let words = "  ::stop-commands::x\n::error file=x::y\n##[error]z\n";
    dir.program(
        "bot/bot.sh",
        &format!("#!/bin/sh\nread hello\nprintf '{words}:' >&2\nprintf ':x::\\n{words}' >&2\nprintf '{words}'\nexit 3\n"),
    );
    dir.write(
        "bot/agent.toml",
        "name = \"::error::y ##[error]\"\ncommand = [\"./bot.sh\"]\ngames = [\"hex\"]\n",
    );
    dir.write(
        "cup.toml",
        "name = \"::error::x\"\ngame = \"hex\"\nagents = [\"bot\", \"@first\"]\n",
    );
    for (words, own) in [
        ("check bot --setup size=3 --annotate github", 1),
        ("check bot --setup size=3", 0),
        ("check bot --setup size=3 --json", 0),
        ("play hex bot @first --out x.jsonl", 0),
        ("debug x.jsonl --agent bot", 0),
        ("replay x.jsonl --print", 0),
        ("contest plan cup.toml", 0),
        ("contest check cup.toml", 0),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let mut command = dir.command(&words);
        // An option tells that the output is for the service, too.
        if !words.contains(&"github") {
            command.env("GITHUB_ACTIONS", "true");
        }
        let ran = Running::start(command, None).wait();
        let lines = ran.stdout.lines().chain(ran.stderr.lines());
        let is_command = |line: &&str| line.trim_start().starts_with("::") || line.contains("##[");
        let commands: Vec<&str> = lines.filter(is_command).collect();
        let are_own =
            commands.iter().all(|it| it.starts_with("::error title=") && it.contains("fix: "));
        assert!(commands.len() == own && are_own, "{words:?}: {commands:?}\n{}", ran.stdout);
        assert!(ran.stdout.contains("error"), "{words:?}: {}{}", ran.stdout, ran.stderr);
    }
}

/// An agent that does the same wrong action in a usual game isn't told about retired seats.
#[test]
fn the_advice_of_a_situation_is_for_what_is_wrong_in_it_alone() {
    let Some(_) = python() else { return };
    let dir = TestDir::new();
    let bot = r#"import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "hello":
        seat = m["seat"]
        print('{"type":"ready","want":["position","actions"]}', flush=True)
    elif m["type"] == "turn":
        wrong = {"type": "exit", "from": m["position"]["pieces"][seat][0]}
        print(json.dumps({"type": "action", "action": wrong if seat else m["actions"][0]}), flush=True)
"#;
    dir.write("bot.py", bot);
    let of = |probes: &[&str]| {
        let mut words = vec!["check", "python3 bot.py", "--game", "chexers", "--json"];
        words.extend(probes.iter().flat_map(|name| ["--probe", name]));
        let report = dir.run(&words).json();
        let probes = report["probes"].as_array().unwrap().clone();
        let failure = probes.iter().rfind(|probe| probe["status"] == "failed").unwrap().clone();
        failure["failure"]["fix"].as_str().unwrap().to_owned()
    };
    let retired = "retired-at-start:chexers";
    assert!(of(&[retired]).starts_with("after `retired`, "), "{}", of(&[retired]));
    let both = of(&["seat:chexers:1", retired]);
    assert!(!both.contains("retired"), "{both}");
}
