//! Unmodified submissions of the course COMP30024 behind the adapter: the layouts of their packages and
//! the mistakes they make.

mod course;

use crate::support::contest::AMPLE;
use crate::support::{RunResult, TestDir, copy_folder, python, root, skip};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// Creates a folder with the course's agents; `None` without Python.
fn dir() -> Option<TestDir> {
    python()?;
    let dir = TestDir::sandboxed();
    copy_folder(&root().join("tests/tests/agents/comp30024"), &dir.path("."));
    Some(dir)
}

/// The same; `None` without numpy.
fn dir_with_numpy() -> Option<TestDir> {
    let dir = dir()?;
    // The agents' environment: packages in the user's home folder are not found.
    let mut asked = Command::new(python()?);
    asked.args(["-c", "import numpy"]).env("HOME", dir.path("tmp"));
    let found = asked.output().unwrap().status.success();
    if !found {
        skip("numpy");
    }
    found.then_some(dir)
}

/// Returns what a seat wrote to stderr in the match of a `play --json` output.
fn said(dir: &TestDir, output: &Value, seat: u64) -> String {
    dir.said(output["transcript"].as_str().unwrap(), seat)
}

/// Plays a match with this agent in seat 0; returns the seat's fault and the run with the text summary.
fn fault(dir: &TestDir, game: &str, agent: &str) -> (Value, RunResult) {
    let mut words = vec!["play", game, agent, "@first", "--out", "x.jsonl", "--force"];
    if game == "chexers" {
        words.extend(["@first", "--on-fault", "end"]);
    }
    words.extend(["--seed", "1"]);
    let output = dir.run(&[&words[..], &["--json"]].concat()).code(0).json();
    (output["verdict"]["seats"][0]["fault"].clone(), dir.run(&words).code(0))
}

fn assert_no_faults(dir: &TestDir, output: &Value) {
    for seat in 0..output["seats"].as_array().unwrap().len() as u64 {
        let fault = &output["verdict"]["seats"][usize::try_from(seat).unwrap()]["fault"];
        assert!(fault.is_null(), "{output}\n{}", said(dir, output, seat));
    }
    assert_eq!(output["verdict"]["result"], "played", "{output}");
    assert_eq!(dir.verify_status(output["transcript"].as_str().unwrap()), "ok");
    dir.assert_tmp_is_empty();
}

#[test]
fn a_whole_submission_plays_and_prints_freely() {
    let Some(dir) = dir() else { return };
    let agent = "comp30024:whole/agent";
    let words = ["freckers", agent, agent, "--preset", "comp30024-2025", "--seed", "5"];
    let output = dir.play(&words);
    assert_no_faults(&dir, &output);
    assert_eq!(
        (&output["seats"][0]["name"], &output["seats"][1]["name"]),
        (&json!("whole"), &json!("whole #2"))
    );
    assert_eq!(
        output["seats"][0]["command"],
        json!(["referee", "adapter", "comp30024", "--run", "agent"])
    );
    for seat in 0..2 {
        let said = said(&dir, &output, seat);
        for words in [
            "printed at import\n",
            "written to the first stdout\n",
            "written to descriptor 1\n",
            "printed by a subprocess\n",
            "no answer\n",
            ["plays RED against BLUE\n", "plays BLUE against RED\n"]
                [usize::try_from(seat).unwrap()],
            " plays MOVE(",
        ] {
            assert!(said.contains(words), "no {words:?} in {said}");
        }
    }
    // The conditions are those of the course, and the match can be reproduced.
    let header = &dir.events(output["transcript"].as_str().unwrap())[0];
    assert_eq!(
        (&header["clock"]["kind"], &header["clock"]["bank_ms"]),
        (&json!("cpu"), &json!(180_000))
    );
    assert_eq!(header["limits"]["memory_mb"], 250);
    let again = output["reproduce"].as_str().unwrap();
    assert!(again.contains("--preset comp30024-2025"), "{again}");
    let played = |output: &Value| -> Vec<Value> {
        let played = dir.events_of(output["transcript"].as_str().unwrap(), "played");
        played.iter().map(|event| event["action"].clone()).collect()
    };
    let second = dir.shell(&format!("{again} --json")).code(0).json();
    assert_eq!(played(&output), played(&second));
}

