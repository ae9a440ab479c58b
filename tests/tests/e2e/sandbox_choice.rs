//! The choice of the sandbox level: requested, refused, and reported everywhere.

use crate::support::lacks;
use crate::support::{RunResult, TestDir, program};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Levels that a machine may or may not support, strongest first.
const LEVELS: [&str; 5] = ["metered", "isolated", "confined", "basic", "none"];
/// The environment variable that makes layers fail in tests.
const MISHAP: &str = "REFEREE_SANDBOX_MISHAP";

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["play", "hex", "@first", "@first", "--setup", "size=3", "--out", "x.jsonl"], more].concat()
}

/// The same with a layer that the system doesn't have.
fn without(dir: &TestDir, layer: &str, words: &[&str]) -> RunResult {
    dir.run_with(words, |it| it.env(MISHAP, format!("missing:{layer}")))
}

fn header(dir: &TestDir, name: &str) -> Value {
    dir.events(name)[0].clone()
}

fn exists(dir: &TestDir, name: &str) -> bool {
    dir.path(name).exists()
}

/// Returns the level that `auto` chooses here, and its layers.
fn auto(dir: &TestDir) -> Value {
    let output = dir.run(&words(&["--json", "--force"])).code(0).json();
    output["sandbox"].clone()
}

fn rank(level: &Value) -> usize {
    LEVELS.iter().position(|it| level == it).unwrap()
}

#[test]
fn every_supported_level_is_recorded() {
    let dir = TestDir::sandboxed();
    let mut strongest = None;
    for level in LEVELS {
        let words = words(&["--sandbox", level, "--json", "--force"]);
        let ran = dir.run(&words);
        if ran.exit == Some(4) {
            assert!(
                ran.stderr.contains(&format!("sandbox level {level} is unavailable: ")),
                "{ran:?}"
            );
            assert!(!exists(&dir, "x.jsonl"), "{level} is refused and leaves a transcript");
            println!("not tested: {}", ran.stderr.lines().next().unwrap());
            continue;
        }
        let output = ran.code(0).json();
        assert_eq!(output["sandbox"]["level"], level);
        assert_eq!(header(&dir, "x.jsonl")["sandbox"], output["sandbox"]);
        let layers = output["sandbox"]["layers"].as_array().unwrap();
        assert_eq!(layers.is_empty(), level == "none", "{layers:?}");
        let again = output["reproduce"].as_str().unwrap();
        assert!(again.contains(&format!("--sandbox {level}")), "{again}");
        assert_eq!(output["verdict"]["result"], "played");
        strongest = strongest.or(Some(level));
        fs::remove_file(dir.path("x.jsonl")).unwrap();
    }
    let chosen = auto(&dir);
    assert_eq!(Some(chosen["level"].as_str().unwrap()), strongest, "auto is the strongest");
}

#[test]
fn verbose_output_has_the_level_and_its_layers() {
    if lacks("layers of a sandbox") {
        return;
    }
    let dir = TestDir::sandboxed();
    let ran = dir.run(&words(&["--json"])).code(0);
    assert!(ran.stderr.lines().all(|line| !line.starts_with("sandbox: ")), "{ran:?}");
    let output = ran.json();
    let level = output["sandbox"]["level"].as_str().unwrap();
    let ran = dir.run(&words(&["--force", "-v"])).code(0);
    let lines: Vec<&str> =
        ran.stderr.lines().filter(|line| line.starts_with("sandbox: ")).collect();
    assert_eq!(lines.len(), 1, "{ran:?}");
    assert!(lines[0].starts_with(&format!("sandbox: {level} [")), "{lines:?}");
    for layer in output["sandbox"]["layers"].as_array().unwrap() {
        assert!(lines[0].contains(layer.as_str().unwrap()), "{layer} in {lines:?}");
    }
    let is_weaker = rank(&output["sandbox"]["level"]) > rank(&"isolated".into());
    assert_eq!(lines[0].contains("; "), is_weaker, "{lines:?}");
    assert!(!lines[0].contains("metered: "), "not requested: {lines:?}");
    assert!(!output["reproduce"].as_str().unwrap().contains("--sandbox"), "not given by the user");
    let quiet = dir.run(&words(&["--json", "--force", "--quiet"])).code(0);
    assert_eq!(quiet.stderr, "");
    let none = dir.run(&words(&["--force", "--quiet", "--sandbox", "none"])).code(0);
    none.stderr_has("warning: agents run without a sandbox");
}

