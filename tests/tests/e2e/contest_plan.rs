//! `contest plan`: the plan of a contest file, and its errors.

use crate::support::{TestDir, command_lines, eventually, strings};
use serde_json::{Value, json};
use std::fs;

/// Four agents, a small board.
const FOUR: &str = "seed = 1\nformat = \"round-robin\"\nrounds = 6\njobs = 4\n\
    agents = [\"@random\", \"@first\", \"@greedy\", { name = \"deep\", run = \"@minimax:2\" }]\n\
    clock = \"30s\"\n[[games]]\ngame = \"hex\"\nsetup = { size = 5 }\n";

fn planned(file: &str) -> Value {
    let dir = TestDir::new();
    dir.write("four.toml", file);
    dir.run(&["contest", "plan", "four.toml", "--json"]).code(0).json()
}

#[test]
fn four_agents_in_six_rounds_play_72_games() {
    let output = planned(FOUR);
    assert_eq!((&output["name"], &output["format"]), (&json!("four"), &json!("round-robin")));
    assert_eq!((&output["games"], &output["games_most"]), (&json!(72), &json!(72)));
    assert_eq!(output["players"], json!(["@random", "@first", "@greedy", "deep"]));
    assert_eq!(output["rounds"], 6);
    assert_eq!(output["pairings_known"], 36);
    assert_eq!(output["pairings"].as_array().unwrap().len(), 36);
    assert_eq!(output["pairings"][2], json!(["@first", "deep"]));
    let seats = json!([{"seat": 0, "least": 18, "most": 18}, {"seat": 1, "least": 18, "most": 18}]);
    assert_eq!(output["seats"], seats);
    // 10 s to start and two banks of 30 s make 70 s, 72 / 4 = 18 times.
    assert_eq!(output["seconds_most"], 18 * 70);
    assert!(output["notes"][0].as_str().unwrap().contains("plies = 4"), "{}", output["notes"]);
    let drawn = planned(&format!("{FOUR}[openings]\nplies = 2\n"));
    assert_eq!(drawn["notes"], json!([]));
    assert_eq!(drawn, planned(&format!("{FOUR}[openings]\nplies = 2\n")), "the same each time");
}

#[test]
fn the_plan_as_text() {
    let dir = TestDir::new();
    dir.write("four.toml", FOUR);
    let output = dir.run(&["contest", "plan", "four.toml"]).code(0).stderr_has("note: every game");
    insta::assert_snapshot!(output.stdout);
    let all = dir.run(&["contest", "plan", "four.toml", "--pairings", "-q"]).code(0);
    assert_eq!(all.stdout.matches("\n  round 6: ").count(), 6, "{}", all.stdout);
    assert_eq!(all.stderr, "");
}

#[test]
fn errors_show_their_line() {
    let dir = TestDir::new();
    dir.write("deep/c.toml", "game = \"hex\"\nrunds = 3\n");
    dir.run(&["contest", "plan", "deep/c.toml"])
        .code(2)
        .stderr_has("deep/c.toml:2:1: unknown key `runds`")
        .stderr_has("2 | runds = 3\n  | ^^^^^\n")
        .stderr_has("did you mean `rounds`?");
    dir.write("s.toml", "game = \"hex\"\nsandbox.at_least = \"none\"");
    dir.run(&["contest", "plan", "s.toml"]).code(2).stderr_has("s.toml:2:20: ");
    dir.run(&["contest", "plan", "none.toml"]).code(2).stderr_has("none.toml");
    dir.write("bytes.toml", b"name = \"\xFF\"");
    dir.run(&["contest", "plan", "bytes.toml"]).code(2).stderr_has("not UTF-8 at byte 8");
}

#[test]
fn paths_are_relative_to_the_contest_file() {
    let dir = TestDir::new();
    dir.program("deep/bots/amy.sh", "#!/bin/sh\n");
    dir.program("deep/bots/bob.sh", "#!/bin/sh\n");
    dir.write("deep/own.py", "");
    let agents = "agents = [\"sh own.py\"]\nsubmissions = \"bots\"";
    dir.write("deep/c.toml", format!("game = \"hex\"\n{agents}\n"));
    let output = dir.run(&["contest", "plan", "deep/c.toml", "--json"]).code(0).json();
    assert_eq!(output["players"], json!(["own", "amy", "bob"]));
}

