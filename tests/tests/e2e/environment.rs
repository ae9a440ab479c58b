//! The environment of an agent: docs/agents.md, "How it is started".

use crate::support::{Running, TestDir, clock_options, program, python, root, script_agent};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The variables that docs/agents.md names.
const VARIABLES: &[&str] = &[
    "DOTNET_GCHeapHardLimit",
    "GOMEMLIMIT",
    "HOME",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "LANG",
    "NODE_OPTIONS",
    "PATH",
    "TMPDIR",
    "TZ",
    "VIRTUAL_ENV",
];

/// Plays a match between two agents that report their environment, with open files and variables in
/// the referee's own environment. Returns the reports.
fn agent_reports(dir: &TestDir, level: &str) -> Option<Vec<Value>> {
    let agent = script_agent("environment.py", "")?;
    let words = ["play", "hex", "--setup", "size=3", "--out", "x.jsonl", "--sandbox", level];
    let words = [&words, &[agent.as_str(), agent.as_str()][..]].concat();
    let mut command = Command::new("sh");
    // Open files that a child process would inherit.
    let script = "exec \"$0\" \"$@\" 7</dev/null 8>>leak 9<.";
    command.args(["-c", script, program()]).args(&words).args(clock_options(&words));
    dir.set_environment(&mut command);
    for name in VARIABLES.iter().filter(|name| !["PATH", "LANG", "TMPDIR"].contains(name)) {
        command.env(name, "/given");
    }
    command.env("SECRET", "no agent's business").env("LD_LIBRARY_PATH", "/nowhere");
    Running::start(command, None).wait().code(0);
    let reports = [0, 1].map(|seat| serde_json::from_str(&dir.said("x.jsonl", seat)).unwrap());
    Some(reports.to_vec())
}

#[test]
fn agents_receive_only_documented_environment() {
    let dir = TestDir::sandboxed();
    let Some(reports) = agent_reports(&dir, "auto") else { return };
    for report in &reports {
        let fds: Vec<&String> = report["fds"].as_object().unwrap().keys().collect();
        assert_eq!(fds, ["0", "1", "2"], "{report}");
        for (fd, file) in report["fds"].as_object().unwrap() {
            assert!(file.as_str().unwrap().starts_with("pipe:"), "{fd} is {file}");
        }
        let variables = report["environment"].as_object().unwrap();
        let names: BTreeSet<&str> = variables.keys().map(String::as_str).collect();
        assert_eq!(names, VARIABLES.iter().copied().collect(), "{report}");
        for name in ["TZ", "VIRTUAL_ENV", "JAVA_HOME"] {
            assert_eq!(variables[name], "/given", "{name} passes as it is");
        }
        assert_eq!(variables["LANG"], "C.UTF-8");
        assert_eq!(report["session"], report["pid"], "it has its own session");
    }
    dir.assert_tmp_is_empty();
}

/// Also where it runs as another user than the referee, whose pipes these are.
#[test]
fn an_agent_may_open_its_own_streams_by_their_names() {
    let dir = TestDir::sandboxed();
    let script = "read hello </dev/stdin\ncase $hello in *hello*) echo greeted >/dev/stderr;; esac\n\
                  echo '{\"type\":\"ready\"}' >/dev/stdout\nread turn\necho turned >/dev/fd/2\n";
    dir.write("bot/bot.sh", script);
    dir.write("bot/agent.toml", "command = [\"/bin/sh\", \"bot.sh\"]\n");
    for level in ["auto", "none"] {
        let words = ["play", "hex", "bot", "@first", "--out", "x.jsonl", "--force"];
        dir.run(&[&words[..], &["--sandbox", level]].concat()).code(0);
        assert_eq!(dir.said("x.jsonl", 0), "greeted\nturned\n", "{level}");
    }
}

/// Variables of an agent.toml reach the agent, but not a trusted wrapper around it.
#[test]
fn an_agent_toml_adds_variables() {
    let dir = TestDir::sandboxed();
    dir.write("bot/bot.sh", "echo \"$TABLE\" >&2\n");
    let manifest = |env: &str| format!("command = [\"/bin/sh\", \"bot.sh\"]\nenv = {env}\n");
    dir.write("bot/agent.toml", manifest("{ TABLE = \"a b=c\" }"));
    let words = ["play", "hex", "bot", "@first", "--out", "x.jsonl", "--force"];
    dir.run(&words).code(0);
    assert_eq!(dir.said("x.jsonl", 0).trim(), "a b=c");
    dir.write("wrapper", "#!/bin/sh\necho \"wrapper: $TABLE\" >&2\nexec \"$@\"\n");
    let wrapper = dir.path("wrapper").display().to_string();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let more = ["--sandbox", "external", "--wrapper", &wrapper];
    dir.run(&[&words[..], &more].concat()).code(0);
    assert_eq!(dir.said("x.jsonl", 0).trim(), "wrapper: \na b=c");
    for (env, expected) in [
        ("{ HOME = \"/root\" }", "env: HOME is set by the referee"),
        ("{ JAVA_TOOL_OPTIONS = \"-Xmx9g\" }", "env: JAVA_TOOL_OPTIONS is set by the referee"),
        ("{ \"A=B\" = \"c\" }", "not a valid variable name"),
        ("{ A = 3 }", "expected text, got 3"),
    ] {
        dir.write("bot/agent.toml", manifest(env));
        dir.run(&words).code(2).stderr_has(expected);
    }
}

