//! Agents of the course COMP30024 as they were submitted, behind the adapter: the shapes that their
//! packages have, and the mistakes that they make.

use crate::support::{Place, Ran, python, root, skip};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A place with the course's agents in it; `None` without Python.
fn place() -> Option<Place> {
    python()?;
    let place = Place::new();
    copy(&root().join("tests/tests/agents/comp30024"), &place.path("."));
    Some(place)
}

/// A folder as it is, without what running it has left there.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
        if path.is_file() {
            fs::copy(&path, to.join(&name)).unwrap();
        } else if name != "__pycache__" {
            copy(&path, &to.join(&name));
        }
    }
}

/// What a seat wrote to its stderr in the match that was told.
fn said(place: &Place, told: &Value, seat: u64) -> String {
    place.said(told["transcript"].as_str().unwrap(), seat)
}

/// The fault of seat 0, which ends a match with this agent in it; and the summary as people see it.
fn fault(place: &Place, game: &str, agent: &str) -> (Value, Ran) {
    let mut words = vec!["play", game, agent, "@first", "--out", "x.jsonl", "--force"];
    if game == "chexers" {
        words.extend(["@first", "--on-fault", "end"]);
    }
    words.extend(["--seed", "1"]);
    let told = place.run(&[&words[..], &["--json"]].concat()).code(0).json();
    (told["verdict"]["seats"][0]["fault"].clone(), place.run(&words).code(0))
}

fn assert_no_faults(place: &Place, told: &Value) {
    for seat in 0..told["seats"].as_array().unwrap().len() as u64 {
        let fault = &told["verdict"]["seats"][usize::try_from(seat).unwrap()]["fault"];
        assert!(fault.is_null(), "{told}\n{}", said(place, told, seat));
    }
    assert_eq!(told["verdict"]["result"], "played", "{told}");
    assert_eq!(place.verified(told["transcript"].as_str().unwrap()), "ok");
    place.assert_tidy();
}

#[test]
fn a_whole_submission_plays_and_prints_wherever_it_likes() {
    let Some(place) = place() else { return };
    let agent = "comp30024:whole/agent";
    let words = ["freckers", agent, agent, "--preset", "comp30024-2025", "--seed", "5"];
    let told = place.play(&words);
    assert_no_faults(&place, &told);
    assert_eq!(
        (&told["seats"][0]["name"], &told["seats"][1]["name"]),
        (&json!("whole"), &json!("whole #2"))
    );
    assert_eq!(
        told["seats"][0]["command"],
        json!(["referee", "adapter", "comp30024", "--run", "agent"])
    );
    for seat in 0..2 {
        let said = said(&place, &told, seat);
        for words in [
            "printed at import\n",
            "written to the first stdout\n",
            "written to descriptor 1\n",
            "printed by a subprocess\n",
            "nobody answers\n",
            ["plays RED against BLUE\n", "plays BLUE against RED\n"]
                [usize::try_from(seat).unwrap()],
            " plays MOVE(",
        ] {
            assert!(said.contains(words), "no {words:?} in {said}");
        }
    }
    // The conditions are the course's, and the match can be played again as it was.
    let header = &place.events(told["transcript"].as_str().unwrap())[0];
    assert_eq!(
        (&header["clock"]["kind"], &header["clock"]["bank_ms"]),
        (&json!("cpu"), &json!(180_000))
    );
    assert_eq!(header["limits"]["memory_mb"], 250);
    let again = told["reproduce"].as_str().unwrap();
    assert!(again.contains("--preset comp30024-2025"), "{again}");
    let played = |told: &Value| -> Vec<Value> {
        let played = place.events_of(told["transcript"].as_str().unwrap(), "played");
        played.iter().map(|event| event["action"].clone()).collect()
    };
    let second = place.shell(&format!("{again} --json")).code(0).json();
    assert_eq!(played(&told), played(&second));
}