#[test]
fn the_folder_of_a_submission_is_its_agent_and_its_own_referee_is_used() {
    let Some(dir) = dir() else { return };
    // Inside the folder it is named by its package, as in the course.
    for (agent, within) in
        [("comp30024:own/agent", "comp30024:agent"), ("comp30024:own", "comp30024:.")]
    {
        let output = dir.play(&["freckers", agent, "@random", "--setup", "turn_limit=8"]);
        assert_no_faults(&dir, &output);
        assert!(said(&dir, &output, 0).contains("the referee here is its own\n"));
        assert_eq!(output["seats"][0]["name"], "own");
        let run = json!(["referee", "adapter", "comp30024", "--run", "agent"]);
        assert_eq!(output["seats"][0]["command"], run);
        let words = ["play", "freckers", "@random", within, "--json", "--no-transcript"];
        let output = dir.run_with(&words, |it| it.current_dir(dir.path("own"))).code(0).json();
        assert_eq!(output["verdict"]["result"], "played", "{output}");
        assert_eq!(output["seats"][1]["name"], "own");
    }
}

/// The course's classes of that year are in its program's package, and its rules are a game program.
#[test]
fn agents_of_any_year_play_a_game_program_with_their_own_classes() {
    let Some(dir) = dir() else { return };
    copy_folder(&root().join("tests/games"), &dir.path("rules"));
    dir.write(
        "rules/game.toml",
        "name = \"course\"\ncommand = [\"python3\", \"course_rules.py\"]\nrules = 1\n",
    );
    let words = ["./rules", "comp30024:year", "comp30024:year/agent", "--setup", "turns=6"];
    let words_of_failure = || {
        let failed = dir.play(&words);
        let fault = |seat: &usize| failed["verdict"]["seats"][*seat]["fault"]["kind"] == "start";
        let seat = (0..2).find(fault).expect("neither can start");
        said(&dir, &failed, seat as u64)
    };
    assert!(words_of_failure().contains("need the course's folder `referee` of its year"));
    dir.write("year/referee/game.py", "");
    assert!(words_of_failure().contains("Until 2022 agents exchanged tuples"));
    fs::remove_file(dir.path("year/referee/game.py")).unwrap();
    copy_folder(&root().join("tests/games/course"), &dir.path("year/referee/game"));
    dir.write("year/referee/__init__.py", "import a_library_of_servers\n");
    let colours = "from enum import Enum\nfrom .board import *\nPlayerColor = Enum('PlayerColor', 'RED BLUE')\n";
    dir.write("year/referee/game/__init__.py", colours);
    let output = dir.play(&words);
    let transcript = output["transcript"].as_str().unwrap();
    assert_eq!(output["verdict"]["reason"], "end", "{output}\n{}", said(&dir, &output, 0));
    dir.run(&["verify", transcript, "--rules", "./rules"]).code(0);
    let played = dir.events_of(transcript, "played");
    assert_eq!(
        played[0]["action"],
        json!({"type": "trail", "start": [0, 0], "ways": "DOWN RIGHT"})
    );
    assert_eq!(played[1]["action"], json!({"type": "pair", "a": [3, 2], "b": [3, 3]}));
    let said = said(&dir, &output, 1);
    assert!(said.contains("BLUE saw RED play TrailAction\n"), "{said}");
    assert!(said.contains("BLUE saw BLUE play PairAction\n"), "{said}");
    let check = ["check", "comp30024:year", "--game", "./rules"];
    let checked = dir.run(&check).code(0).stdout;
    // The command that it advises works.
    let next = checked.lines().find_map(|line| line.strip_prefix("next: ")).unwrap();
    dir.shell(next).code(0).stdout_has("draw: nothing more fits");
    for team in ["one", "two"] {
        copy_folder(&dir.path("year"), &dir.path(&format!("class/{team}")));
    }
    // The others move what it has played to elsewhere, so that it is asked again.
    let agent = fs::read_to_string(dir.path("year/agent/__init__.py")).unwrap();
    dir.write("year/agent/__init__.py", agent.replace("self.board.apply_action(action)", "1 / 0"));
    dir.run(&[&check[..], &["--fail-fast"]].concat()).code(3).stdout_has("ZeroDivisionError");
    for folder in ["broken", "empty", "several", "Notes", "Killer_A", "Killer_A1"] {
        fs::remove_dir_all(dir.path(&format!("class/{folder}"))).unwrap();
    }
    let class = ["check", "comp30024:{}", "--submissions", "class", "--game", "./rules"];
    let checked = dir.run(&[&class[..], &["--probe", "seat:course:0"]].concat()).code(0);
    checked.stdout_has("2 agents, 0 failed\n");
    dir.write(
        "contest.toml",
        format!(
            "{AMPLE}submissions = {{ folder = \"class\", run = \"comp30024:{{}}\" }}\n\
             [[games]]\ngame = \"./rules\"\nsetup = {{ turns = 6 }}\n"
        ),
    );
    let contest = dir.run(&["contest", "run", "contest.toml", "--json"]).code(0).json();
    for player in contest["standings"]["players"].as_array().unwrap() {
        assert_eq!(player["faults"], json!([]), "{contest}");
    }
    // The organiser has the course's program beside the contest file, also for one who hands in first.
    fs::rename(dir.path("year/referee"), dir.path("referee")).unwrap();
    for team in ["one", "two"] {
        fs::remove_dir_all(dir.path(&format!("class/{team}/referee"))).unwrap();
    }
    dir.run(&[&class[..], &["--probe", "seat:course:0"]].concat()).code(0);
    fs::remove_dir_all(dir.path("class/two")).unwrap();
    fs::rename(dir.path("class/one/agent"), dir.path("agent")).unwrap();
    fs::remove_dir_all(dir.path("class/one")).unwrap();
    fs::rename(dir.path("agent"), dir.path("class/agent")).unwrap();
    dir.run(&[&class[..], &["--probe", "seat:course:0"]].concat()).code(0).stdout_has("1 agent, 0");
}

