//! Games whose rules are programs, in every command that has a GAME.

use crate::support::contest::{AMPLE, contest, transcripts, wait_for_games};
use crate::support::game_programs::{playing, sample};
use crate::support::serving::Serving;
use crate::support::{TestDir, eventually, lacks, python};
use crate::transcripts::sealed;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;

/// A game in plain Python, whose only action counts up to 3 and can do something else instead.
fn counter(dir: &TestDir, name: &str, instead: &str) -> Option<String> {
    python()?;
    dir.write(
        &format!("{name}/game.toml"),
        format!(
            "name = \"{name}\"\ncommand = [\"python3\", \"rules.py\"]\n[limits]\nanswer_ms = 200\n"
        ),
    );
    let rules = COUNTER.replace("NAME", name).replace("INSTEAD", instead);
    dir.write(&format!("{name}/rules.py"), rules);
    Some(format!("./{name}"))
}

const COUNTER: &str = r#"import json, os, sys, time
from referee_kit.game import Game, form, integer, piece, reason, text, won_by

class Counter(Game):
    name, title, summary = "NAME", "Counter", "Counts to three."
    seats = ["red", "blue"]
    pieces = [piece("red", "red"), piece("blue", "blue")]
    forms = [form("count", "{by}", integer("by", 1, 3), example={"by": 1})]
    reasons = [reason("three", "it has counted to three")]
    plies_max = 3

    def start(self, setup):
        return 0

    def turn(self, state):
        return won_by((state - 1) % 2, 2, "three") if state > 2 else state % 2

    def actions(self, state):
        return [{"type": "count", "by": 1}]

    def play(self, state, action):
        if action["by"] == 2:
            INSTEAD
        return state + 1

    def view(self, state):
        return text(str(state))

Counter.main()
"#;

#[test]
fn every_command_takes_the_path_of_a_game() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "tic-tac-toe", "ttt") else { return };
    let played = dir.play(&[&game, "@first", "@first", "--seed", "1", "--out", "x.jsonl"]);
    assert_eq!(played["text"], "@first wins: it has three in a row");
    assert_eq!(played["seats"][1]["colour"], "nought");
    assert_eq!(dir.run(&["perft", &game, "3"]).code(0).stdout, "1\t9\n2\t72\n3\t504\n");
    dir.run(&["games", &game]).code(0).stdout_has("three_in_a_row  it has three in a row");
    let position = dir.run(&["position", &game, "--json"]).code(0).json();
    assert_eq!(position["actions"].as_array().unwrap().len(), 9);
    let setup = format!("position={}", position["position"]);
    assert_eq!(dir.run(&["perft", &game, "2", "--setup", &setup]).code(0).stdout, "1\t9\n2\t72\n");
    let checked = dir.run(&["check", "--game", &game, "@random"]).code(0);
    checked.stdout_has("tic-tac-toe");
    for words in [
        &["replay", "x.jsonl", "--print"][..],
        &["replay", "export", "x.jsonl", "-o", "-", "--format", "html"],
        &["replay", "export", "x.jsonl", "-o", "-", "--format", "svg"],
        &["debug", "x.jsonl", "--seat", "0"],
    ] {
        dir.run(&[words, &["--rules", &game]].concat()).code(0);
        let without = dir.run(words);
        // Only viewers show what needs no rules.
        assert_eq!(without.exit == Some(0), words[0] == "replay", "{words:?}");
        without.stderr_has("rules not available: ");
    }
    dir.run(&["position", &game, "--transcript", "x.jsonl"])
        .code(0)
        .stdout_has("it has three in a row");
}

#[test]
fn agents_are_compared_at_it() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "tic-tac-toe", "ttt") else { return };
    let words =
        ["compare", "--game", &game, "@first", "b=@first", "--games", "4", "--seed", "1", "--json"];
    let compared = dir.run(&words).code(0).json();
    let games = ["wins", "draws", "losses"].map(|key| compared[key].as_u64().unwrap());
    assert_eq!(games.iter().sum::<u64>(), 4, "{compared}");
}

#[test]
fn the_page_plays_it_and_other_actions() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "tic-tac-toe", "ttt") else { return };
    dir.play(&[&game, "@first", "@first", "--out", "x.jsonl"]);
    let serving = Serving::start(&dir, &["--rules", &game]);
    let branch = serving.json("/api/branch?file=x.jsonl&ply=2&actions=c3");
    assert_eq!(branch["plies"][0]["text"], "c3", "{branch}");
    assert_eq!(branch["actions"].as_array().unwrap().len(), 6, "{branch}");
    let refused = serving.get("/api/branch?file=x.jsonl&ply=2&actions=a1").text();
    assert!(refused.contains("the cell is occupied"), "{refused}");
    let request = json!({ "game": game, "setup": {}, "seats": ["@first", "@first"] });
    let begun = serving.post("/api/matches", &request).json();
    let path = format!("/api/match?file={}", begun["file"].as_str().unwrap_or_default());
    let over = || serving.get(&path).text().contains("it has three in a row");
    assert!(eventually(over), "{begun}");
    serving.end();
}