#[test]
fn builds_run_once_and_failures_are_reported() {
    let dir = TestDir::new();
    let made = "command = \"./run\"\nbuild = \"sh make.sh\"\n";
    for name in ["amy", "bob", "cat"] {
        dir.write(&format!("bots/{name}/agent.toml"), made);
    }
    dir.write("bots/amy/make.sh", "echo x >> count; cp /bin/true run; sleep 1000 &\n");
    let failing = "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done\n\
                   printf 'no \\033[31msemicolon\\n' >&2; exit 3\n";
    dir.write("bots/bob/make.sh", failing);
    dir.write("bots/cat/make.sh", "exit 0\n");
    let file = "game = \"hex\"\nagents = [\"@random\"]\nsubmissions = \"bots\"\n";
    dir.write("c.toml", file);
    // Agents that are built later have no program yet.
    let output = dir.run(&["contest", "plan", "c.toml", "--json"]).code(0).json();
    assert_eq!(output["players"], json!(["@random", "amy", "bob", "cat"]));
    let is_about_seed = |note: &Value| note.as_str().unwrap().contains("`contest run` draws one");
    assert!(output["notes"].as_array().unwrap().iter().any(is_about_seed), "{output}");
    let failed = dir
        .run(&["contest", "plan", "c.toml", "--build"])
        .code(2)
        .stderr_has("2 of 3 submissions can't play")
        .stderr_has("bob: `sh make.sh` failed: exit status 3\n")
        .stderr_has("    line 4999\n    no semicolon\n")
        .stderr_has("cat: no program `./run`")
        .stderr_has("on_broken = \"leave-out\"");
    assert!(!failed.stderr.contains("line 4980"), "{}", failed.stderr);
    dir.write("c.toml", format!("{file}policy.on_broken = \"leave-out\"\n"));
    let output = dir.run(&["contest", "plan", "c.toml", "--build", "--json"]).code(0).json();
    assert_eq!(output["players"], json!(["@random", "amy"]));
    let left_out = output["left_out"].as_array().unwrap().iter();
    assert_eq!(strings(left_out.map(|it| it["name"].clone())), ["bob", "cat"]);
    let built = fs::read_to_string(dir.path("bots/amy/count")).unwrap();
    assert_eq!(built, "x\nx\n", "once each time");
}

#[test]
fn a_build_timeout_kills_all_its_processes() {
    let dir = TestDir::new();
    dir.write("made/agent.toml", "command = \"./run\"\nbuild = \"sh make.sh\"\n");
    let folder = dir.path("");
    let mark = folder.file_name().unwrap().to_str().unwrap();
    let make = format!("echo begun; sh -c 'sleep 1000; :' {mark} & sleep 1000\n");
    dir.write("made/make.sh", make);
    let agents = "game = \"hex\"\nagents = [\"@random\", \"made\"]\n";
    dir.write("c.toml", format!("{agents}build.time = \"5s\"\n"));
    dir.run(&["contest", "plan", "c.toml", "--build"])
        .code(2)
        .stderr_has("c.toml:2:22: made: `sh make.sh` failed: not finished after 5s\n    begun\n");
    let is_running = || command_lines().any(|(_, words)| words.iter().any(|word| word == mark));
    assert!(eventually(|| !is_running()), "a process of the build still runs");
}

/// A build whose folder is closed, so that only its owner can open it again.
#[test]
fn what_a_build_closes_is_bounded_and_removed() {
    let dir = TestDir::new();
    let made = "command = \"/bin/true\"\nbuild = \"sh make.sh\"\n";
    for name in ["large", "loud", "left"] {
        dir.write(&format!("{name}/agent.toml"), made);
    }
    // Without its holes it has 5 GiB. The build itself would end well.
    let large = "mkdir in; for i in 1 2 3 4 5; do truncate -s 1G in/$i; done; chmod 0 in; sleep 20; \
                 rm -rf in; chmod 700 in; rm -rf in\n";
    dir.write("large/make.sh", large);
    // Nothing waits for it to be silent.
    let loud = large.replace("sleep 20;", "for i in $(seq 100); do echo x; sleep 0.2; done;");
    dir.write("loud/make.sh", loud);
    dir.write("left/make.sh", "mkdir in; echo x > in/x; chmod 0 in; exit 1\n");
    let too_large = "failed: its folder";
    for (name, why) in [("large", too_large), ("loud", too_large), ("left", "exit status 1")] {
        dir.write("c.toml", format!("game = \"hex\"\nagents = [\"@random\", \"{name}\"]\n"));
        dir.run(&["contest", "plan", "c.toml", "--build"]).code(2).stderr_has(why);
        let left = fs::read_dir(dir.path("tmp")).unwrap().flatten().map(|it| it.file_name());
        let left: Vec<_> = left.filter(|it| it.to_string_lossy().starts_with("referee-")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
