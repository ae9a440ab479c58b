//! Engines that speak HTP: a strict engine with its own board.

use crate::support::lacks;
use crate::support::rebuild_input;
use crate::support::{TestDir, python, root, script_agent};
use referee_games::{Turn, kind};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const SIZE: i64 = 4;
/// An agent that swaps whenever it can.
const LAST: &str = "last";
const STRICT: &str = "tests/tests/agents/htp_engine.py";

/// Creates an engine with these modes in its own folder and returns it as an AGENT; `None` without Python.
fn engine(dir: &TestDir, name: &str, words: &[&str], swap: &str) -> Option<String> {
    let python = python()?.display().to_string();
    let mut command = vec![python, "engine.py".to_owned()];
    command.extend(words.iter().map(|&word| word.to_owned()));
    command.push(format!("swap={swap}"));
    let text =
        format!("command = {}\nprotocol = \"htp\"\n[options]\nswap = \"{swap}\"\n", json!(command));
    dir.write(&format!("{name}/agent.toml"), text);
    dir.write(&format!("{name}/engine.py"), fs::read(root().join(STRICT)).unwrap());
    Some(name.to_owned())
}

/// Plays a match. `LAST` names an agent that takes the last legal action.
fn play(dir: &TestDir, agents: [&str; 2], setup: &[String], more: &[&str]) -> Value {
    let last = script_agent("last.py", "").expect("the engine needs Python too");
    let [zeroth, other] = agents.map(|agent| if agent == LAST { &last } else { agent });
    let mut words = vec!["hex", zeroth, other, "--out", "x.jsonl", "--force"];
    for pair in setup {
        words.extend(["--setup", pair.as_str()]);
    }
    dir.play(&[&words[..], more].concat())
}

fn fault(output: &Value, seat: usize) -> (String, String) {
    let fault = &output["verdict"]["seats"][seat]["fault"];
    let text = |field: &str| fault[field].as_str().unwrap_or_default().to_owned();
    (text("kind"), text("text"))
}

/// Returns the black and white cells of the engine's final board, as row and column.
type Stones = [BTreeSet<(i64, i64)>; 2];

fn engines_board(dir: &TestDir, seat: u64) -> Stones {
    let text = dir.said("x.jsonl", seat);
    let line = text.lines().find_map(|line| line.strip_prefix("board ")).expect("its board");
    let mut parts = line.split('/').map(|part| {
        let cell = |name: &str| {
            let column = i64::from(name.as_bytes()[0] - b'a');
            (name[1..].parse::<i64>().unwrap() - 1, column)
        };
        part.split_whitespace().map(cell).collect()
    });
    [parts.next().unwrap(), parts.next().unwrap()]
}

/// Returns the same for the referee's board, in the engines' colours.
fn our_board(dir: &TestDir) -> Stones {
    let events = dir.events("x.jsonl");
    let mut game = kind("hex").unwrap().start(&events[0]["setup"]).unwrap();
    for event in dir.events_of("x.jsonl", "played") {
        game.play(&event["action"]).unwrap();
    }
    assert!(matches!(game.turn(), Turn::Over(_)), "a whole game");
    let position = game.position();
    let cells = |index: usize| {
        let stones = position["stones"][index].as_array().unwrap().iter();
        let cell = |at: &Value| (at[0].as_i64().unwrap(), at[1].as_i64().unwrap());
        stones.map(cell).collect::<BTreeSet<_>>()
    };
    // Red joins rows here.
    [cells(1), cells(0)]
}

fn transposed([black, white]: &Stones) -> Stones {
    let turned = |cells: &BTreeSet<(i64, i64)>| cells.iter().map(|&(r, c)| (c, r)).collect();
    [turned(white), turned(black)]
}

