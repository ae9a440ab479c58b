//! What an agent is given beside its pipes: docs/agents.md, "How it is started".

use crate::support::{PROGRAM, Place, Running, python, root, scripted};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
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

/// Plays a match between two agents that tell what they were given, from a referee that has been
/// given a good deal itself.
fn told(place: &Place, level: &str) -> Option<Vec<Value>> {
    let agent = scripted("surroundings.py", "")?;
    let words = ["play", "hex", "--setup", "size=3", "--out", "x.jsonl", "--sandbox", level];
    let words = [&words, &[agent.as_str(), agent.as_str()][..]].concat();
    let inner = place.command(&words);
    let mut command = Command::new("sh");
    // Open files that a program would inherit.
    let script = "exec \"$0\" \"$@\" 7</dev/null 8>>leak 9<.";
    command.args(["-c", script, PROGRAM]).args(inner.get_args());
    command.current_dir(place.path(""));
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    for name in VARIABLES.iter().filter(|name| !["PATH", "LANG", "TMPDIR"].contains(name)) {
        command.env(name, "/given");
    }
    command.env("SECRET", "no agent's business").env("LD_LIBRARY_PATH", "/nowhere");
    command.stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    Running::start(command, None).wait().code(0);
    let told = [0, 1].map(|seat| serde_json::from_str(&place.said("x.jsonl", seat)).unwrap());
    Some(told.to_vec())
}

#[test]
fn nothing_reaches_an_agent_but_what_is_documented() {
    let place = Place::new();
    let Some(told) = told(&place, "auto") else { return };
    for told in &told {
        let fds: Vec<&String> = told["fds"].as_object().unwrap().keys().collect();
        assert_eq!(fds, ["0", "1", "2"], "{told}");
        for (fd, file) in told["fds"].as_object().unwrap() {
            assert!(file.as_str().unwrap().starts_with("pipe:"), "{fd} is {file}");
        }
        let variables = told["environment"].as_object().unwrap();
        let names: BTreeSet<&str> = variables.keys().map(String::as_str).collect();
        assert_eq!(names, VARIABLES.iter().copied().collect(), "{told}");
        for name in ["TZ", "VIRTUAL_ENV", "JAVA_HOME"] {
            assert_eq!(variables[name], "/given", "{name} passes as it is");
        }
        assert_eq!(variables["LANG"], "C.UTF-8");
        assert_eq!(told["session"], told["pid"], "it has a session of its own");
    }
    place.assert_tidy();
}

#[test]
fn each_agent_has_a_private_folder_that_is_removed() {
    for level in ["none", "auto"] {
        private_folders(level);
    }
}

fn private_folders(level: &str) {
    let place = Place::new();
    let Some(told) = told(&place, level) else { return };
    let mut homes = BTreeSet::new();
    for told in &told {
        let variables = &told["environment"];
        assert_eq!(variables["HOME"], variables["TMPDIR"]);
        assert_eq!(told["home_is_folder"], true, "{told}");
        // From `isolated` on nobody else has it in sight, whatever its mode is.
        assert!(level == "auto" || told["listed_by_others"] == false, "{told}");
        let home = variables["HOME"].as_str().unwrap();
        assert!(!Path::new(home).exists(), "{home} is still there");
        assert!(Path::new(home).starts_with(place.path("tmp")), "{home} is elsewhere");
        homes.insert(home.to_owned());
    }
    assert_eq!(homes.len(), 2, "they share a folder");
}

#[test]
fn an_agent_starts_in_its_folder() {
    let place = Place::new();
    let Some(agent) = scripted("surroundings.py", "") else { return };
    // A command line runs where the referee was started, an agent.toml's in its own folder, and so
    // does a program file.
    place.write("bots/mine/agent.toml", format!("command = '''{agent}'''\n"));
    let script = fs::read_to_string(root().join("tests/tests/agents/surroundings.py")).unwrap();
    place.program("bots/bot.py", &format!("#!{}\n{script}", python().unwrap().display()));
    for (agent, folder) in
        [(agent.as_str(), ""), ("bots/mine", "bots/mine"), ("bots/bot.py", "bots")]
    {
        place.play(&["hex", agent, "@first", "--setup", "size=3", "--out", "x.jsonl", "--force"]);
        let told: Value = serde_json::from_str(&place.said("x.jsonl", 0)).unwrap();
        let wanted = place.path(folder).canonicalize().unwrap();
        assert_eq!(told["folder"].as_str().map(Path::new), Some(wanted.as_path()), "{agent}");
    }
}

#[test]
fn a_machine_that_allows_few_files_is_no_agents_fault() {
    let place = Place::new();
    let line = "ulimit -n 100; exec referee play hex @random @random --setup size=3 --json \
                --no-transcript";
    let told = place.shell(line).code(0).json();
    assert_eq!(told["verdict"]["result"], "played", "{told}");
    let refused = place.run(&["play", "hex", "@random", "@random", "--limit", "files=2"]);
    refused.code(2).complains("at least 8");
    let refused = place.run(&["play", "hex", "@random", "@random", "--limit", "line_bytes=0"]);
    refused.code(2).complains("can't answer");
}