/// In positions that were not played, the reader chooses what is drawn.
#[test]
fn draws_are_chosen_in_positions_that_were_not_played() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "pig", "pig") else { return };
    dir.write("actions", "roll\n4\nroll\n");
    let words = ["position", &game, "--actions", "actions", "--json"];
    let waits = dir.run(&words).code(0).json();
    assert_eq!(waits["draws"].as_array().unwrap().len(), 6, "{waits}");
    dir.write("actions", "roll\n4\nroll\n1\n");
    let lost = dir.run(&words).code(0).json();
    assert_eq!((&lost["turn"], &lost["to_move"]), (&json!(2), &json!(1)), "{lost}");
    let position = json!({ "position": waits["position"] }).to_string();
    let words_for_perft = ["perft", &game, "2", "--setup", &position, "--divide"];
    // After a one the other seat may only roll.
    dir.run(&words_for_perft).code(0).stdout_has("\n1\t1\n2\t2\n");
    let report = dir.run(&[&words_for_perft[..], &["--json"]].concat()).code(0).json();
    assert_eq!(report["divide"][0], json!({ "draw": "1", "count": 1 }), "{report}");
    dir.write("actions", "roll\n7\n");
    dir.run(&words)
        .code(1)
        .stderr_has("line 2: 7: the referee draws next, and the outcomes are 1, 2, 3, 4, 5, 6");

    dir.play(&[&game, "@first", "@first", "--setup", "target=12", "--out", "x.jsonl"]);
    let serving = Serving::start(&dir, &["--rules", &game]);
    let branch =
        |actions: &str| serving.json(&format!("/api/branch?file=x.jsonl&ply=0&actions={actions}"));
    let rolled = branch("roll");
    assert_eq!(rolled["actions"][3], json!({ "text": "4", "cells": [] }), "{rolled}");
    let drawn = branch("roll;4");
    assert_eq!(drawn["plies"][1]["kind"], "drawn", "{drawn}");
    assert_eq!(drawn["actions"][0]["text"], "hold", "{drawn}");
    serving.end();
}

#[test]
fn verify_tells_rules_that_are_not_there_from_changed_files() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "tic-tac-toe", "ttt") else { return };
    dir.play(&[&game, "@first", "@first", "--out", "x.jsonl"]);
    let status = |more: &[&str]| {
        let ran = dir.run(&[&["verify", "x.jsonl", "--json"], more].concat());
        ran.json()["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(status(&[]), "rules_not_available");
    assert_eq!(status(&["--rules", &game]), "ok");
    let text = fs::read_to_string(dir.path("ttt/rules.py")).unwrap();
    dir.write("ttt/rules.py", text.clone() + "# changed\n");
    assert_eq!(status(&["--rules", &game]), "other_rules");
    dir.write("ttt/rules.py", &text);
    let whole = fs::read_to_string(dir.path("x.jsonl")).unwrap();
    dir.write("x.jsonl", whole.replacen("[0,1]", "[2,2]", 1));
    assert_eq!(status(&["--rules", &game]), "tampered");
}

/// What the program says about itself and what its players are called is compared too, although no turn shows it.
#[test]
fn another_description_or_colour_disagrees() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "tic-tac-toe", "ttt") else { return };
    dir.play(&[&game, "@first", "@first", "--out", "x.jsonl"]);
    let whole = fs::read_to_string(dir.path("x.jsonl")).unwrap();
    let (lines, _) = whole.trim_end().rsplit_once('\n').unwrap();
    for (from, to, words) in [
        (
            r#""colour":"red""#,
            r#""colour":"blue""#,
            r#"line 1: program.described.pieces[0].colour: the program says "red""#,
        ),
        (
            r#""colour":"cross""#,
            r#""colour":"nought""#,
            r#"line 1: seat 0 is "cross", the header says "nought""#,
        ),
    ] {
        assert!(lines.contains(from), "{lines}");
        dir.write("x.jsonl", sealed(&format!("{}\n", lines.replacen(from, to, 1))));
        dir.run(&["verify", "x.jsonl", "--rules", &game]).code(1).stdout_has(words);
    }
}