#[test]
fn the_folder_of_a_submission_is_its_agent_and_its_own_referee_is_used() {
    let Some(place) = place() else { return };
    // From the very folder it is called by its dotted name, as the course did.
    for (agent, within) in
        [("comp30024:own/agent", "comp30024:agent"), ("comp30024:own", "comp30024:.")]
    {
        let told = place.play(&["freckers", agent, "@random", "--setup", "turn_limit=8"]);
        assert_no_faults(&place, &told);
        assert!(said(&place, &told, 0).contains("the referee here is its own\n"));
        assert_eq!(told["seats"][0]["name"], "own");
        let run = json!(["referee", "adapter", "comp30024", "--run", "agent"]);
        assert_eq!(told["seats"][0]["command"], run);
        let words = ["play", "freckers", "@random", within, "--json", "--no-transcript"];
        let told = place.run_with(&words, |it| it.current_dir(place.path("own"))).code(0).json();
        assert_eq!(told["verdict"]["result"], "played", "{told}");
        assert_eq!(told["seats"][1]["name"], "own");
    }
}

#[test]
fn a_class_of_the_agents_own_outlives_the_courses_names() {
    let Some(place) = place() else { return };
    // Its first update is of its own action; that of the other side makes it crash.
    let (fault, summary) = fault(&place, "freckers", "comp30024:starred");
    assert_eq!(fault["kind"], "gone", "{fault}");
    let last = "agent/program.py:29: IllegalActionException: first line second line\n";
    summary.prints(&format!("starred said last: {last}"));
    let said = said(&place, &json!({"transcript": "x.jsonl"}), 0);
    assert!(said.starts_with("thinking..\nagent failed in update():\n"), "{said}");
    assert!(said.ends_with(last), "{said}");
}

#[test]
fn actions_are_taken_apart_as_the_template_does() {
    let Some(place) = place() else { return };
    let python = python().unwrap();
    let new = "import sys; sys.exit(sys.version_info < (3, 10))";
    let has_match = Command::new(python).args(["-c", new]).status().unwrap().success();
    let agent = "comp30024:patterns";
    let told = place.play(&["freckers", agent, agent, "--setup", "turn_limit=2"]);
    if !has_match {
        let said = said(&place, &told, 0);
        assert!(said.contains("the course used Python 3.12, and this is"), "{said}");
        return;
    }
    assert_no_faults(&place, &told);
    for seat in 0..2 {
        let said = said(&place, &told, seat);
        assert!(said.ends_with("RED moved 0-3 by [↓]\nBLUE grew\n"), "{said}");
    }
}

/// What the course offered behaves as it did, and signatures may take less than the course gave.
#[test]
fn agents_of_all_shapes_play_without_a_fault() {
    let Some(place) = place() else { return };
    for agent in ["surface", "named:Bare", "named:Picky", "named:Sleepy"] {
        let agent = format!("comp30024:{agent}");
        let setup = ["--setup", "turn_limit=4", "--clock", "60s"];
        let told = place.play(&[&["freckers", &agent, "@first"], &setup[..]].concat());
        assert_no_faults(&place, &told);
    }
}

#[test]
fn numbers_may_be_those_of_numpy() {
    let Some(place) = place() else { return };
    // The agents' environment, in which nothing of a person's own folder is found.
    let mut asked = Command::new(python().unwrap());
    asked.args(["-c", "import numpy"]).env("HOME", place.path("tmp"));
    if !asked.output().unwrap().status.success() {
        skip("numpy");
        return;
    }
    let agent = "comp30024:vectors";
    let told = place.play(&["freckers", agent, agent, "--setup", "turn_limit=20"]);
    assert_no_faults(&place, &told);
}

