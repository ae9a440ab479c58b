//! `contest plan`: what a contest file comes to, and what is wrong with it.

use crate::support::{Place, command_lines, eventually, texts};
use serde_json::{Value, json};
use std::fs;

/// Four agents, a small board.
const FOUR: &str = "format = \"round-robin\"\nrounds = 6\njobs = 4\n\
    agents = [\"@random\", \"@first\", \"@greedy\", { name = \"deep\", run = \"@minimax:2\" }]\n\
    clock = \"30s\"\n[[games]]\ngame = \"hex\"\nsetup = { size = 5 }\n";

fn planned(file: &str) -> Value {
    let place = Place::new();
    place.write("four.toml", file);
    let told = place.run(&["contest", "plan", "four.toml", "--json"]).code(0).json();
    let schema = place.run(&["schema", "contest-plan"]).code(0).json();
    assert!(jsonschema::is_valid(&schema, &told), "{told}");
    told
}

#[test]
fn four_agents_in_six_rounds_play_72_games() {
    let told = planned(FOUR);
    assert_eq!((&told["name"], &told["format"]), (&json!("four"), &json!("round-robin")));
    assert_eq!((&told["games"], &told["games_most"]), (&json!(72), &json!(72)));
    assert_eq!(told["players"], json!(["@random", "@first", "@greedy", "deep"]));
    assert_eq!(told["rounds"], 6);
    assert_eq!(told["pairings_known"], 36);
    assert_eq!(told["pairings"].as_array().unwrap().len(), 20);
    assert_eq!(told["pairings"][2], json!(["@first", "deep"]));
    let seats = json!([{"seat": 0, "least": 18, "most": 18}, {"seat": 1, "least": 18, "most": 18}]);
    assert_eq!(told["seats"], seats);
    // 10 s to start, and two banks of 30 s: 70 s, 72 / 4 = 18 times.
    assert_eq!(told["seconds_most"], 18 * 70);
    assert!(told["notes"][0].as_str().unwrap().contains("plies = 4"), "{}", told["notes"]);
    let drawn = planned(&format!("{FOUR}[openings]\nplies = 2\n"));
    assert_eq!(drawn["notes"], json!([]));
    assert_eq!(drawn, planned(&format!("{FOUR}[openings]\nplies = 2\n")), "the same each time");
}

#[test]
fn a_plan_is_told_to_people() {
    let place = Place::new();
    place.write("four.toml", FOUR);
    let told = place.run(&["contest", "plan", "four.toml"]).code(0).complains("note: every game");
    insta::assert_snapshot!(told.stdout);
    let all = place.run(&["contest", "plan", "four.toml", "--pairings", "-q"]).code(0);
    assert_eq!(all.stdout.matches("\n  round 6: ").count(), 6, "{}", all.stdout);
    assert_eq!(all.stderr, "");
}

#[test]
fn what_is_wrong_is_shown_in_its_line() {
    let place = Place::new();
    place.write("deep/c.toml", "game = \"hex\"\nrunds = 3\n");
    place
        .run(&["contest", "plan", "deep/c.toml"])
        .code(2)
        .complains("deep/c.toml:2:1: unknown key `runds`")
        .complains("2 | runds = 3\n  | ^^^^^\n")
        .complains("did you mean `rounds`?");
    place.write("s.toml", "game = \"hex\"\nsandbox.at_least = \"none\"");
    place.run(&["contest", "plan", "s.toml"]).code(2).complains("s.toml:2:20: ");
    place.run(&["contest", "plan", "none.toml"]).code(2).complains("none.toml");
    place.write("bytes.toml", b"name = \"\xFF\"");
    place.run(&["contest", "plan", "bytes.toml"]).code(2).complains("no UTF-8 text from byte 8");
}

#[test]
fn paths_are_relative_to_the_contest_file() {
    let place = Place::new();
    place.program("deep/bots/amy.sh", "#!/bin/sh\n");
    place.program("deep/bots/bob.sh", "#!/bin/sh\n");
    place.write("deep/own.py", "");
    let agents = "agents = [\"sh own.py\"]\nsubmissions = \"bots\"";
    place.write("deep/c.toml", format!("game = \"hex\"\n{agents}\n"));
    let told = place.run(&["contest", "plan", "deep/c.toml", "--json"]).code(0).json();
    assert_eq!(told["players"], json!(["own", "amy", "bob"]));
}