#[test]
fn draws_follow_from_the_seed_and_are_judged_again() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "pig", "pig") else { return };
    let words = [&game, "@random", "@random", "--seed", "4"];
    dir.play(&[&words[..], &["--out", "x.jsonl"]].concat());
    dir.play(&[&words[..], &["--out", "y.jsonl"]].concat());
    let drawn = |file: &str| {
        let events = dir.events_of(file, "drawn").into_iter();
        events.map(|event| event["outcome"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(drawn("x.jsonl"), drawn("y.jsonl"));
    assert!(drawn("x.jsonl").len() > 5, "{:?}", drawn("x.jsonl"));
    dir.run(&["verify", "x.jsonl", "--rules", &game]).code(0);
    dir.run(&["replay", "x.jsonl", "--print", "--rules", &game]).code(0).stdout_has("\ndrawn: ");
}

/// Each way in which rules can fail makes the match void, and no agent's loss.
#[test]
fn rules_that_fail_make_the_match_void() {
    for (name, instead, wanted) in [
        ("crashes", "os._exit(3)", "it ended with exit status 3 before it had answered"),
        ("raises", "raise KeyError('x')", "KeyError: 'x'"),
        ("hangs", "time.sleep(60)", "no answer within 220 ms"),
        ("floods", "while 1: os.write(2, b'x' * 4096)", "no answer within 220 ms"),
        ("garbles", "os.write(3, b'x')", "OSError"),
        ("returns", "return None", "`play` returned None"),
    ] {
        let dir = TestDir::new();
        let Some(game) = counter(&dir, name, instead) else { return };
        let two = playing(&dir, "two", &json!({ "type": "count", "by": 2 }));
        let played = dir.run(&["play", &game, "@first", &two, "--json", "--out", "x.jsonl"]);
        let played = played.json();
        let void = &played["verdict"]["void"];
        assert_eq!(
            (&void["cause"], &void["seat"]),
            (&json!("rules"), &json!(1)),
            "{name}: {played}"
        );
        assert!(void["text"].as_str().unwrap().contains(wanted), "{name}: {void}");
        // What the rules did then doesn't count when it is judged again.
        dir.run(&["verify", "x.jsonl", "--rules", &game]).code(0);
        // The same game without that action is played to its end.
        let played = dir.play(&[&game, "@first", "@first"]);
        assert_eq!(played["verdict"]["places"], json!([1, 2]), "{name}");
    }
}

/// Rules that fail at an action that they have listed are to blame, however often they do.
#[test]
fn no_agent_loses_by_rules_that_fail() {
    let dir = TestDir::new();
    let Some(_) = counter(&dir, "broken", "pass") else { return };
    let rules = fs::read_to_string(dir.path("broken/rules.py")).unwrap();
    dir.write(
        "broken/rules.py",
        rules.replace(
            "        if action",
            "        if state == 1:\n            os._exit(3)\n        if action",
        ),
    );
    if sample(&dir, "tic-tac-toe", "ttt").is_none() {
        return;
    }
    dir.write(
        "contest.toml",
        format!(
            "agents = [\"@random\", \"@first\"]\nrounds = 2\nseed = 5\n{AMPLE}[sandbox]\nlevel = \"none\"\n\
             [[games]]\ngame = \"./broken\"\n[[games]]\ngame = \"./ttt\"\n"
        ),
    );
    let ran = contest(&dir, &["run", "contest.toml", "--out", "c", "--json"]);
    assert_ne!(ran.exit, Some(0));
    let ran = ran.stderr_has("is void (rules): the rules failed after turn 1 of seat 1");
    assert!(!ran.stderr.contains("agent_voids"), "{}", ran.stderr);
    let status = dir.run(&["contest", "status", "c", "--json"]).json();
    assert_eq!((&status["played"], &status["faults"]), (&json!(4), &json!(0)), "{status}");
    // The command that is printed asks the rules again what they failed at.
    let again = ran.stderr.lines().find_map(|line| line.strip_prefix("see it again: ")).unwrap();
    dir.shell(again).code(1).stderr_has("1: the rules failed: it ended with exit status 3");
}

/// Rules that list wrongly, or nothing, where they say that they list the legal actions, cost no agent its match.
#[test]
fn no_agent_loses_by_what_rules_list() {
    for (name, instead, wanted) in [
        ("nothing", "return [] if state else [{'type': 'count', 'by': 1}]", "`actions` is empty"),
        ("null", "return None if state else [{'type': 'count', 'by': 1}]", "`actions` is null"),
        ("malformed", "return [{'type': 'count', 'by': 9}]", "which is not as they declared: by: "),
    ] {
        let dir = TestDir::new();
        let Some(game) = counter(&dir, name, "pass") else { return };
        let rules = fs::read_to_string(dir.path(&format!("{name}/rules.py"))).unwrap();
        let listed = "return [{\"type\": \"count\", \"by\": 1}]";
        // The description is narrower than what the kit checks.
        let narrower = "\"by\", 1, 9), example={\"by\": 1})]\n\n    def describe(self):\n        \
                        told = json.loads(json.dumps(super().describe()))\n        \
                        told[\"actions\"][0][\"fields\"][0][\"max\"] = 3\n        return told\n";
        let rules = rules.replace("\"by\", 1, 3), example={\"by\": 1})]\n", narrower);
        dir.write(&format!("{name}/rules.py"), rules.replace(listed, instead));
        let played = dir.run(&["play", &game, "@first", "@random", "--json"]).json();
        let void = &played["verdict"]["void"];
        let blamed = (&void["cause"], &void["seat"]);
        assert_eq!(blamed, (&json!("rules"), &Value::Null), "{name}: {played}");
        assert!(void["text"].as_str().unwrap().contains(wanted), "{name}: {void}");
    }
}

/// Its action ends its turn, though the rules have not said so yet.
#[cfg(target_os = "linux")]
#[test]
fn an_agent_that_is_frozen_does_not_think_while_the_rules_answer() {
    let dir = TestDir::new();
    let Some(game) = counter(&dir, "slow", "pass") else { return };
    let rules = fs::read_to_string(dir.path("slow/rules.py")).unwrap();
    let slow = "time.sleep(0 if state else 1.5)\n        return state + 1";
    dir.write("slow/rules.py", rules.replace("return state + 1", slow));
    let manifest = fs::read_to_string(dir.path("slow/game.toml")).unwrap();
    dir.write("slow/game.toml", manifest.replace("200", "60000"));
    let thinks = dir.program(
        "thinks",
        "#!/usr/bin/env python3\n\
         import select, sys, time\n\
         def say(text): print(text, flush=True)\n\
         while line := sys.stdin.buffer.raw.readline():\n\
         \x20   if b'\"hello\"' in line: say('{\"type\":\"ready\"}')\n\
         \x20   if b'\"type\":\"turn\"' in line:\n\
         \x20       say('{\"type\":\"action\",\"action\":{\"type\":\"count\",\"by\":1}}')\n\
         \x20       began = time.process_time()\n\
         \x20       while not select.select([0], [], [], 0)[0]: pass\n\
         \x20       print('used', time.process_time() - began, file=sys.stderr, flush=True)\n",
    );
    let words =
        ["-q", "play", &game, &thinks, &thinks, "--pondering", "freeze", "--out", "x.jsonl"];
    dir.run(&words).code(0);
    let said = dir.said("x.jsonl", 0);
    let used = said.lines().find_map(|line| line.strip_prefix("used ")).unwrap();
    assert!(used.parse::<f64>().unwrap() < 0.75, "{said}");
}

/// An agent is checked in a game whose rules list nothing: others play what they guess.
#[test]
fn agents_are_checked_where_no_actions_are_listed() {
    let dir = TestDir::new();
    let Some(game) = counter(&dir, "unlisted", "pass") else { return };
    let rules = fs::read_to_string(dir.path("unlisted/rules.py")).unwrap();
    dir.write("unlisted/rules.py", rules.replace("def actions", "def unused"));
    dir.run(&["position", &game]).code(0).stdout_has("the rules don't list the legal actions");
    let words = ["game", "check", "unlisted", "--only", "plays", "--games", "1"];
    dir.run(&words).code(0).stdout_has("next: referee new mybot --game ./unlisted");
    let one = playing(&dir, "one", &json!({ "type": "count", "by": 1 }));
    let checked = dir.run(&["check", &one, "--game", &game]).code(0);
    // Nobody waited for the stand-ins.
    checked.stdout_has("unlisted as seat 1").stdout_has("a long unlisted game  (3 turns)");
    // If none of these is legal, it is not said that the agent has played.
    let rules = fs::read_to_string(dir.path("unlisted/rules.py")).unwrap();
    let refusing = "        if state == 1: raise game.Illegal('no')\n        return state + 1";
    let rules = rules.replace("        return state + 1", refusing);
    dir.write("unlisted/rules.py", format!("from referee_kit import game\n{rules}"));
    for (name, status) in [("first-turn", "passed"), ("turns", "not_applicable")] {
        let words = ["check", &one, "--game", &game, "--probe", name, "--json"];
        let report = dir.run(&words).code(0).json();
        assert_eq!(report["probes"][0]["status"], status, "{report}");
    }
    let two = playing(&dir, "two", &json!({ "type": "count", "by": 1 }));
    let openings =
        format!("agents = [\"{one}\", \"{two}\"]\ngame = \"{game}\"\n[openings]\nplies = 1\n");
    dir.write("contest.toml", openings);
    dir.run(&["contest", "plan", "contest.toml"]).code(2).stderr_has("its rules list no actions");
}

/// The form of an action is checked before the rules see it; whether it is legal is for them to say.
#[test]
fn actions_are_judged_by_their_declared_form_first() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "tic-tac-toe", "ttt") else { return };
    for (action, kind, text) in [
        (json!({ "type": "place", "at": [3, 3] }), "illegal", "d4: the cell is off the board"),
        (json!({ "type": "place", "at": [1] }), "garbled", "at: expected a cell such as [3,1]"),
        (json!({ "type": "place", "at": [1, 1], "by": 1 }), "garbled", "unknown field `by`"),
        (json!({ "type": "drop" }), "garbled", "unknown type `drop`"),
    ] {
        let agent = playing(&dir, "agent", &action);
        let played = dir.run(&["play", &game, &agent, "@first", "--json"]).json();
        let fault = &played["verdict"]["seats"][0]["fault"];
        assert_eq!(fault["kind"], kind, "{action}: {fault}");
        assert!(fault["text"].as_str().unwrap().contains(text), "{action}: {fault}");
    }
}