#[test]
fn three_players_of_2019_play_by_their_own_boards() {
    let Some(place) = place() else { return };
    let team = "comp30024:chexers/team";
    let words = ["chexers", team, team, team, "--preset", "comp30024-2019", "--seed", "7"];
    let told = place.play(&words);
    assert_no_faults(&place, &told);
    assert_eq!(told["verdict"]["reason"], "four_exits", "{told}");
    let said = said(&place, &told, 2);
    for words in ["red ('MOVE', ((", "green ('JUMP', ((", "blue ('EXIT', ("] {
        assert!(said.contains(words), "no {words:?} in {said}");
    }
    let header = &place.events(told["transcript"].as_str().unwrap())[0];
    assert_eq!((&header["on_fault"], &header["limits"]["memory_mb"]), (&json!("end"), &json!(100)));
}

#[test]
fn a_pass_goes_both_ways_and_a_retired_seat_is_no_ones_action() {
    let Some(place) = place() else { return };
    let played = |seat: u64, action: Value| {
        let message = json!({"type": "played", "turn": seat, "seat": seat, "used_ms": 1});
        let mut message = message.as_object().unwrap().clone();
        message.insert("action".to_owned(), action);
        Value::Object(message)
    };
    let messages = [
        played(0, json!({"type": "exit", "from": [3, -3]})),
        json!({"type": "turn", "turn": 1, "left_ms": 9}),
        played(1, json!({"type": "pass"})),
        json!({"type": "retired", "turn": 2, "seat": 2, "fault": "late"}),
        played(0, json!({"type": "jump", "from": [0, 0], "to": [2, 0]})),
        json!({"type": "over"}),
    ];
    let ran = by_hand(&place, "chexers", "chexers.sample", &messages);
    let pass = json!({"type": "action", "turn": 1, "action": {"type": "pass"}});
    assert_eq!(ran.json_lines()[1..], [pass]);
    let told = "green is told: red ('EXIT', (3, -3))\n\
                green is told: green ('PASS', None)\n\
                green is told: red ('JUMP', ((0, 0), (2, 0)))\n";
    assert_eq!(ran.stderr, told);
    // Where it isn't legal, it is a fault like any other.
    let (fault, _) = fault(&place, "chexers", "comp30024:chexers/sample.py");
    assert_eq!(fault["kind"], "illegal");
    assert!(fault["text"].as_str().unwrap().contains("a pass is legal only"), "{fault}");
}

#[test]
fn mistakes_are_told_as_their_author_knows_them() {
    let Some(place) = place() else { return };
    for (agent, kind, last, line) in [
        (
            "at_import",
            "start",
            "No module named 'a_library_that_nobody_has'",
            "at_import.py\", line 3",
        ),
        ("bad_syntax", "start", "bad_syntax.py:3: SyntaxError: ", "bad_syntax.py\", line 3"),
        (
            "no_class",
            "start",
            "no class Agent or Player or ExamplePlayer in no_class; add :CLASS",
            "",
        ),
        ("no_class", "start", "; found Bot", ""),
        ("crashes:Nobody", "start", "no class Nobody in crashes; found Good, InInit, ", ""),
        ("crashes:InInit", "start", "crashes.py:26: KeyError: 'no op", "line 26, in __init__"),
        ("crashes:TakesNothing", "start", "unexpected keyword argument 'color'", "in __init__()"),
        ("crashes:InAction", "gone", "crashes.py:38: ValueError: Out-of-b", "line 38, in beyond"),
        ("crashes:InUpdate", "gone", "ZeroDivisionError: second", "ValueError: first"),
        ("crashes:Leaves", "gone", "the agent ended its own process", "SystemExit: enough"),
        ("crashes:Deep", "gone", "RecursionError", "line 65, in action"),
    ] {
        let (file, class) = agent.split_once(':').unwrap_or((agent, ""));
        let class = if class.is_empty() { String::new() } else { format!(":{class}") };
        let agent = format!("comp30024:faulty/{file}.py{class}");
        let (fault, summary) = fault(&place, "freckers", &agent);
        assert_eq!(fault["kind"], kind, "{agent}: {fault}");
        let told = fault["text"].as_str().unwrap();
        assert!(told.contains("exit status 1"), "{agent}: {told}");
        let words = summary.stdout.lines().find(|line| line.contains(" said last: ")).unwrap();
        assert!(words.contains(last), "{agent}: {words}");
        let said = said(&place, &json!({"transcript": "x.jsonl"}), 0);
        assert!(said.contains(line), "{agent}: {said}");
        // Only frames of the agent's own.
        assert!(!said.contains("<string>") && !said.contains("importlib"), "{agent}: {said}");
        place.assert_tidy();
    }
}