/// Imports resolve as where the course's program ran, whatever the folders above look like.
#[test]
fn packages_are_imported_by_the_names_that_they_use() {
    let Some(dir) = dir() else { return };
    // These have helpers or files beside them, where the course's program ran; or a parent that they name.
    for (team, uses) in [
        ("beside/team_b", "import utils\nfrom search.deep import DEPTH"),
        ("called/team_e", "import importlib\nimportlib.import_module('search')"),
        ("data/team_c", "open('weights.json').close()"),
        ("parent/team_d", "from ..utils import math\nimport parent.utils"),
    ] {
        dir.write(&format!("{team}/__init__.py"), "");
        let program = fs::read_to_string(dir.path("stray/agent/program.py")).unwrap();
        dir.write(
            &format!("{team}/program.py"),
            format!("{uses}\n{program}\nfrom . import more\n"),
        );
        dir.write(
            &format!("{team}/more.py"),
            "import importlib\nimportlib.import_module('math')\n",
        );
    }
    for file in [
        "beside/__init__.py",
        "beside/search/__init__.py",
        "data/__init__.py",
        "called/__init__.py",
        "called/search.py",
    ] {
        dir.write(file, "");
    }
    dir.write("beside/utils.py", "import math\n");
    dir.write("beside/search/deep.py", "DEPTH = 2\n");
    dir.write("data/weights.json", "[]");
    dir.write("parent/__init__.py", "");
    dir.write(
        "parent/utils.py",
        "import math, os\nopen(os.path.join(os.path.dirname(__file__), 'a.txt')).close()\n",
    );
    dir.write("parent/a.txt", "");
    for (agent, name, module) in [
        ("beside/team_b", "team_b", "team_b.program"),
        ("beside", "team_b", "team_b.program"),
        ("data", "team_c", "team_c.program"),
        ("called", "team_e", "team_e.program"),
        ("parent/team_d", "team_d", "parent.team_d.program"),
        ("stray/agent", "stray", "agent.program"),
        ("stray", "stray", "agent.program"),
        ("stray.agent", "stray", "agent.program"),
        ("stray/agent copy", "agent copy", "agent.program"),
        ("_blank_", "_blank_", "_blank_.program"),
    ] {
        let agent = format!("comp30024:{agent}");
        let output = dir.play(&["freckers", &agent, "@first", "--setup", "turn_limit=4"]);
        assert_no_faults(&dir, &output);
        assert_eq!(output["seats"][0]["name"], name, "{agent}");
        assert_eq!(said(&dir, &output, 0), format!("imported as {module}\n"), "{agent}");
    }
}