/// What a runtime adds below an error, and the lines of a stack, don't hide it.
#[test]
fn why_rules_failed_is_found_in_what_they_wrote() {
    let dir = TestDir::new();
    dir.write("broken/game.toml", "name = \"broken\"\ncommand = [\"sh\", \"rules.sh\"]\n");
    for (rules, wanted) in [
        (
            "printf '/a/rules.js:3\n  boom();\n  ^\n\nReferenceError: boom is not defined\n    at turn \
             (/a/rules.js:3:3)\n    at node:internal/main/run_main_module:23:47\n\nNode.js v20.20.2\n' >&2; exit 1",
            "its stderr says: ReferenceError: boom is not defined (rules.js:3)\n",
        ),
        (
            r#"read -r line; printf '%s\n' '{"id":0,"type":"failed","text":"TypeError: no\n    at play (/a/rules.js:41:9)"}'"#,
            "the rules of broken failed: TypeError: no (rules.js:41)\n",
        ),
        (
            r#"read -r line; printf '%s\n' '{"id":0,"type":"failed","text":"two\nlines"}'"#,
            "the rules of broken failed: two; lines\n",
        ),
        (
            "exec 0<&-; printf 'ReferenceError: late is not defined\n    at turn (/a/rules.js:3:3)\n' >&2; exit 1",
            "its stderr says: ReferenceError: late is not defined (rules.js:3)\n",
        ),
    ] {
        dir.write("broken/rules.sh", rules);
        let ran = dir.run(&["games", "./broken"]).code(1);
        ran.stderr_has(wanted);
    }
}