#[test]
fn a_crash_ends_the_process_whatever_threads_it_has() {
    let Some(place) = place() else { return };
    let (fault, summary) = fault(&place, "freckers", "comp30024:named:Crashing");
    assert_eq!(fault["kind"], "gone", "{fault}");
    summary.prints("named said last: named.py:64: RuntimeError: crashed with a thread");
}

#[test]
fn what_is_no_action_is_shown() {
    let Some(place) = place() else { return };
    for (game, agent, kind, shown) in [
        ("freckers", "faulty/answers.py:Nothing", "garbled", "None (NoneType)"),
        ("freckers", "faulty/answers.py:Text", "garbled", "'GROW' (str)"),
        ("freckers", "faulty/answers.py:Class", "garbled", "GrowAction'> (type)"),
        ("freckers", "faulty/answers.py:Tuple", "garbled", "MoveAction(coord=(0, 3), "),
        ("freckers", "faulty/answers.py:NoDirection", "garbled", "_directions=['Down'])"),
        ("freckers", "faulty/answers.py:Unshown", "garbled", "Answer object at 0x"),
        ("freckers", "faulty/answers.py:Illegal", "illegal", "0,3 UP: red frogs never go UP"),
        ("freckers", "faulty/answers.py:Empty", "illegal", "at least one direction"),
        ("chexers", "chexers/faulty:Nothing", "garbled", "None (NoneType)"),
        ("chexers", "chexers/faulty:Lists", "garbled", "['MOVE', [[-3, 0], [-2, 0]]] (list)"),
        ("chexers", "chexers/faulty:Lower", "garbled", "('move', ((-3, 0), (-2, 0))) (tuple)"),
        ("chexers", "chexers/faulty:Short", "garbled", "('PASS',) (tuple)"),
        ("chexers", "chexers/faulty:Away", "illegal", "red has none on 0,0"),
        ("chexers", "chexers/faulty:Beyond", "illegal", "-4,0 is not a hex"),
    ] {
        let (fault, summary) = fault(&place, game, &format!("comp30024:{agent}"));
        assert_eq!(fault["kind"], kind, "{agent}: {fault}");
        assert!(fault["text"].as_str().unwrap().contains(shown), "{agent}: {fault}");
        if kind == "garbled" {
            let wanted = if game == "chexers" { "(\"PASS\", None)" } else { "or GrowAction()" };
            summary.prints(" action() returned ").prints(wanted);
        }
    }
}

#[test]
fn other_games_are_refused_in_words() {
    let Some(place) = place() else { return };
    let words = ["play", "hex", "comp30024:whole/agent", "@first", "--no-transcript"];
    let told = place.run(&words).code(2);
    told.complains("whole doesn't play hex");
    let start = place.run(&["position", "freckers", "--json"]).json();
    let position = &format!("position={}", start["position"]);
    let words = ["play", "freckers", "comp30024:whole/agent", "@first", "--setup", position];
    let told = place.run(&words).code(0);
    told.prints("whole said last: comp30024: agents can't be told of a position");
}