#[test]
fn a_packages_content_may_be_handed_in_without_its_folder() {
    let Some(dir) = dir() else { return };
    copy_folder(&dir.path("whole/agent"), &dir.path("flat/alice"));
    copy_folder(&dir.path("whole/agent"), &dir.path("flat/bob"));
    let deeper = dir.path("flat/bob/__init__.py");
    let init = fs::read_to_string(&deeper).unwrap().replace("from .", "from agent.");
    fs::write(deeper, init).unwrap();
    for agent in ["alice", "bob"] {
        let agent = format!("comp30024:flat/{agent}");
        let words = ["freckers", &agent, "@first", "--preset", "comp30024-2025"];
        let output = dir.play(&[&words[..], &["--setup", "turn_limit=4"]].concat());
        assert_no_faults(&dir, &output);
    }
    // Or in a folder around the package, whatever that is called.
    fs::create_dir_all(dir.path("flat/carol")).unwrap();
    dir.write("flat/carol/README.md", "");
    fs::rename(dir.path("class/several/bot"), dir.path("flat/carol/team_c")).unwrap();
    let class = ["check", "comp30024:{}", "--submissions", "flat", "--game", "freckers"];
    dir.run(&[&class[..], &["--probe", "seat:freckers:0"]].concat()).code(0);
    copy_folder(&dir.path("chexers/team"), &dir.path("2019/dave/team"));
    let class = ["check", "comp30024:{}", "--submissions", "2019", "--probe", "seat:chexers:2"];
    dir.run(&class).code(0).stdout_has("dave  ok      1 passed");
    let output = dir.play(&["chexers", "comp30024:2019/dave", "@first", "@first"]);
    assert_eq!(output["verdict"]["seats"][0]["fault"], Value::Null, "{output}");
    assert_eq!(output["seats"][0]["name"], "team");
}

#[test]
fn an_agents_own_class_is_not_replaced() {
    let Some(dir) = dir() else { return };
    // The first update has its own action; the second, with the opponent's, makes it crash.
    let (fault, summary) = fault(&dir, "freckers", "comp30024:starred");
    assert_eq!(fault["kind"], "gone", "{fault}");
    let last = "agent/program.py:29: IllegalActionException: first line second line\n";
    summary.stdout_has(&format!("last stderr of starred: {last}"));
    let said = said(&dir, &json!({"transcript": "x.jsonl"}), 0);
    assert!(said.starts_with("thinking..\nagent failed in update():\n"), "{said}");
    assert!(said.ends_with(last), "{said}");
}

#[test]
fn actions_destructure_as_in_the_template() {
    let Some(dir) = dir() else { return };
    let python = python().unwrap();
    let new = "import sys; sys.exit(sys.version_info < (3, 10))";
    let has_match = Command::new(python).args(["-c", new]).status().unwrap().success();
    let agent = "comp30024:patterns";
    let output = dir.play(&["freckers", agent, agent, "--setup", "turn_limit=2"]);
    if !has_match {
        let said = said(&dir, &output, 0);
        assert!(said.contains("the course used Python 3.12, and this is"), "{said}");
        return;
    }
    assert_no_faults(&dir, &output);
    for seat in 0..2 {
        let said = said(&dir, &output, seat);
        assert!(said.ends_with("RED moved 0-3 by [↓]\nBLUE grew\n"), "{said}");
    }
}