#[test]
fn folders_that_are_no_games_are_named() {
    let dir = TestDir::new();
    if sample(&dir, "tic-tac-toe", "ttt").is_none() {
        return;
    }
    dir.write("empty/x", "");
    dir.write("wrong/game.toml", "name = \"Wrong Name\"\ncommand = [\"python3\", \"rules.py\"]\n");
    dir.write("loud/game.toml", "name = \"loud\"\ncommand = [\"echo\", \"hello\"]\n");
    dir.write("typo/game.toml", "name = \"typo\"\ncomand = [\"x\"]\n");
    dir.write("writes/game.toml", "name = \"writes\"\ncommand = [\"x\"]\nsandbox.write = true\n");
    for (game, wanted) in [
        ("./writes", "`write` of [sandbox] is for agents: rules keep everything in the state"),
        ("./nowhere", "no game in ./nowhere: "),
        ("./empty", "./empty has no game.toml"),
        ("./wrong", "name: \"Wrong Name\" must be lowercase letters"),
        ("./typo", "./typo/game.toml: line 2: unknown field `comand`"),
        ("./loud", "the rules of loud failed: its answer can't be read: "),
    ] {
        let ran = dir.run(&["perft", game, "1"]);
        assert_ne!(ran.exit, Some(0), "{game}");
        ran.stderr_has(wanted);
    }
}

/// A contest plays a copy of the rules, through kills, and is verified where nothing else is.
#[test]
fn a_contest_plays_and_keeps_its_rules() {
    let dir = TestDir::new();
    if sample(&dir, "tic-tac-toe", "ttt").is_none() {
        return;
    }
    dir.write(
        "contest.toml",
        "game = \"./ttt\"\nagents = [\"@random\", \"@first\"]\nrounds = 20\nseed = 5\n\
         [clock]\nbank = \"1h\"\nstart = \"10m\"\n[sandbox]\nlevel = \"none\"\n",
    );
    let running = dir.start(&["contest", "run", "contest.toml", "--out", "c"]);
    wait_for_games(&dir, "c", 4);
    running.kill();
    // Neither a change of the original nor its end matters any more.
    fs::remove_dir_all(dir.path("ttt")).unwrap();
    contest(&dir, &["resume", "c"]).code(0);
    fs::rename(dir.path("c"), dir.path("moved")).unwrap();
    let rules = fs::read_dir(dir.path("moved/rules")).unwrap().next().unwrap().unwrap().path();
    // Where no sandbox holds malice, a copy is started only if it is named.
    let named = ["--rules", rules.to_str().unwrap()];
    let named = if lacks("copies of rules") { &named[..] } else { &[] };
    let verified = dir.run(&[&["verify", "moved"], named].concat()).code(0);
    verified.stdout_has("40 games that count");
    let one = transcripts(&dir, "moved").swap_remove(0);
    dir.run(&[&["verify", one.to_str().unwrap()], named].concat()).code(0);
    // A copy that was changed is not played.
    fs::write(rules.join("rules.py"), "").unwrap();
    assert_ne!(dir.run(&["verify", "moved"]).exit, Some(0));
}

/// Agents that look ahead start the rules themselves, in their own sandbox.
#[test]
fn built_in_agents_look_ahead_in_games_that_are_estimated() {
    let dir = TestDir::sandboxed();
    let Some(ttt) = sample(&dir, "tic-tac-toe", "ttt") else { return };
    let connect_four = sample(&dir, "connect-four", "connect-four").unwrap();
    let wins = |words: &[&str]| {
        let ran = dir.run(&[words, &["--games", "4", "--seed", "1", "--json"]].concat()).code(0);
        let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        let players = last["series"]["players"].as_array().unwrap();
        let first = players.iter().find(|player| player["player"] == 0).unwrap();
        first["total"]["wins"].as_u64().unwrap()
    };
    assert_eq!(wins(&["play", &connect_four, "@greedy", "@random"]), 4);
    assert!(wins(&["play", &ttt, "@minimax:3", "@random"]) >= 3);
    // Its board follows the draws.
    let pig = sample(&dir, "pig", "pig").unwrap();
    dir.play(&[&pig, "@greedy", "@minimax", "--setup", "target=20", "--seed", "3"]);
    let played = dir.run(&["play", &ttt, "@illegal", "@first", "--json"]).json();
    assert_eq!(played["verdict"]["seats"][0]["fault"]["kind"], "illegal", "{played}");
    dir.assert_tmp_is_empty();
}

#[test]
fn what_a_built_in_agent_needs_of_the_rules_is_said_before_the_match() {
    let dir = TestDir::new();
    let Some(game) = counter(&dir, "counter", "pass") else { return };
    for agent in ["@greedy", "@minimax:3"] {
        let ran = dir.run(&["play", &game, agent, "@first"]).code(2);
        let ran = ran.stderr_has("looks ahead, and the rules of counter don't estimate positions");
        assert!(ran.stderr.contains("with `estimate(state)`"), "{}", ran.stderr);
    }
    let rules = fs::read_to_string(dir.path("counter/rules.py")).unwrap();
    dir.write("counter/rules.py", rules.replace("def actions", "def all_actions"));
    dir.run(&["play", &game, "@random", "@first"])
        .code(2)
        .stderr_has("@random plays listed actions, and the rules of counter don't list them");
    dir.write(
        "contest.toml",
        "game = \"./counter\"\nagents = [\"@random\", \"@first\"]\nrounds = 1\n",
    );
    contest(&dir, &["run", "contest.toml", "--out", "c"])
        .code(2)
        .stderr_has("the rules of counter don't list them");
}