#[test]
fn an_engine_has_the_same_board_with_all_colours_and_swaps() {
    let dir = TestDir::new();
    let mut swapped = 0;
    for effect in ["sides", "pieces", "none"] {
        for rule in ["none", "pieces", "sides"] {
            for (first, seat) in [("black", 0), ("black", 1), ("red", 0), ("red", 1)] {
                let swaps = if effect != "none" && rule != "none" { "swaps" } else { "plain" };
                let log = format!("log={}", dir.path("log").display());
                let Some(engine) = engine(&dir, "engine", &[swaps, &log], effect) else { return };
                // The opponent also swaps when it can: it takes the last legal action.
                let agents = if seat == 0 { [&*engine, LAST] } else { [LAST, &*engine] };
                let setup =
                    [format!("size={SIZE}"), format!("first={first}"), format!("swap={rule}")];
                // The engine's log is outside of what agents may write.
                let output = play(&dir, agents, &setup, &["--seed", "5", "--sandbox", "none"]);
                let case = format!("{effect} {rule} {first} {seat}");
                assert_eq!(output["verdict"]["result"], "played", "{case}: {output}");
                let played = dir.events_of("x.jsonl", "played");
                swapped += u32::from(played.iter().any(|it| it["action"]["type"] == "swap"));
                let (ours, its) = (our_board(&dir), engines_board(&dir, seat));
                assert!(its == ours || its == transposed(&ours), "{case}: {its:?} {ours:?}");
                let read = fs::read_to_string(dir.path("log")).unwrap();
                let seat = u8::try_from(seat).unwrap();
                assert_eq!(rebuild_input(&dir, "x.jsonl", seat, None), read, "{case}");
                assert_eq!(dir.verify_status("x.jsonl"), "ok");
            }
        }
    }
    assert!(swapped >= 12, "only {swapped} games had a swap");
    dir.assert_tmp_is_empty();
}

#[test]
fn engines_may_use_optional_commands() {
    let dir = TestDir::new();
    for words in [&["stray"][..], &["crlf"], &["bare"], &["loud"], &["chatter"], &["param_game"]] {
        let Some(engine) = engine(&dir, "engine", words, "sides") else { return };
        let output = play(&dir, [&*engine, "@first"], &["size=4".into()], &[]);
        assert_eq!(output["verdict"]["result"], "played", "{words:?}: {output}");
    }
}

#[test]
fn engine_mistakes_are_faults() {
    let dir = TestDir::new();
    for (word, kind, text) in [
        ("wrong-cell", "garbled", "`genmove black` was answered `= z99z`"),
        ("no-size", "garbled", "`boardsize 4` was answered `? unacceptable size`"),
        ("refuses", "garbled", "`play white d4` was answered `? illegal move`"),
        ("twice", "garbled", "a reply to no command"),
        ("die", "gone", "ended with exit status 3"),
        ("resign", "resigned", "resigned"),
    ] {
        let Some(engine) = engine(&dir, "engine", &[word], "sides") else { return };
        let output = play(&dir, [&*engine, LAST], &["size=4".into()], &[]);
        let (found, said) = fault(&output, 0);
        assert_eq!(found, kind, "{word}: {output}");
        assert!(said.contains(text), "{word}: {said:?}");
        // `debug` sees the same fault.
        let words = ["debug", "x.jsonl", "--agent", &engine, "--seat", "0", "--json"];
        let output = dir.run(&words).code(if word == "resign" { 0 } else { 3 }).json();
        let wrong = output["wrong"].as_str().unwrap_or_default();
        let expected =
            if word == "die" { "crashed before answering turn 0 (exit status 3)" } else { text };
        assert!(word == "resign" || wrong.contains(expected), "{word}: {output}");
    }
    let Some(engine) = engine(&dir, "engine", &["no-blank"], "sides") else { return };
    let words = ["play", "hex", &engine, "@first", "--start-time", "500ms", "--json"];
    let output = dir.run(&words).code(0).json();
    assert_eq!(fault(&output, 0).0, "start", "{output}");
}