/// The course's classes behave as in the course, and methods may take fewer parameters.
#[test]
fn agents_of_all_shapes_play_without_a_fault() {
    let Some(dir) = dir() else { return };
    for agent in ["surface", "named:Bare", "named:Picky", "named:Sleepy"] {
        let agent = format!("comp30024:{agent}");
        let setup = ["--setup", "turn_limit=4", "--clock", "60s"];
        let output = dir.play(&[&["freckers", &agent, "@first"], &setup[..]].concat());
        assert_no_faults(&dir, &output);
    }
}

#[test]
fn numpy_numbers_are_accepted() {
    let Some(dir) = dir_with_numpy() else { return };
    let agent = "comp30024:vectors";
    let output = dir.play(&["freckers", agent, agent, "--setup", "turn_limit=20"]);
    assert_no_faults(&dir, &output);
}

#[test]
fn three_players_of_2019_play_by_their_own_boards() {
    let Some(dir) = dir() else { return };
    let team = "comp30024:chexers/team";
    let words = ["chexers", team, team, team, "--preset", "comp30024-2019", "--seed", "7"];
    let output = dir.play(&words);
    assert_no_faults(&dir, &output);
    assert_eq!(output["verdict"]["reason"], "four_exits", "{output}");
    let said = said(&dir, &output, 2);
    for words in ["red ('MOVE', ((", "green ('JUMP', ((", "blue ('EXIT', ("] {
        assert!(said.contains(words), "no {words:?} in {said}");
    }
    let header = &dir.events(output["transcript"].as_str().unwrap())[0];
    assert_eq!((&header["on_fault"], &header["limits"]["memory_mb"]), (&json!("end"), &json!(300)));
}

#[test]
fn passes_and_retirements_are_translated() {
    let Some(dir) = dir() else { return };
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
    let ran = by_hand(&dir, "chexers", "chexers.sample", &messages);
    let pass = json!({"type": "action", "turn": 1, "action": {"type": "pass"}});
    assert_eq!(ran.json_lines()[1..], [pass]);
    let expected = "green update: red ('EXIT', (3, -3))\n\
                green update: green ('PASS', None)\n\
                green update: red ('JUMP', ((0, 0), (2, 0)))\n";
    assert_eq!(ran.stderr, expected);
    // An illegal pass is a fault.
    let (fault, _) = fault(&dir, "chexers", "comp30024:chexers/sample.py");
    assert_eq!(fault["kind"], "illegal");
    assert!(fault["text"].as_str().unwrap().contains("a pass is legal only"), "{fault}");
}

#[test]
fn errors_show_the_authors_own_frames() {
    let Some(dir) = dir() else { return };
    for (agent, kind, last, line) in [
        (
            "at_import",
            "start",
            " -m pip install a_missing_library",
            "No module named 'a_missing_library'; install it: /",
        ),
        ("at_import", "start", "No module named 'a_missing_library'", "at_import.py\", line 3"),
        (
            "no_class",
            "start",
            "no class Agent or Player or ExamplePlayer in no_class; add :CLASS",
            "",
        ),
        ("no_class", "start", "; found Bot", ""),
        ("crashes:Missing", "start", "no class Missing in crashes; found Good, InInit, ", ""),
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
        let (fault, summary) = fault(&dir, "freckers", &agent);
        assert_eq!(fault["kind"], kind, "{agent}: {fault}");
        let text = fault["text"].as_str().unwrap();
        assert!(text.contains("exit status 1"), "{agent}: {text}");
        let words =
            summary.stdout.lines().find(|line| line.starts_with("last stderr of ")).unwrap();
        assert!(words.contains(last), "{agent}: {words}");
        let said = said(&dir, &json!({"transcript": "x.jsonl"}), 0);
        assert!(said.contains(line), "{agent}: {said}");
        // The traceback has only the agent's own frames.
        assert!(!said.contains("<string>") && !said.contains("importlib"), "{agent}: {said}");
        dir.assert_tmp_is_empty();
    }
}