/// Writes rules beside a transcript, where a contest would have them.
fn beside(dir: &TestDir, folder: &str, settings: &str, rules: &str) {
    dir.write(&format!("{folder}/contest.db"), "");
    let manifest = format!("name = \"theirs\"\ncommand = [\"python3\", \"rules.py\"]\n{settings}");
    dir.write(&format!("{folder}/rules/theirs/game.toml"), manifest);
    dir.write(&format!("{folder}/rules/theirs/rules.py"), rules);
    fs::create_dir_all(dir.path(folder).join("games")).unwrap();
    fs::copy(dir.path("x.jsonl"), dir.path(folder).join("games/x.jsonl")).unwrap();
}

/// Rules that lie beside a transcript are a stranger's: what they ask for is not granted, unless they are named.
#[test]
fn rules_beside_a_transcript_read_nothing_else() {
    if python().is_none() {
        return;
    }
    let dir = TestDir::sandboxed();
    dir.run(&["-q", "play", "hex", "@first", "@first", "-s", "size=3", "--out", "x.jsonl"]).code(0);
    dir.write("private/key", "the private key");
    let key = dir.path("private/key").display().to_string();
    let settings = format!("[sandbox]\nread = [{key:?}]\n");
    beside(&dir, "theirs", &settings, &format!("import sys\nsys.exit(open({key:?}).read())\n"));
    for words in [
        &["verify", "theirs/games/x.jsonl"][..],
        &["replay", "theirs/games/x.jsonl", "--print"],
        &["replay", "export", "theirs/games/x.jsonl", "-o", "x.html"],
        &["debug", "theirs/games/x.jsonl", "--seat", "0"],
    ] {
        let ran = dir.run(words);
        assert_ne!(ran.exit, Some(0), "{words:?}");
        let ran = ran.stderr_has("theirs/rules/theirs: ");
        assert!(!ran.stderr.contains("the private key"), "{}", ran.stderr);
    }
    // Nor are there ever many.
    for number in 0..32 {
        fs::create_dir(dir.path(&format!("theirs/rules/{number}"))).unwrap();
    }
    dir.run(&["verify", "theirs/games/x.jsonl"]).code(1).stderr_has("more than 8 game programs");
    for number in 0..32 {
        fs::remove_dir(dir.path(&format!("theirs/rules/{number}"))).unwrap();
    }
    let named = ["verify", "theirs/games/x.jsonl", "--rules", "theirs/rules/theirs"];
    dir.run(&named).stderr_has("the private key");
}

/// Whoever publishes a contest may have it from others.
#[test]
fn rules_of_a_contest_that_is_published_read_nothing_else() {
    let dir = TestDir::sandboxed();
    if sample(&dir, "tic-tac-toe", "ttt").is_none() || lacks("rules that lie in a contest's folder")
    {
        return;
    }
    dir.write("private/key", "");
    let key = dir.path("private/key").display().to_string();
    for (file, more) in [("game.toml", ""), ("rules.py", &*format!("open({key:?}).close()\n"))] {
        let text = fs::read_to_string(dir.path(&format!("ttt/{file}"))).unwrap();
        dir.write(&format!("ttt/{file}"), format!("{more}{text}"));
    }
    let settings = fs::read_to_string(dir.path("ttt/game.toml")).unwrap();
    dir.write("ttt/game.toml", format!("{settings}\n[sandbox]\nread = [{key:?}]\n"));
    dir.write("contest.toml", "game = \"./ttt\"\nagents = [\"@random\", \"@first\"]\nrounds = 1\n");
    contest(&dir, &["run", "contest.toml", "--out", "c"]).code(0);
    let rules = fs::read_dir(dir.path("c/rules")).unwrap().next().unwrap().unwrap().path();
    let published = contest(&dir, &["publish", "c", "--out", "site"]);
    assert_ne!(published.exit, Some(0));
    published.stderr_has("the rules of tic-tac-toe failed");
    let rules = rules.to_str().unwrap();
    contest(&dir, &["publish", "c", "--out", "site", "--rules", rules]).code(0);
}

/// A contest whose game is a program checks its agents in it, and tells their authors no path of this machine.
#[test]
fn agents_are_checked_in_a_contest_s_game_program() {
    let dir = TestDir::new();
    if sample(&dir, "tic-tac-toe", "ttt").is_none() {
        return;
    }
    dir.write("contest.toml", "game = \"./ttt\"\nagents = [\"@first\", \"@crash\"]\nrounds = 1\n");
    let ran = contest(&dir, &["check", "contest.toml"]).code(3);
    ran.stdout_has("2 agents, 1 failed");
    let feedback = fs::read_to_string(dir.path("feedback/crash.md")).unwrap();
    let here = dir.path("ttt").display().to_string();
    assert!(feedback.contains("--game tic-tac-toe") && !feedback.contains(&here), "{feedback}");
}