#[test]
fn what_is_missing_is_told_before_the_match() {
    let Some(place) = place() else { return };
    let words = ["play", "freckers", "comp30024:nobody", "@first"];
    place.run(&words).code(2).complains("no package").complains("comp30024:PACKAGE[:CLASS]");
    let words = ["play", "freckers", "comp30024:whole/agent", "@first"];
    let none = place.path("tmp");
    let ran = place.run_with(&words, |it| it.env("PATH", none).env_remove("VIRTUAL_ENV"));
    ran.code(2).complains("no `python3`").complains("activate the virtual environment");
}

#[test]
fn the_virtual_environments_python_comes_first() {
    let Some(place) = place() else { return };
    let environment = place.path("environment");
    let words = ["-m", "venv", "--without-pip"];
    let made = Command::new(python().unwrap()).args(words).arg(&environment).status();
    assert!(made.unwrap().success());
    // What its interpreter does before anything else.
    let mut versions = fs::read_dir(environment.join("lib")).unwrap();
    let packages = versions.next().unwrap().unwrap().path().join("site-packages");
    let custom = "import sys\nprint('from the environment', file=sys.stderr, flush=True)\n";
    fs::write(packages.join("sitecustomize.py"), custom).unwrap();
    let words = ["play", "freckers", "comp30024:surface", "@first", "--setup", "turn_limit=2"];
    let words = [&words[..], &["--json"]].concat();
    let told = place.run_with(&words, |it| it.env("VIRTUAL_ENV", environment)).code(0).json();
    assert_no_faults(&place, &told);
    assert!(said(&place, &told, 0).starts_with("from the environment\n"));
}

#[test]
fn the_adapter_is_one_file_that_plays_by_itself() {
    let Some(place) = place() else { return };
    let printed = place.run(&["adapter", "comp30024"]).code(0).stdout;
    place.write("own/comp30024.py", printed);
    let manifest = "name = \"alone\"\ncommand = [\"python3\", \"comp30024.py\", \"agent\"]\n";
    place.write("own/agent.toml", manifest);
    let told = place.play(&["freckers", "own", "@first", "--setup", "turn_limit=6"]);
    assert_no_faults(&place, &told);
    place.run(&["adapter", "gtp-2"]).code(2).complains("comp30024");
}

#[test]
fn without_a_bank_or_limits_there_is_nothing_to_tell() {
    let Some(place) = place() else { return };
    let messages = [json!({"type": "turn", "turn": 1, "left_ms": null})];
    let ran = by_hand(&place, "freckers", "named:Curious", &messages);
    let grow = json!({"type": "action", "turn": 1, "action": {"type": "grow"}});
    assert_eq!(ran.json_lines()[1..], [grow]);
    let told = "{'space_limit': None, 'space_remaining': None, 'time_remaining': None}\n";
    assert_eq!(ran.stderr, told.repeat(2));
}

/// The adapter in the place itself, in seat 1, with these messages after `hello`; their end is the
/// end of its stdin.
fn by_hand(place: &Place, game: &str, package: &str, messages: &[Value]) -> Ran {
    let seat = |(seat, colour): (usize, &str)| json!({"seat": seat, "name": "x", "colour": colour});
    let colours: &[&str] = match game {
        "chexers" => &["red", "green", "blue"],
        _ => &["red", "blue"],
    };
    let seats: Vec<Value> = colours.iter().copied().enumerate().map(seat).collect();
    let hello = json!({
        "type": "hello", "protocol": 1, "game": game, "rules": 1, "setup": {}, "seat": 1,
        "seats": seats, "limits": {}, "seed": 1, "match": "0",
        "clock": {"kind": "wall", "start_ms": 1, "bank_ms": null, "increment_ms": 0, "move_ms": 9},
    });
    let lines: Vec<String> =
        std::iter::once(&hello).chain(messages).map(|message| format!("{message}\n")).collect();
    let words = ["adapter", "comp30024", "--run", package];
    let ran = place.run_with_input(&words, &lines.concat()).code(0);
    assert_eq!(ran.json_lines()[0]["type"], "ready", "{ran:?}");
    ran
}