/// It isn't installed, but it needn't be.
#[test]
fn a_missing_module_that_is_the_agents_or_the_courses_own_is_told_as_such() {
    let Some(dir) = dir() else { return };
    for (text, fix) in [
        ("import helpers", "fix: import it as agent.helpers, since it is in agent\n"),
        ("import referee.log", "fix: put the course's folder `referee` beside the package\n"),
        ("import a_missing_library", " -m pip install a_missing_library\n"),
    ] {
        dir.write("lost/agent/__init__.py", format!("{text}\n"));
        dir.write("lost/agent/helpers.py", "");
        let (fault, summary) = fault(&dir, "freckers", "comp30024:lost");
        assert_eq!(fault["kind"], "start", "{fault}");
        let summary = summary.stdout_has(fix);
        assert!(!summary.stdout.contains("install the module"), "{summary:?}");
    }
    // The adapter has imported Python's own.
    copy_folder(&dir.path("_blank_"), &dir.path("random"));
    let (_, summary) = fault(&dir, "freckers", "comp30024:./random");
    summary.stdout_has("in random; Python has a module of that name: rename the package");
}

#[test]
fn a_crash_ends_a_process_with_threads() {
    let Some(dir) = dir() else { return };
    let (fault, summary) = fault(&dir, "freckers", "comp30024:named:Crashing");
    assert_eq!(fault["kind"], "gone", "{fault}");
    summary.stdout_has("last stderr of named: named.py:64: RuntimeError: crashed with a thread");
}

#[test]
fn invalid_return_values_are_shown() {
    let Some(dir) = dir() else { return };
    for (game, agent, kind, shown) in [
        ("freckers", "faulty/answers.py:Nothing", "garbled", "None (NoneType)"),
        ("freckers", "faulty/answers.py:Text", "garbled", "'GROW' (str)"),
        ("freckers", "faulty/answers.py:Class", "garbled", "GrowAction'> (type)"),
        ("freckers", "faulty/answers.py:Tuple", "garbled", "MoveAction(coord=(0, 3), "),
        ("freckers", "faulty/answers.py:NoDirection", "garbled", "_directions=['Down'])"),
        ("freckers", "faulty/answers.py:Unshown", "garbled", "Answer object at 0x"),
        ("freckers", "faulty/answers.py:Illegal", "illegal", "0,3 UP: red frogs never move UP"),
        ("freckers", "faulty/answers.py:Empty", "illegal", "at least one direction"),
        ("chexers", "chexers/faulty:Nothing", "garbled", "None (NoneType)"),
        ("chexers", "chexers/faulty:Lists", "garbled", "['MOVE', [[-3, 0], [-2, 0]]] (list)"),
        ("chexers", "chexers/faulty:Lower", "garbled", "('move', ((-3, 0), (-2, 0))) (tuple)"),
        ("chexers", "chexers/faulty:Short", "garbled", "('PASS',) (tuple)"),
        ("chexers", "chexers/faulty:Away", "illegal", "red has no piece on 0,0"),
        ("chexers", "chexers/faulty:Beyond", "illegal", "-4,0 is off the board"),
    ] {
        let (fault, summary) = fault(&dir, game, &format!("comp30024:{agent}"));
        assert_eq!(fault["kind"], kind, "{agent}: {fault}");
        assert!(fault["text"].as_str().unwrap().contains(shown), "{agent}: {fault}");
        if kind == "garbled" {
            let wanted = if game == "chexers" { "(\"PASS\", None)" } else { "or GrowAction()" };
            summary.stdout_has(" action() returned ").stdout_has(wanted);
        }
    }
}