#[test]
fn each_agent_has_a_private_folder_that_is_removed() {
    for level in ["none", "auto"] {
        private_folders(level);
    }
}

fn private_folders(level: &str) {
    let dir = TestDir::sandboxed();
    let Some(reports) = agent_reports(&dir, level) else { return };
    let mut homes = BTreeSet::new();
    for report in &reports {
        let variables = &report["environment"];
        assert_eq!(variables["HOME"], variables["TMPDIR"]);
        assert_eq!(report["home_is_folder"], true, "{report}");
        // From level `isolated` on, other users can't see it whatever its mode.
        assert!(level == "auto" || report["listed_by_others"] == false, "{report}");
        let home = variables["HOME"].as_str().unwrap();
        assert!(!Path::new(home).exists(), "{home} is still there");
        assert!(Path::new(home).starts_with(dir.path("tmp")), "{home} is elsewhere");
        homes.insert(home.to_owned());
    }
    // From level `isolated` on, each has a file system of its own there.
    assert!(level == "auto" || homes.len() == 2, "they share a folder");
}

/// An agent's own file systems say nothing about its earlier games: it could note there what it must not remember.
#[test]
fn files_of_earlier_games_are_not_counted() {
    let dir = TestDir::sandboxed();
    if python().is_none() {
        return;
    }
    let bot = "import json, os, sys\n\
        files = [os.open('/tmp', os.O_TMPFILE | os.O_RDWR) for _ in range(5)]\n\
        print(os.fstat(files[0]).st_ino, file=sys.stderr, flush=True)\n\
        for line in sys.stdin:\n    m = json.loads(line)\n    \
        if m['type'] == 'hello': print('{\"type\":\"ready\",\"want\":[\"actions\"]}', flush=True)\n    \
        if m['type'] == 'turn': print(json.dumps({'type': 'action', 'action': m['actions'][0]}), flush=True)\n";
    dir.write("bot/bot.py", bot);
    dir.write("bot/agent.toml", "command = [\"python3\", \"bot.py\"]\n");
    let words = ["hex", "bot", "@first", "-s", "size=3", "--games", "4", "--jobs", "1"];
    let words = [&words[..], &["--sandbox", "isolated", "--out", "games"]].concat();
    let ran = dir.run(&[&["play"][..], &words].concat());
    if ran.exit != Some(0) && ran.stderr.contains("isolated is unavailable") {
        println!("skipped: {}", ran.stderr);
        return;
    }
    ran.code(0);
    let mut files: Vec<_> = fs::read_dir(dir.path("games")).unwrap().flatten().collect();
    files.sort_by_key(fs::DirEntry::file_name);
    let first = |file: &fs::DirEntry| {
        let name = format!("games/{}", file.file_name().display());
        let said = [0, 1].map(|seat| dir.said(&name, seat).trim().to_owned());
        said.into_iter().find(|said| !said.is_empty())
    };
    let numbers: Vec<Option<String>> = files.iter().map(first).collect();
    assert!(numbers.len() == 4 && numbers[0].is_some(), "{numbers:?}");
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), 1, "{numbers:?}");
}

#[test]
fn an_agent_starts_in_its_folder() {
    let dir = TestDir::sandboxed();
    let Some(agent) = script_agent("environment.py", "") else { return };
    // A command line runs in the referee's folder; a folder with agent.toml and a program file run in
    // their own folder.
    dir.write("bots/mine/agent.toml", format!("command = '''{agent}'''\n"));
    let agents = root().join("tests/tests/agents");
    let script = fs::read_to_string(agents.join("environment.py")).unwrap();
    dir.program("bots/bot.py", &format!("#!{}\n{script}", python().unwrap().display()));
    for (agent, folder) in
        [(agent.as_str(), ""), ("bots/mine", "bots/mine"), ("bots/bot.py", "bots")]
    {
        let words = ["hex", agent, "@first", "--setup", "size=3", "--out", "x.jsonl", "--force"];
        dir.play(&[&words[..], &["--allow-read", agents.to_str().unwrap()]].concat());
        let output: Value = serde_json::from_str(&dir.said("x.jsonl", 0)).unwrap();
        let wanted = dir.path(folder).canonicalize().unwrap();
        assert_eq!(output["folder"].as_str().map(Path::new), Some(wanted.as_path()), "{agent}");
    }
}

#[test]
fn a_low_file_limit_is_not_an_agents_fault() {
    let dir = TestDir::sandboxed();
    let line = "ulimit -Sn 100; exec referee play hex @random @random --setup size=3 --json \
                --no-transcript";
    let output = dir.shell(line).code(0).json();
    assert_eq!(output["verdict"]["result"], "played", "{output}");
    let refused = dir.run(&["play", "hex", "@random", "@random", "--limit", "files=2"]);
    refused.code(2).stderr_has("at least 8");
    let refused = dir.run(&["play", "hex", "@random", "@random", "--limit", "line_bytes=0"]);
    refused.code(2).stderr_has("`line_bytes`, `turn_bytes` and `match_bytes` must be at least 1");
}