/// An agent that starts the rules itself starts none of a stranger's where no sandbox holds them.
#[test]
fn rules_beside_a_transcript_are_not_started_inside_an_agent_without_a_sandbox() {
    let dir = TestDir::sandboxed();
    if sample(&dir, "tic-tac-toe", "ttt").is_none() || lacks("rules that lie in a contest's folder")
    {
        return;
    }
    dir.write("contest.toml", "game = \"./ttt\"\nagents = [\"@random\", \"@first\"]\nrounds = 1\n");
    contest(&dir, &["run", "contest.toml", "--out", "c"]).code(0);
    let rules = fs::read_dir(dir.path("c/rules")).unwrap().next().unwrap().unwrap().path();
    let one = transcripts(&dir, "c").swap_remove(0);
    let words = ["debug", one.to_str().unwrap(), "--seat", "0", "--agent", "@greedy", "--sandbox"];
    dir.run(&[&words[..], &["confined"]].concat()).code(0);
    let ran = dir.run(&[&words[..], &["none"]].concat());
    assert_ne!(ran.exit, Some(0));
    ran.stderr_has("would start the rules in ");
    dir.run(&[&words[..], &["none", "--rules", rules.to_str().unwrap()]].concat()).code(0);
}

/// Rules that never answer hold neither the page of another contest nor the end of the server.
#[test]
fn rules_that_sleep_hold_only_their_own_contest() {
    if python().is_none() || lacks("rules that lie in a contest's folder") {
        return;
    }
    let dir = TestDir::sandboxed();
    dir.run(&["-q", "play", "hex", "@first", "@first", "-s", "size=3", "--out", "x.jsonl"]).code(0);
    let [slow, plain] = [
        "import sys, time\nsys.stderr.write('asleep\\n')\nsys.stderr.flush()\ntime.sleep(100000)\n",
        "import sys\nsys.exit(1)\n",
    ];
    beside(&dir, "slow", "[limits]\nanswer_ms = 600000\n", slow);
    beside(&dir, "plain", "", plain);
    let serving = Serving::start(&dir, &["-vv"]);
    std::thread::scope(|scope| {
        let held = scope.spawn(|| serving.get("/api/match?file=slow/games/x.jsonl"));
        serving.running.wait_for_stderr("asleep");
        assert_eq!(serving.get("/api/match?file=plain/games/x.jsonl").status, 200);
        serving.running.send(Signal::SIGTERM);
        drop(held.join());
    });
    serving.running.wait().code(143);
}

