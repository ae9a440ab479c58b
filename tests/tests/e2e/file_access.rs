//! What agents may read in the sandbox: docs/agents.md, "What it may read".

use crate::support::lacks;
use crate::support::{TestDir, program, python};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// An agent that reads a file in its folder, tries to read forbidden files and to write beside its program, and plays.
const BOT: &str = r#"
import json, os, sys
assert open("weights.txt").read() == "42" and "weights.txt" in os.listdir(".")
for path in open("wanted.txt").read().split():
    try:
        open(path).read(1)
        print("READ", path, file=sys.stderr)
    except OSError as error:
        print("KEPT", path, file=sys.stderr)
try:
    open("written.txt", "w")
    print("READ what it has written", file=sys.stderr)
except OSError:
    pass
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready","want":["actions"]}', flush=True)
    elif message["type"] == "turn":
        answer = {"type": "action", "action": message["actions"][0]}
        print(json.dumps(answer), flush=True)
"#;

/// The Python that every user may read.
const SYSTEM: &str = "/usr/bin/python3";

/// Creates a home folder with a virtual environment, a copy of pyenv's layout, and an agent for each.
fn home(dir: &TestDir, python: &Path) {
    let at = |name: &str| dir.path(name).display().to_string();
    let words = ["-m", "venv", "--without-pip"];
    let made = Command::new(python).args(words).arg(dir.path("home/venv")).status();
    assert!(made.unwrap().success());
    dir.write("home/.pyenv/versions/3/lib/site.txt", "");
    fs::create_dir_all(dir.path("home/.pyenv/versions/3/bin")).unwrap();
    let installed = dir.path("home/.pyenv/versions/3/bin/python3");
    // The target of a shim can't be detected: it works only below the shim's folder or in the system.
    symlink(SYSTEM, &installed).unwrap();
    let shim = format!("#!/usr/bin/env bash\nexec '{}' \"$@\"\n", installed.display());
    dir.program("home/.pyenv/shims/python3", &shim);
    dir.write("home/notes.txt", "");
    for (name, interpreter, other) in [
        ("first", "../venv/bin/python".to_owned(), "second"),
        ("second", at("home/.pyenv/shims/python3"), "first"),
    ] {
        let file = |name: &str, text: &str| dir.write(&format!("home/{name}"), text);
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
    dir.write("matches/old.jsonl", "");
}

/// Plays at a sandbox level and returns the agents' stderr. If the machine doesn't support the level,
/// reports a skipped test and returns `None`.
fn played(dir: &TestDir, agents: [&str; 2], level: &str) -> Option<String> {
    let words = ["play", "hex", "--setup", "size=3", "--json", "--sandbox", level];
    fs::create_dir_all(dir.path("home/venv")).unwrap();
    // An agent.toml names a program there: in no real home folder, and in a virtual environment.
    let more = ["--allow-read", "home/.pyenv", "--allow-read", "home/venv", "--out", "x.jsonl"];
    let more = [&more[..], &["--force"]].concat();
    let ran = dir.run(&[&words[..], &agents, &more].concat());
    if ran.stderr.contains("is unavailable: ") {
        println!("skipped: {level}: {}", ran.stderr);
        return None;
    }
    let output = ran.code(0).json();
    for seat in output["verdict"]["seats"].as_array().unwrap() {
        assert!(seat["fault"].is_null(), "{level}: {output}");
    }
    let events = dir.events("x.jsonl");
    Some(events.iter().filter_map(|event| event["text"].as_str()).collect())
}

#[test]
fn agents_in_a_home_folder_read_only_their_own_files() {
    let system = Path::new(SYSTEM);
    if !system.is_file() {
        return;
    }
    // As root, an interpreter in root's home folder is readable from level `isolated` on.
    for (level, python) in [("confined", Some(system)), ("isolated", python())] {
        let Some(python) = python else { continue };
        let dir = TestDir::sandboxed();
        home(&dir, python);
        let agents = ["home/first", "home/second"];
        let Some(output) = played(&dir, agents, level) else { continue };
        assert!(!output.contains("READ"), "{level}: {output}");
        assert_eq!(output.matches("KEPT").count(), 14, "{level}: {output}");
        dir.assert_tmp_is_empty();
    }
}

/// Agents in the same folder read only their own files, also with a private `/tmp`.
#[test]
fn programs_in_one_folder_do_not_see_each_other() {
    if !Path::new(SYSTEM).is_file() {
        return;
    }
    let dir = TestDir::sandboxed();
    for name in ["one.py", "two.py"] {
        dir.write(name, BOT);
    }
    dir.write("weights.txt", "42");
    dir.write("home/.pyenv/x", "");
    dir.write("wanted.txt", "one.py two.py x.jsonl");
    let agents = ["one.py", "two.py"].map(|name| format!("{SYSTEM} {name}"));
    for level in ["confined", "isolated", "metered"] {
        let agents = [agents[0].as_str(), agents[1].as_str()];
        let Some(output) = played(&dir, agents, level) else { continue };
        assert_eq!(output.matches("READ").count(), 2, "each itself: {level}: {output}");
        assert_eq!(output.matches("KEPT").count(), 4, "{level}: {output}");
        dir.assert_tmp_is_empty();
    }
}

/// Bytecode plays instead of its source, and no digest covers it.
#[test]
fn bytecode_beside_an_agent_is_not_loaded() {
    let Some(python) = python() else { return };
    let dir = TestDir::new();
    let main = "import helper, sys\nprint('PLAYS', helper.WHO, file=sys.stderr)\n";
    dir.write("bot/main.py", format!("{main}{BOT}"));
    dir.write("bot/weights.txt", "42");
    dir.write("bot/wanted.txt", "");
    dir.write("home/.pyenv/x", "");
    dir.write("bot/helper.py", "WHO = 'another'\n");
    let compile = "import py_compile as it; it.compile('helper.py', \
                   invalidation_mode=it.PycInvalidationMode.UNCHECKED_HASH)";
    let compiled = Command::new(python).args(["-c", compile]).current_dir(dir.path("bot")).status();
    assert!(compiled.unwrap().success());
    dir.write("bot/helper.py", "WHO = 'the source'\n");
    let command = format!("command = [{:?}, \"main.py\"]\n", python.display().to_string());
    dir.write("bot/agent.toml", &command);
    let line = format!("'{}' bot/main.py", python.display());
    dir.write("weights.txt", "42");
    dir.write("wanted.txt", "");
    for agent in ["bot", line.as_str()] {
        let output = played(&dir, [agent, "@first"], "none").unwrap();
        assert!(output.contains("PLAYS the source"), "{agent}: {output}");
    }
}

#[test]
fn missing_folders_are_named_with_the_line_to_add() {
    if lacks("a sandbox") {
        return;
    }
    let dir = TestDir::sandboxed();
    dir.write("weights.txt", "42");
    // What it says last doesn't name the file.
    let failing =
        "try: open('../weights.txt')\nexcept OSError as error: exit(f'{error}\\ngave up')\n";
    dir.write("bot/bot.py", failing);
    dir.write("bot/agent.toml", format!("command = [{SYSTEM:?}, \"bot.py\"]\n"));
    if !Path::new(SYSTEM).is_file() {
        return;
    }
    for level in ["confined", "isolated"] {
        let words = ["play", "hex", "bot", "@first", "--sandbox", level];
        let ran = dir.run(&words);
        if ran.stderr.contains("is unavailable: ") {
            println!("skipped: {level}: {}", ran.stderr);
            continue;
        }
        let file = dir.path("").canonicalize().unwrap();
        let line = format!("grant it with `--allow-read {}/weights.txt`", file.display());
        ran.code(0).stdout_has(&line);
        dir.run(&[&words[..], &["--no-transcript"]].concat()).code(0).stdout_has(&line);
    }
    dir.write("bot/bot.py", "open('../weights.txt').read()\nprint('x')\n");
    let sandbox = "[sandbox]\nread = [\"../weights.txt\"]";
    let read = format!("command = [{SYSTEM:?}, \"bot.py\"]\n{sandbox}");
    dir.write("bot/agent.toml", read);
    let words = ["play", "hex", "bot", "@first", "--sandbox", "confined", "--json"];
    let refused = dir.run(&words).code(0).stderr_has("not granted: ").stderr_has("--allow-read");
    assert_eq!(refused.json()["verdict"]["seats"][0]["fault"]["kind"], "start");
    let played = dir.play(&["hex", "bot", "@first", "--allow-read", "weights.txt"]);
    assert_eq!(played["verdict"]["seats"][0]["fault"]["kind"], "garbled", "{played}");
    dir.write("bot/agent.toml", "command = \"sh\"\nsandbox.read = [\"../none\"]");
    dir.run(&["play", "hex", "bot", "@first"]).code(2).stderr_has("../none");
}

/// What a submission can put in its folder to open the organiser's files.
#[test]
fn an_agent_toml_opens_nothing_by_itself() {
    let dir = TestDir::sandboxed();
    let key = dir.path("home/.ssh/key").display().to_string();
    dir.write("home/.ssh/key", "secret");
    dir.write("bots/eve/bot.py", BOT);
    dir.write("bots/eve/weights.txt", "42");
    dir.write("bots/eve/wanted.txt", &key);
    let command = format!("command = [{SYSTEM:?}, \"bot.py\", \"{key}\"]\n");
    let asks = format!("{command}[sandbox]\nread = [\"../../home/.ssh\", {SYSTEM:?}]\n");
    dir.write("bots/eve/agent.toml", asks);
    if !Path::new(SYSTEM).is_file() {
        return;
    }
    let words = ["play", "hex", "bots/eve", "@first", "--setup", "size=3", "--out", "x.jsonl"];
    for (granted, expected) in [(&[][..], "KEPT"), (&["--allow-read", "home/.ssh"], "READ")] {
        let more = ["--sandbox", "confined", "--force"];
        let ran = dir.run(&[&words[..], &more, granted].concat());
        if ran.stderr.contains("is unavailable: ") {
            println!("skipped: {}", ran.stderr);
            return;
        }
        assert_eq!(ran.stderr.contains("not granted"), granted.is_empty(), "{}", ran.stderr);
        let events = dir.events("x.jsonl");
        let stderr: String = events.iter().filter_map(|event| event["text"].as_str()).collect();
        assert!(stderr.contains(&format!("{expected} {key}")), "{granted:?}: {stderr}");
    }
    let asked = "eve asks to read";
    let checked = dir.run(&["check", "bots/eve", "--game", "hex", "--probe", "ready", "--json"]);
    let requests = checked.json()["requests"].to_string();
    assert!(requests.contains(asked) && requests.contains("not granted: "), "{requests}");
    let file = "game = \"hex\"\nagents = [\"@first\"]\nsubmissions = \"bots\"\n";
    dir.write("c.toml", file);
    dir.run(&["contest", "plan", "c.toml"]).code(0).stderr_has(asked).stderr_has("not granted: ");
    dir.write("c.toml", format!("{file}sandbox.read = [\"home/.ssh\"]\n"));
    let plan = dir.run(&["contest", "plan", "c.toml"]).code(0).stderr_has("home/.ssh: granted\n");
    assert!(!plan.stderr.contains("not granted"), "{}", plan.stderr);
    dir.run(&["check", "bots/eve", "--allow-read", "none"]).code(2).stderr_has("none");
}

#[test]
fn a_granted_terminal_is_read_only() {
    let dir = TestDir::sandboxed();
    let bot = "import os\n\
               for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):\n \
                try: os.open('/dev/ptmx', flags | os.O_NOCTTY); print('open', flags, file=sys.stderr)\n \
                except PermissionError: print('refused', flags, file=sys.stderr)\n";
    dir.write("bot.py", format!("import sys\n{bot}"));
    if !Path::new(SYSTEM).is_file() || !Path::new("/dev/ptmx").exists() {
        return;
    }
    let agent = format!("{SYSTEM} bot.py");
    let words = ["play", "hex", &agent, "@first", "--out", "x.jsonl", "--sandbox", "confined"];
    let ran = dir.run(&[&words[..], &["--allow-read", "/dev/ptmx"]].concat());
    if ran.stderr.contains("is unavailable: ") {
        println!("skipped: {}", ran.stderr);
        return;
    }
    let events = dir.events("x.jsonl");
    let stderr: String = events.iter().filter_map(|event| event["text"].as_str()).collect();
    assert_eq!(stderr, "open 0\nrefused 1\nrefused 2\n");
}

/// As root, agents have users of their own, for whom their folder is mounted.
#[test]
fn root_can_use_a_private_folder() {
    let Some(python) = python().filter(|_| nix::unistd::geteuid().is_root()) else {
        println!("skipped: agents have users of their own only as root");
        return;
    };
    let dir = TestDir::sandboxed();
    dir.write("own/agent.toml", format!("command = [{python:?}, \"bot.py\"]"));
    dir.write("own/bot.py", BOT);
    dir.write("own/weights.txt", "42");
    dir.write("own/wanted.txt", dir.path("x.jsonl").display().to_string());
    fs::set_permissions(dir.path("own"), fs::Permissions::from_mode(0o700)).unwrap();
    dir.write("home/.pyenv/empty", "");
    let Some(output) = played(&dir, ["own", "@first"], "isolated") else { return };
    assert!(output.contains("KEPT"), "{output}");
    let words = ["play", "hex", "own", "@first", "--sandbox", "confined"];
    dir.run(&words).code(4).stderr_has("only its owner may");
}

/// What is kept of an agent's writes is in a folder of its name, whatever that is.
#[test]
fn what_an_agent_writes_is_kept_where_its_name_cannot_lead_out() {
    let dir = TestDir::new();
    let bot = "printf x > written\nexec \"$REFEREE\" agent first\n";
    let bot = bot.replace("$REFEREE", program());
    dir.write("bot/bot.sh", bot);
    let manifest = "name = \"..\"\ncommand = [\"sh\", \"bot.sh\"]\nsandbox.write = true\n";
    dir.write("bot/agent.toml", manifest);
    dir.write("own", "mine");
    let words = ["play", "hex", "bot", "@first", "-s", "size=3", "--keep-writes", "kept/inner"];
    let words = [&words[..], &["--sandbox", "none", "--no-transcript"]].concat();
    dir.run(&words).code(0);
    let names = |folder: &str| {
        let entries = fs::read_dir(dir.path(folder)).unwrap();
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    let mut inner = names("kept/inner");
    inner.sort_unstable();
    assert_eq!((names("kept"), inner), (vec!["inner".into()], vec!["%2e.".into(), ".%2e.".into()]));
    assert!(dir.path("kept/inner/%2e./written").is_file(), "{:?}", names("kept/inner/%2e."));
    // Everyone chooses the name of their own agent.
    fs::rename(dir.path("bot"), dir.path("other")).unwrap();
    let words: Vec<&str> =
        words.into_iter().map(|word| if word == "bot" { "other" } else { word }).collect();
    dir.run(&words).code(2).stderr_has("is kept for the agent in");
}