#[test]
fn an_unsupported_level_is_refused_with_layer_and_remedy() {
    if lacks("layers of a sandbox") {
        return;
    }
    let dir = TestDir::sandboxed();
    for (level, layer, help) in [
        ("confined", "landlock", "help: use Linux 6.12"),
        ("confined", "seccomp", "help: use a kernel with"),
        ("isolated", "userns", "help: "),
    ] {
        let ran = without(&dir, layer, &words(&["--sandbox", level])).code(4);
        ran.stderr_has(&format!("sandbox level {level} is unavailable: {layer}: "))
            .stderr_has(help);
        assert!(!exists(&dir, "x.jsonl"));
    }
    let check = ["check", "@first", "--game", "hex", "--sandbox", "confined"];
    without(&dir, "seccomp", &check).code(4).stderr_has("confined is unavailable: seccomp: ");
}

#[test]
fn auto_falls_back_to_the_next_level_with_a_reason() {
    if lacks("layers of a sandbox") {
        return;
    }
    let dir = TestDir::sandboxed();
    for (layer, best, lacking) in
        [("userns", "confined", "isolated"), ("seccomp", "basic", "confined")]
    {
        let ran = without(&dir, layer, &words(&["--json", "--force", "-v"])).code(0);
        let output = ran.json();
        assert!(rank(&output["sandbox"]["level"]) >= rank(&best.into()), "{output}");
        assert_eq!(header(&dir, "x.jsonl")["sandbox"], output["sandbox"]);
        // A reason of several levels is given at the weakest.
        ran.stderr_has(&format!("; {lacking}: {layer}: "));
    }
    // If even `basic` is unsupported, nothing is played.
    without(&dir, "limits", &words(&["--force"]))
        .code(4)
        .stderr_has("basic is unavailable: limits: ");
}

#[test]
fn a_missing_temporary_folder_is_reported() {
    if lacks("layers of a sandbox") {
        return;
    }
    let dir = TestDir::sandboxed();
    let nowhere = dir.path("nowhere").display().to_string();
    for more in [&[][..], &["--sandbox", "basic"]] {
        let ran = dir.run_with(&words(more), |it| it.env("TMPDIR", &nowhere)).code(4);
        ran.stderr_has("sandbox level basic is unavailable: the self-test can't run: ")
            .stderr_has(&format!("help: nothing can be created in the temporary folder {nowhere}"))
            .stderr_has("TMPDIR");
    }
    assert!(!exists(&dir, "x.jsonl"));
}

#[test]
fn a_wrapper_is_for_level_external_alone() {
    let dir = TestDir::sandboxed();
    let refused = dir.run(&words(&["--sandbox", "external"])).code(2);
    refused.stderr_has("needs a command").stderr_has("help: add --wrapper");
    let refused = dir.run(&words(&["--wrapper", "env"])).code(2);
    refused.stderr_has("only at sandbox level external").stderr_has("help: add --sandbox external");
    for wrapper in ["no-such-program", "./no-such-program x", "it's", ""] {
        let words = words(&["--sandbox", "external", "--wrapper", wrapper]);
        dir.run(&words).code(2).stderr_has("wrapper");
    }
    assert!(!exists(&dir, "x.jsonl"));
}