/// A new agent for a game program plays at once; with rules in Python, it looks ahead with its copy of them.
#[test]
fn a_new_agent_for_a_game_program_plays_at_once() {
    let dir = TestDir::sandboxed();
    let Some(game) = sample(&dir, "tic-tac-toe", "ttt") else { return };
    fs::create_dir(dir.path("ttt/games")).unwrap();
    dir.play(&[&game, "@random", "@random", "--seed", "2", "--out", "ttt/games/1.jsonl"]);
    let made = dir.run(&["new", "mybot", "--game", &game, "--json"]).code(0).json();
    assert_eq!(made["games"], json!(["tic-tac-toe"]));
    assert_eq!(made["next"][0], "referee check mybot --game ./ttt");
    let bot = fs::read_to_string(dir.path("mybot/bot.py")).unwrap();
    for text in ["rules=\"game/rules.py\"", r#"# {"at":[1,1],"type":"place"}  (b2): places a mark"#]
    {
        assert!(bot.contains(text), "no {text:?} in {bot}");
    }
    assert!(!dir.path("mybot/game/games").exists());
    let checked = dir.run(&["check", "mybot", "--game", &game, "--json"]).code(0).json();
    let probes = checked["probes"].as_array().unwrap();
    // Also where a game that the author has recorded was in its middle.
    let recorded = probes.iter().find(|it| it["name"] == "recorded:tic-tac-toe:1:1").unwrap();
    assert_eq!(recorded["status"], "passed", "{recorded}");
    for next in made["next"].as_array().unwrap() {
        let ran = dir.shell(next.as_str().unwrap()).code(0);
        if let Some((_, play)) = ran.stdout.split_once("next: referee play ") {
            assert!(play.starts_with("./ttt mybot @random"), "{play}");
        }
    }
    let readme = fs::read_to_string(dir.path("mybot/README.md")).unwrap();
    let play = readme.lines().find(|line| line.starts_with("    referee play ")).unwrap();
    dir.shell(&format!("cd mybot && {} --fail-on-fault", play.trim())).code(0);
    // It follows draws and retirements, too.
    let pig = sample(&dir, "pig", "pig").unwrap();
    dir.run(&["new", "pigbot", "--game", &pig]).code(0);
    let words =
        ["play", &pig, "pigbot", "@crash", "@random", "--setup", "seats=3", "--setup", "target=20"];
    let played = dir.run(&[&words[..], &["--json"]].concat()).json();
    assert_eq!(played["verdict"]["seats"][0]["fault"], Value::Null, "{played}");
    // A language whose kit knows the built-in games alone is refused.
    dir.run(&["new", "other", "--game", &game, "--lang", "java"])
        .code(2)
        .stderr_has("--lang python, c, perl, lua, ruby, shell");
    dir.run(&["new", "other", "--game", &game, "--game", "hex"]).code(2).stderr_has("--game ./ttt");
    // Packages in the game's folder may have large files.
    fs::File::create(dir.path("ttt/package.so")).unwrap().set_len(17 << 20).unwrap();
    dir.run(&["new", "heavy", "--game", &game]).code(0);
    assert_eq!(fs::metadata(dir.path("heavy/game/package.so")).unwrap().len(), 17 << 20);
}

/// Rules without the kit and without a list: the new agent doesn't execute them, and games begin at the start.
#[test]
fn a_new_agent_goes_on_without_rules_of_its_own() {
    let dir = TestDir::new();
    let Some(game) = counter(&dir, "raw", "pass") else { return };
    let rules = fs::read_to_string(dir.path("raw/rules.py")).unwrap();
    dir.write("raw/counter.py", rules.replace("def actions", "def unused"));
    dir.write("raw/rules.py", "import runpy\nrunpy.run_path('counter.py', run_name='__main__')\n");
    let made = dir.run(&["new", "bot", "--game", &game, "--json"]).code(0).json();
    assert_eq!(made["next"][1], "referee play ./raw bot bot");
    let bot = fs::read_to_string(dir.path("bot/bot.py")).unwrap();
    let with_loop = bot.replace("rules=None", "rules=\"loop.py\"");
    assert_ne!(bot, with_loop);
    dir.write("bot/loop.py", "import sys\nsys.stdin.read()\n");
    for text in [bot, with_loop] {
        dir.write("bot/bot.py", text);
        let played = dir.run(&["play", &game, "bot", "bot", "--json"]).json();
        // It has nothing to choose from, and doesn't crash.
        assert_eq!(played["verdict"]["seats"][0]["fault"]["kind"], "resigned", "{played}");
    }
    dir.run(&["contest", "quick", "--game", &game, "bot", "b=bot", "-o", "quick"]).code(0);
    dir.run(&["compare", "bot", "b=bot", "--game", &game, "-n", "2", "-o", "two"]).code(0);
    dir.run(&["contest", "quick", "--game", &game, "bot", "b=bot", "--openings", "1"])
        .code(2)
        .stderr_has("--openings 0");
}

/// Without its rules, a match is shown with all but the boards: players, clocks, moves as text, the result.
#[test]
fn viewers_show_what_needs_no_rules() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "pig", "pig") else { return };
    let loud = dir.program(
        "loud",
        "#!/bin/sh\nwhile read -r line; do case $line in *'\"hello\"'*) echo '{\"type\":\"ready\"}';; \
         *'\"type\":\"turn\"'*) echo thinking >&2; echo '{\"type\":\"action\",\"action\":{\"type\":\"roll\"}}';; \
         esac; done\n",
    );
    // It rolls until it may only hold: then it has broken the rules, and the two others play on.
    let words = [&game, "@random", &loud, "@random", "--setup", "seats=3", "--setup", "target=12"];
    let played =
        dir.run(&[&["play"], &words[..], &["--seed", "1", "--json", "--out", "x.jsonl"]].concat());
    let played = played.json();
    let printed = |more: &[&str]| {
        dir.run(&[&["replay", "x.jsonl", "--print", "--board", "none"], more].concat())
            .code(0)
            .stdout
    };
    let with = printed(&["--rules", &game]);
    assert!(
        with.contains("thinking") && with.contains("roll") && with.contains("drawn: "),
        "{with}"
    );
    assert_eq!(printed(&[]), with);
    let shown = dir.run(&["replay", "x.jsonl", "--json"]).code(0).json();
    assert_eq!(shown["verdict"], played["verdict"], "{shown}");
    let ran = dir.run(&["replay", "x.jsonl", "--print", "--turn", "start"]).code(0);
    // Once, and not for every board.
    assert!(!ran.stdout.contains("rules not available"), "{}", ran.stdout);
    ran.stderr_has("name its folder with --rules; showing what needs no rules");
    dir.run(&["replay", "export", "x.jsonl", "-o", "x.txt"]).code(0);
    let text = fs::read_to_string(dir.path("x.txt")).unwrap();
    assert_eq!(text.matches("rules not available").count(), 1, "{text}");
    dir.run(&["replay", "export", "x.jsonl", "-o", "x.html"]).code(0);
    let page = fs::read_to_string(dir.path("x.html")).unwrap();
    assert!(
        page.contains("rules not available") && page.contains("\"roll\""),
        "the page lacks something"
    );
    // What judges the match needs them.
    dir.run(&["debug", "x.jsonl", "--seat", "0"]).stderr_has("rules not available: ");
    // Matches that are void by their rules, and one of other rules.
    let Some(void) = counter(&dir, "counter", "os._exit(3)") else { return };
    let two = playing(&dir, "two", &json!({ "type": "count", "by": 2 }));
    dir.run(&["play", &void, "@first", &two, "--out", "void.jsonl"]);
    dir.run(&["replay", "void.jsonl", "--print"]).code(0).stdout_has("void");
    let rules = fs::read_to_string(dir.path("counter/rules.py")).unwrap();
    let listed = rules.replace(
        "        if action",
        "        if state == 1:\n            os._exit(3)\n        if action",
    );
    dir.write("counter/rules.py", listed);
    dir.run(&["play", &void, "@first", "@first", "--out", "listed.jsonl"]);
    dir.run(&["replay", "listed.jsonl", "--print"]).code(0).stdout_has("void");
    fs::write(dir.path("pig/note"), "changed").unwrap();
    dir.run(&["replay", "x.jsonl", "--print", "--rules", &game])
        .code(0)
        .stderr_has("other rules: ");
}