#[test]
fn builds_are_run_once_and_those_that_fail_are_told() {
    let place = Place::new();
    let made = "command = \"./run\"\nbuild = \"sh make.sh\"\n";
    for name in ["amy", "bob", "cat"] {
        place.write(&format!("bots/{name}/agent.toml"), made);
    }
    place.write("bots/amy/make.sh", "echo x >> count; cp /bin/true run; sleep 1000 &\n");
    let failing = "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done\n\
                   printf 'no \\033[31msemicolon\\n' >&2; exit 3\n";
    place.write("bots/bob/make.sh", failing);
    place.write("bots/cat/make.sh", "exit 0\n");
    let file = "game = \"hex\"\nagents = [\"@random\"]\nsubmissions = \"bots\"\n";
    place.write("c.toml", file);
    // A plan needs no program that is still to be built.
    let told = place.run(&["contest", "plan", "c.toml", "--json"]).code(0).json();
    assert_eq!(told["players"], json!(["@random", "amy", "bob", "cat"]));
    let failed = place
        .run(&["contest", "plan", "c.toml", "--build"])
        .code(2)
        .complains("2 of 3 submissions can't play")
        .complains("bob: `sh make.sh` failed: exit status 3\n")
        .complains("    line 4999\n    no \u{FFFD}[31msemicolon\n")
        .complains("cat: no program `./run`")
        .complains("on_broken = \"leave-out\"");
    assert!(!failed.stderr.contains("line 4980"), "{}", failed.stderr);
    place.write("c.toml", format!("{file}policy.on_broken = \"leave-out\"\n"));
    let told = place.run(&["contest", "plan", "c.toml", "--build", "--json"]).code(0).json();
    assert_eq!(told["players"], json!(["@random", "amy"]));
    let left_out = told["left_out"].as_array().unwrap().iter();
    assert_eq!(texts(left_out.map(|it| it["name"].clone())), ["bob", "cat"]);
    let built = fs::read_to_string(place.path("bots/amy/count")).unwrap();
    assert_eq!(built, "x\nx\n", "once each time");
}

#[test]
fn a_build_that_takes_too_long_is_killed_whole() {
    let place = Place::new();
    place.write("made/agent.toml", "command = \"./run\"\nbuild = \"sh make.sh\"\n");
    let folder = place.path("");
    let mark = folder.file_name().unwrap().to_str().unwrap();
    let make = format!("echo begun; sh -c 'sleep 1000; :' {mark} & sleep 1000\n");
    place.write("made/make.sh", make);
    let agents = "game = \"hex\"\nagents = [\"@random\", \"made\"]\n";
    place.write("c.toml", format!("{agents}policy.build_time = \"5s\"\n"));
    place
        .run(&["contest", "plan", "c.toml", "--build"])
        .code(2)
        .complains("c.toml:2:22: made: `sh make.sh` failed: not done after 5s\n    begun\n");
    let is_running = || command_lines().any(|(_, words)| words.iter().any(|word| word == mark));
    assert!(eventually(|| !is_running()), "what the build began goes on");
}

#[test]
fn the_schema_takes_contest_files() {
    let place = Place::new();
    let schema = place.run(&["schema", "contest-file"]).code(0).json();
    let four = json!({
        "format": "round-robin", "rounds": 6, "clock": {"bank": "30s", "move": 2.5},
        "agents": ["@random", {"name": "deep", "run": "@minimax:2"}],
        "games": [{"game": "hex", "setup": {"size": 5}}],
        "gauntlet": {"challengers": ["deep"]}, "submissions": "bots",
    });
    assert!(jsonschema::is_valid(&schema, &four));
    assert!(!jsonschema::is_valid(&schema, &json!({"runds": 6})));
    assert!(!jsonschema::is_valid(&schema, &json!({"format": "swis"})));
}
