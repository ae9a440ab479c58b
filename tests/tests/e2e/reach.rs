//! What agents may read in the sandbox: docs/agents.md, "What it may read".

use crate::support::{Place, python};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Reads what lies beside it, tries what it may not, and plays.
const BOT: &str = r#"
import json, os, sys
assert open("weights.txt").read() == "42" and "weights.txt" in os.listdir(".")
for path in open("wanted.txt").read().split():
    try:
        open(path).read(1)
        print("READ", path, file=sys.stderr)
    except OSError as error:
        print("KEPT", path, file=sys.stderr)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready","want":["actions"]}', flush=True)
    elif message["type"] == "turn":
        answer = {"type": "action", "action": message["actions"][0]}
        print(json.dumps(answer), flush=True)
"#;

/// The Python that everybody may read.
const SYSTEM: &str = "/usr/bin/python3";

/// A home folder with a virtual environment, what looks like pyenv, and an agent for each.
fn home(place: &Place, python: &Path) {
    let at = |name: &str| place.path(name).display().to_string();
    let words = ["-m", "venv", "--without-pip"];
    let made = Command::new(python).args(words).arg(place.path("home/venv")).status();
    assert!(made.unwrap().success());
    place.write("home/.pyenv/versions/3/lib/site.txt", "");
    fs::create_dir_all(place.path("home/.pyenv/versions/3/bin")).unwrap();
    let installed = place.path("home/.pyenv/versions/3/bin/python3");
    // What a shim leads to can't be seen, so that lies below it, or is the system's.
    symlink(SYSTEM, &installed).unwrap();
    let shim = format!("#!/usr/bin/env bash\nexec '{}' \"$@\"\n", installed.display());
    place.program("home/.pyenv/shims/python3", &shim);
    place.write("home/notes.txt", "");
    for (name, interpreter, other) in [
        ("first", "../venv/bin/python".to_owned(), "second"),
        ("second", at("home/.pyenv/shims/python3"), "first"),
    ] {
        let file = |name: &str, text: &str| place.write(&format!("home/{name}"), text);
        file(&format!("{name}/agent.toml"), &format!("command = [{interpreter:?}, \"bot.py\"]"));
        file(&format!("{name}/bot.py"), BOT);
        file(&format!("{name}/weights.txt"), "42");
        let wanted = [
            at(&format!("home/{other}/bot.py")),
            format!("../{other}/agent.toml"),
            at("home/notes.txt"),
            at("x.jsonl"),
            at("matches/old.jsonl"),
            "/proc/1/environ".to_owned(),
            "/etc/shadow".to_owned(),
        ];
        file(&format!("{name}/wanted.txt"), &wanted.join("\n"));
    }
    place.write("matches/old.jsonl", "");
}

/// Plays at a level: all that the agents wrote to stderr; `None`, and a line that says so, where the machine hasn't got it.
fn played(place: &Place, agents: [&str; 2], level: &str) -> Option<String> {
    let words = ["play", "hex", "--setup", "size=3", "--json", "--sandbox", level];
    let ran = place.run(&[&words[..], &agents, &["--out", "x.jsonl", "--force"]].concat());
    if ran.stderr.contains("no sandbox here is") {
        println!("skipped: {level}: {}", ran.stderr);
        return None;
    }
    let told = ran.code(0).json();
    for seat in told["verdict"]["seats"].as_array().unwrap() {
        assert!(seat["fault"].is_null(), "{level}: {told}");
    }
    let events = place.events("x.jsonl");
    Some(events.iter().filter_map(|event| event["text"].as_str()).collect())
}

#[test]
fn agents_in_a_home_folder_start_and_see_only_their_own() {
    let system = Path::new(SYSTEM);
    if !system.is_file() {
        return;
    }
    // As root, an interpreter in root's home folder is shown to agents from `isolated` on.
    for (level, python) in [("confined", Some(system)), ("isolated", python())] {
        let Some(python) = python else { continue };
        let place = Place::new();
        home(&place, python);
        let agents = ["home/first", "home/second"];
        let Some(told) = played(&place, agents, level) else { continue };
        assert!(!told.contains("READ"), "{level}: {told}");
        assert_eq!(told.matches("KEPT").count(), 14, "{level}: {told}");
        place.assert_tidy();
    }
}

/// Where `/tmp` is an agent's own, what lies in a folder there is not for that reason.
#[test]
fn programs_in_one_folder_do_not_see_each_other() {
    if !Path::new(SYSTEM).is_file() {
        return;
    }
    let place = Place::new();
    for name in ["one.py", "two.py"] {
        place.write(name, BOT);
    }
    place.write("weights.txt", "42");
    place.write("wanted.txt", "one.py two.py x.jsonl");
    let agents = ["one.py", "two.py"].map(|name| format!("{SYSTEM} {name}"));
    for level in ["confined", "isolated", "metered"] {
        let agents = [agents[0].as_str(), agents[1].as_str()];
        let Some(told) = played(&place, agents, level) else { continue };
        assert_eq!(told.matches("READ").count(), 2, "each itself: {level}: {told}");
        assert_eq!(told.matches("KEPT").count(), 4, "{level}: {told}");
        place.assert_tidy();
    }
}

#[test]
fn what_an_agent_lacks_is_named_with_the_line_to_add() {
    let place = Place::new();
    place.write("weights.txt", "42");
    place.write("bot/bot.py", "open('../weights.txt')\n");
    place.write("bot/agent.toml", format!("command = [{SYSTEM:?}, \"bot.py\"]\n"));
    if !Path::new(SYSTEM).is_file() {
        return;
    }
    for level in ["confined", "isolated"] {
        let ran = place.run(&["play", "hex", "bot", "@first", "--sandbox", level]);
        if ran.stderr.contains("no sandbox here is") {
            println!("skipped: {level}: {}", ran.stderr);
            continue;
        }
        let file = place.path("").canonicalize().unwrap();
        let line = format!("add `read = [\"{}/weights.txt\"]`", file.display());
        ran.code(0).prints(&line).prints("bot/agent.toml");
    }
    place.write("bot/bot.py", "open('../weights.txt').read()\nprint('x')\n");
    let sandbox = "[sandbox]\nread = [\"../weights.txt\"]";
    let read = format!("command = [{SYSTEM:?}, \"bot.py\"]\n{sandbox}");
    place.write("bot/agent.toml", read);
    let played = place.play(&["hex", "bot", "@first"]);
    assert_eq!(played["verdict"]["seats"][0]["fault"]["kind"], "garbled", "{played}");
    place.write("bot/agent.toml", "command = \"sh\"\nsandbox.read = [\"../none\"]");
    place.run(&["play", "hex", "bot", "@first"]).code(2).complains("../none");
}