#[test]
fn unsupported_games_are_refused() {
    let Some(dir) = dir() else { return };
    let words = ["play", "hex", "comp30024:whole/agent", "@first", "--no-transcript"];
    let output = dir.run(&words).code(2);
    output.stderr_has("whole does not play hex");
    let start = dir.run(&["position", "freckers", "--json"]).json();
    let position = &format!("position={}", start["position"]);
    let words = ["play", "freckers", "comp30024:whole/agent", "@first", "--setup", position];
    let output = dir.run(&words).code(0);
    output.stdout_has("last stderr of whole: comp30024: agents can't start from a position");
}

#[test]
fn missing_programs_are_reported_before_the_match() {
    let Some(dir) = dir() else { return };
    let words = ["play", "freckers", "comp30024:missing", "@first"];
    dir.run(&words).code(2).stderr_has("no package").stderr_has("comp30024:PACKAGE[:CLASS]");
    let words = ["play", "freckers", "comp30024:whole/agent", "@first"];
    let none = dir.path("tmp");
    let ran = dir.run_with(&words, |it| it.env("PATH", none).env_remove("VIRTUAL_ENV"));
    ran.code(2).stderr_has("no `python3`").stderr_has("activate the virtual environment");
}

#[test]
fn the_virtual_environments_python_comes_first() {
    let Some(dir) = dir() else { return };
    let environment = dir.path("environment");
    let words = ["-m", "venv", "--without-pip"];
    let made = Command::new(python().unwrap()).args(words).arg(&environment).status();
    assert!(made.unwrap().success());
    // The environment's interpreter runs this file first.
    let mut versions = fs::read_dir(environment.join("lib")).unwrap();
    let packages = versions.next().unwrap().unwrap().path().join("site-packages");
    let custom = "import sys\nprint('from the environment', file=sys.stderr, flush=True)\n";
    fs::write(packages.join("sitecustomize.py"), custom).unwrap();
    let words = ["play", "freckers", "comp30024:surface", "@first", "--setup", "turn_limit=2"];
    let words = [&words[..], &["--json"]].concat();
    let output = dir.run_with(&words, |it| it.env("VIRTUAL_ENV", environment)).code(0).json();
    assert_no_faults(&dir, &output);
    assert!(said(&dir, &output, 0).starts_with("from the environment\n"));
}

#[test]
fn the_printed_adapter_plays_as_one_file() {
    let Some(dir) = dir() else { return };
    let printed = dir.run(&["adapter", "comp30024"]).code(0).stdout;
    dir.write("own/comp30024.py", printed);
    let manifest = "name = \"alone\"\ncommand = [\"python3\", \"comp30024.py\", \"agent\"]\n";
    dir.write("own/agent.toml", manifest);
    let output = dir.play(&["freckers", "own", "@first", "--setup", "turn_limit=6"]);
    assert_no_faults(&dir, &output);
    dir.run(&["adapter", "gtp-2"]).code(2).stderr_has("comp30024");
}

#[test]
fn without_a_bank_or_limits_the_fields_are_none() {
    let Some(dir) = dir() else { return };
    let messages = [json!({"type": "turn", "turn": 1, "left_ms": null})];
    let ran = by_hand(&dir, "freckers", "named:Curious", &messages);
    let grow = json!({"type": "action", "turn": 1, "action": {"type": "grow"}});
    assert_eq!(ran.json_lines()[1..], [grow]);
    let expected = "{'space_limit': None, 'space_remaining': None, 'time_remaining': None}\n";
    assert_eq!(ran.stderr, expected.repeat(2));
}

/// Runs the adapter in `dir` as seat 1 and sends `hello`, these messages and the end of input.
fn by_hand(dir: &TestDir, game: &str, package: &str, messages: &[Value]) -> RunResult {
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
    let ran = dir.run_with_input(&words, &lines.concat()).code(0);
    assert_eq!(ran.json_lines()[0]["type"], "ready", "{ran:?}");
    ran
}