/// Creates a folder that every user may read: as root, agents run as another user.
fn open_place() -> TestDir {
    let dir = TestDir::sandboxed();
    fs::set_permissions(dir.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

#[test]
fn a_wrapper_starts_the_agents() {
    let dir = open_place();
    let script = "#!/bin/sh\necho \"wrapped in $1, at home in $2\" >&2\nshift 2\nexec \"$@\"\n";
    let wrapper = format!("{} {{folder}} {{work}}", dir.program("wrap.sh", script));
    let more = ["--sandbox", "external", "--wrapper", &wrapper, "--json"];
    let output = dir.run(&words(&more)).code(0).json();
    assert_eq!(output["verdict"]["result"], "played", "{output}");
    assert_eq!(output["sandbox"]["level"], "external");
    assert_eq!(output["seats"][0]["command"][0], "referee", "the agent's own command is recorded");
    let again = output["reproduce"].as_str().unwrap();
    assert!(again.contains("--sandbox external --wrapper './wrap.sh {folder} {work}'"), "{again}");
    let home = format!("at home in {}/referee-", dir.path("tmp").display());
    for said in [0, 1].map(|seat| dir.said("x.jsonl", seat)) {
        assert!(said.contains(&home), "{said:?}");
    }
}

#[test]
fn bubblewrap_as_external_sandbox() {
    if !Path::new("/usr/bin/bwrap").exists() {
        println!("skipped: there is no bwrap");
        return;
    }
    // The example of docs/sandbox.md; the program under test may be in /tmp.
    let program = program();
    let wrapper = format!(
        "bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --ro-bind {program} {program} \
         --bind {{work}} {{work}} --unshare-all --die-with-parent"
    );
    let tried = ["--ro-bind", "/", "/", "--unshare-all", "true"];
    let tried = Command::new("bwrap").args(tried).status();
    if !tried.is_ok_and(|status| status.success()) {
        println!("skipped: bwrap can't make namespaces here");
        return;
    }
    let dir = open_place();
    let more = ["--sandbox", "external", "--wrapper", &wrapper, "--json"];
    let output = dir.run(&words(&more)).code(0).json();
    assert_eq!(output["verdict"]["result"], "played", "{output}");
    assert_eq!(output["sandbox"]["level"], "external");
}

/// Writes a contest of two games.
fn contest(dir: &TestDir, sandbox: &str) {
    crate::support::contest::write(dir, &["@random", "@first"], &format!("sandbox.{sandbox}\n"));
}

#[test]
fn a_contest_with_an_unsupported_level_creates_no_folder() {
    if lacks("layers of a sandbox") {
        return;
    }
    let dir = TestDir::sandboxed();
    let run = ["contest", "run", "c.toml", "--out", "d"];
    for sandbox in ["at_least = \"confined\"", "level = \"confined\"", "level = \"isolated\""] {
        contest(&dir, sandbox);
        let ran = without(&dir, "seccomp", &run).code(4);
        ran.stderr_has(": seccomp: ").stderr_has("help: ");
        assert!(!exists(&dir, "d"), "{sandbox}");
    }
    contest(&dir, "read = [\"nowhere\"]");
    dir.run(&run).code(2).stderr_has("c.toml:4:17: nowhere: ");
    let quick = ["contest", "quick", "--game", "hex", "@random", "@first", "--out", "d"];
    let quick = [&quick, &["--sandbox", "confined"][..]].concat();
    without(&dir, "seccomp", &quick).code(4);
    let compare = ["compare", "@random", "@first", "--game", "hex", "--out", "d"];
    let compare = [&compare, &["--sandbox", "confined"][..]].concat();
    without(&dir, "seccomp", &compare).code(4);
    assert!(!exists(&dir, "d"));
}

#[test]
fn a_contest_resumes_with_the_same_sandbox_level() {
    if lacks("layers of a sandbox") {
        return;
    }
    let dir = TestDir::sandboxed();
    contest(&dir, "pondering = \"measure\"");
    let ran = dir.run(&["contest", "run", "c.toml", "--out", "d", "-v"]).code(0);
    let status = dir.run(&["contest", "status", "d", "--json"]).code(0).json();
    let level = status["sandbox"]["level"].as_str().unwrap().to_owned();
    ran.stderr_has(&format!("sandbox: {level} ["));
    dir.run(&["contest", "status", "d"]).code(0).stdout_has(&format!("sandbox  {level} ["));
    let report = dir.run(&["contest", "report", "d", "--json"]).code(0).json();
    let settings = report["settings"].as_array().unwrap();
    let output = settings.iter().find(|setting| setting["name"] == "sandbox").unwrap();
    assert!(output["value"].as_str().unwrap().starts_with(&level), "{output}");
    let game = header(&dir, "d/games/0000/0000000.jsonl");
    assert_eq!(game["sandbox"], status["sandbox"]);
    assert_eq!(game["sandbox"]["pondering"], "measure");
    dir.run(&["verify", "d"]).code(0);
    dir.run(&["contest", "resume", "d"]).code(0);
    if rank(&level.as_str().into()) >= rank(&"basic".into()) {
        println!("not tested: no level here is stronger than basic");
        return;
    }
    let refused = without(&dir, "seccomp", &["contest", "resume", "d"]).code(4);
    refused
        .stderr_has("cannot resume the contest: ")
        .stderr_has(&format!("{level} is unavailable: seccomp: "))
        .stderr_has("help: ");
}

#[test]
fn verify_names_games_with_another_sandbox_level() {
    let dir = TestDir::sandboxed();
    contest(&dir, "level = \"none\"");
    dir.run(&["contest", "run", "c.toml", "--out", "d"])
        .code(0)
        .stderr_has("warning: agents run without a sandbox");
    dir.run(&["verify", "d"]).code(0);
    // Change the recorded level.
    let store = rusqlite::Connection::open(dir.path("d/contest.db")).unwrap();
    let changed = "update contest set text = replace(text, 'level = \"none\"', 'level = \"basic\"'), \
                   contest = replace(contest, '\"level\":\"none\"', '\"level\":\"basic\"')";
    store.execute_batch(changed).unwrap();
    let text = fs::read_to_string(dir.path("c.toml")).unwrap();
    dir.write("d/contest.toml", text.replace("none", "basic"));
    let output = dir.run(&["verify", "d"]).code(1);
    output.stdout_has("the sandbox was none, but the contest requires basic");
}

/// Tests that limits of the shell are raised, or reported before an agent could lose by them.
#[test]
fn no_agent_loses_by_a_limit_of_the_shell() {
    let dir = TestDir::sandboxed();
    let play = "referee play hex @first @first --setup size=3 --out x.jsonl --force --json";
    for (soft, limit) in [("-t 1", "-f 4"), ("-s 1024", "-v 9000000"), ("-n 64", "-d 5000000")] {
        let ran = dir.shell(&format!("ulimit -S {soft}; ulimit -S {limit}; {play}")).code(0);
        let output = ran.json();
        assert_eq!(output["verdict"]["seats"][0]["fault"], Value::Null, "{soft} {limit}");
        assert_eq!(output["verdict"]["seats"][1]["fault"], Value::Null, "{soft} {limit}");
    }
    // With the capability CAP_SYS_RESOURCE, which root has on most machines, hard limits are raised too.
    if dir.shell("ulimit -t 9; ulimit -t 99").exit == Some(0) {
        dir.shell(&format!("ulimit -t 1; ulimit -f 20; {play}")).code(0);
        return;
    }
    // In `sh`, -f may count blocks of 512 bytes.
    for (option, value, shown) in
        [("t", "1", "1 s"), ("f", "20", "0 kB"), ("v", "1000000", "000 kB")]
    {
        let ran = dir.shell(&format!("rm -f x.jsonl; ulimit -{option} {value}; {play}")).code(4);
        ran.stderr_has(&format!("{shown}, and agents would lose by it"))
            .stderr_has(&format!("if `ulimit -H{option}` is as low there"));
        assert!(!exists(&dir, "x.jsonl"));
    }
}