/// An engine that crashes on an optional command plays without it.
#[test]
fn commands_can_be_skipped() {
    let dir = TestDir::new();
    let Some(engine) = engine(&dir, "engine", &["no-version"], "sides") else { return };
    let setup = [format!("size={SIZE}")];
    let output = play(&dir, [&*engine, LAST], &setup, &[]);
    assert_eq!(fault(&output, 0).0, "start", "{output}");
    let manifest = dir.path("engine/agent.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text + "skip = [\"protocol_version\", \"time_left\"]\n").unwrap();
    let output = play(&dir, [&*engine, LAST], &setup, &[]);
    assert_eq!(output["verdict"]["reason"], "connected", "{output}");
    let sent = rebuild_input(&dir, "x.jsonl", 0, None);
    assert!(sent.contains("genmove") && sent.contains("list_commands"), "{sent}");
    assert!(!sent.contains("protocol_version") && !sent.contains("time_left"), "{sent}");
}

#[test]
fn an_engine_begins_from_a_position() {
    let dir = TestDir::new();
    let Some(engine) = engine(&dir, "engine", &[], "none") else { return };
    let position = json!({"to_move": 0, "size": SIZE, "turn": 2, "colours": ["black", "red"],
        "stones": [[[0, 0]], [[3, 3]]]});
    let setup = [format!("position={position}")];
    for agents in [[&*engine, LAST], [LAST, &engine]] {
        let output = play(&dir, agents, &setup, &[]);
        assert_eq!(output["verdict"]["result"], "played", "{output}");
        let seat = u64::from(agents[0] == LAST);
        assert_eq!(engines_board(&dir, seat), transposed(&our_board(&dir)));
    }
}

#[test]
fn mistakes_are_reported_before_the_match() {
    let dir = TestDir::new();
    dir.write("bad/agent.toml", "command = \"true\"\nprotocol = \"gtp\"\n");
    dir.write("own/agent.toml", "command = \"true\"\ninit = [\"x\"]\n");
    dir.write("odd/agent.toml", "command = \"true\"\nprotocol = \"htp\"\n[options]\nx = 1\n");
    dir.write("plain/agent.toml", "command = \"true\"\nprotocol = \"referee\"\n");
    for (game, agent, expected) in [
        ("hex", "bad", "unknown protocol \"gtp\"; known ones are referee, htp"),
        ("hex", "own", "`init` needs a `protocol`"),
        ("hex", "odd", "unknown field `x`"),
        ("hex", "htp:plain", "its protocol is \"referee\", not \"htp\""),
        ("hex", "htp:@random", "@random does not speak htp"),
        ("hex", "htp:missing-program", "no program `missing-program`"),
        ("freckers", "x=htp:true", "x speaks htp, which does not support freckers"),
    ] {
        dir.run(&["play", game, agent, "@random"]).code(2).stderr_has(expected);
    }
    dir.run(&["play", "freckers", "htp:true", "@random"]).code(2).stderr_has("htp supports hex");
}

/// An engine outside of its agent's folder runs if the person who runs the match names or grants it.
#[test]
fn an_engine_elsewhere_is_granted_by_the_caller() {
    if lacks("a sandbox") {
        return;
    }
    let dir = TestDir::new();
    let Some(python) = python() else { return };
    let text = String::from_utf8(fs::read(root().join(STRICT)).unwrap()).unwrap();
    dir.write("engines/engine", format!("#!{}\n{text}", python.display()));
    let program = dir.path("engines/engine").canonicalize().unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    dir.write("ai/agent.toml", format!("command = [{program:?}]\nprotocol = \"htp\"\n"));
    let program = program.display().to_string();
    let bare = format!("htp:{program}");
    let size = ["size=4".to_owned()];
    let grant = ["--allow-read", &program];
    for (agent, more) in [(&*bare, &[][..]), ("ai", &grant)] {
        let output = play(&dir, [agent, "@first"], &size, more);
        assert_eq!(output["verdict"]["result"], "played", "{agent}: {output}");
    }
    let confined = ["--sandbox", "confined"];
    let request = format!("grant it with `--allow-read {program}`");
    let (kind, text) = fault(&play(&dir, ["ai", "@first"], &size, &confined), 0);
    assert_eq!(kind, "start", "{text}");
    assert!(text.contains("outside of its folder") && text.contains(&request), "{text}");
    let words =
        ["check", "ai", "--game", "hex", "--probe", "start", "--sandbox", "confined", "--json"];
    dir.run(&words).code(3).stdout_has(&request);
}

/// At whatever command an engine fails, the advice is about that.
#[test]
fn advice_is_about_the_command_at_which_an_engine_failed() {
    let Some(python) = python() else { return };
    let dir = TestDir::sandboxed();
    let engine = "import os, sys\nfor line in sys.stdin:\n    word = line.split()[0]\n    \
                  if word == sys.argv[1]:\n        if sys.argv[2] == 'crash': os._exit(3)\n        \
                  if sys.argv[2] == 'abort': print('got', word, file=sys.stderr, flush=True); os.abort()\n        \
                  if sys.argv[2] == 'wait': continue\n        print(sys.argv[2] + '\\n', flush=True)\n    \
                  elif word == 'list_commands': print('= time_left\\n', flush=True)\n    \
                  else: print('=\\n', flush=True)\n";
    dir.write("bot/engine.py", engine);
    for (word, does, expected) in [
        ("protocol_version", "crash", "add `skip = [\"protocol_version\"]` under `[options]`"),
        ("protocol_version", "abort", "add `skip = [\"protocol_version\"]` under `[options]`"),
        ("list_commands", "wait", "add `skip = [\"list_commands\"]` under `[options]`"),
        ("clear_board", "wait", "its last command was `clear_board`: start it in a terminal"),
        ("genmove", "crash", "its last command was `genmove black`"),
        ("boardsize", "? two numbers", "set `boardsize = \"N N\"` under `[options]`"),
        ("genmove", "= pass", "it may answer with a cell such as `= a1`"),
        ("tune", "? unknown", "correct or remove this command in `init`"),
    ] {
        let command = json!([python, "engine.py", word, does]);
        let manifest = format!("command = {command}\nprotocol = \"htp\"\ninit = [\"tune 1\"]\n");
        dir.write("bot/agent.toml", manifest);
        let words = ["play", "hex", "bot", "@first", "--out", "x.jsonl", "--force"];
        let more = ["--start-time", "2s", "--clock", "2s"];
        dir.run(&[&words[..], &more].concat()).code(0).stdout_has(expected);
        let report =
            dir.run(&["check", "bot", "--fail-fast", "--json", more[0], more[1]]).code(3).json();
        let failed =
            report["probes"].as_array().unwrap().iter().find(|it| it["status"] == "failed");
        let fix = failed.unwrap()["failure"]["fix"].as_str().unwrap();
        assert!(fix.contains(expected), "{word} {does}: {fix}");
    }
}

/// The real programs, with the manifests and the command of the page.
#[test]
fn mohex_and_wolve_play_as_documented() {
    let Some(sources) = std::env::var_os("REFEREE_BENZENE") else {
        // Also where skipping is forbidden: they are built by hand.
        println!(
            "skipped: there are no MoHex and Wolve: build them as docs/existing-agents.md says, and set \
             REFEREE_BENZENE to the folder of their sources"
        );
        return;
    };
    let sources = sources.into_string().unwrap();
    let dir = TestDir::sandboxed();
    let page = fs::read_to_string(root().join("docs/existing-agents.md")).unwrap();
    let begin = page.find("command = [\"./mohex\"]").expect("the manifest of MoHex");
    let mohex = page[begin..].split("```").next().unwrap();
    let (before, init) = mohex.split_once("init = [").unwrap();
    let rest = init.split_once("]\n").unwrap().1;
    let words = page.split('`').find(|text| text.starts_with("init = [\"param_wolve"));
    let wolve = format!("{before}{}\n{rest}", words.expect("the words of Wolve"));
    // Not in the path of the sources, which may have that in it.
    let wolve = wolve.replace("./mohex", "./wolve");
    for (name, manifest) in [("mohex", mohex), ("wolve", &*wolve)] {
        dir.write(&format!("{name}/agent.toml"), manifest.replace("/srv/benzene", &sources));
        let program = format!("{sources}/build/src/{name}/{name}");
        fs::copy(program, dir.path(&format!("{name}/{name}"))).unwrap();
    }
    let command =
        page.lines().find_map(|line| line.strip_prefix("$ referee play hex mohex wolve "));
    let command = command.expect("the command").replace("/srv/benzene", &sources);
    let words: Vec<&str> = command.split(' ').collect();
    for agents in [["mohex", "wolve"], ["wolve", "mohex"]] {
        let output =
            dir.play(&[&["hex"][..], &agents[..], &["--setup", "size=6"], &words[..]].concat());
        // Both start and play; one may crash where it knows that it has lost, and loses by that.
        let verdict = &output["verdict"];
        let winner = verdict["places"].as_array().unwrap().iter().position(|place| *place == 1);
        let winner = winner.unwrap_or_else(|| panic!("{output}"));
        assert_eq!(verdict["places"][1 - winner], 2, "{output}");
        assert_eq!(verdict["seats"][winner]["fault"], Value::Null, "{output}");
        if verdict["reason"] != "connected" {
            assert_eq!(verdict["seats"][1 - winner]["fault"]["kind"], "gone", "{output}");
            assert!(output["turns"].as_u64().unwrap() >= 6, "{output}");
        }
    }
}
