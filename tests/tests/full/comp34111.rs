//! Unmodified agents of the course COMP34111 behind the adapter.

use crate::support::contest::AMPLE;
use crate::support::{TestDir, copy_folder, python, root};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// Creates a folder with the course's agents; `None` without Python.
fn dir() -> Option<TestDir> {
    python()?;
    let dir = TestDir::sandboxed();
    copy_folder(&root().join("tests/tests/agents/comp34111"), &dir.path("."));
    Some(dir)
}

fn said(dir: &TestDir, output: &Value, seat: u64) -> String {
    dir.said(output["transcript"].as_str().unwrap(), seat)
}

/// The agents keep boards of their own, and find their chains where the referee finds them.
#[test]
fn the_course_and_the_referee_have_the_same_board() {
    let Some(dir) = dir() else { return };
    for first in ["red", "black"] {
        for swap in ["none", "sides", "pieces"] {
            let second =
                if swap == "none" { "agents/Group1/Lines.py:Stays" } else { "agents/Group1" };
            let agents = ["comp34111:agents.Group1.Lines Stays", &format!("comp34111:{second}")]
                .map(str::to_owned);
            let setup = [format!("first={first}"), format!("swap={swap}"), "size=5".to_owned()];
            let mut words = vec!["hex", &agents[0], &agents[1]];
            words.extend(setup.iter().flat_map(|pair| ["--setup", pair.as_str()]));
            let output = dir.play(&words);
            let case = format!("{first} {swap}: {output}\n{}", said(&dir, &output, 0));
            assert_eq!(output["verdict"]["reason"], "connected", "{case}");
            let played = dir.events_of(output["transcript"].as_str().unwrap(), "played");
            let swapped = played.iter().any(|event| event["action"]["type"] == "swap");
            assert_eq!(swapped, swap != "none", "{case}");
            for seat in 0..2 {
                let place = &output["verdict"]["places"][usize::try_from(seat).unwrap()];
                let connected = said(&dir, &output, seat).contains("has connected its sides\n");
                assert_eq!(connected, place == 1, "{case}");
            }
            assert_eq!(dir.verify_status(output["transcript"].as_str().unwrap()), "ok");
        }
    }
    dir.assert_tmp_is_empty();
}

#[test]
fn the_folders_own_src_is_used_and_conditions_are_those_of_the_course() {
    let Some(dir) = dir() else { return };
    let words = ["hex", "comp34111:own/agents/Group2", "@random", "--preset", "comp34111"];
    let output = dir.play(&[&words[..], &["--seed", "3"]].concat());
    assert_eq!(output["verdict"]["result"], "played", "{output}\n{}", said(&dir, &output, 0));
    assert!(said(&dir, &output, 0).starts_with("the board here is its own\n"));
    assert_eq!(output["seats"][0]["name"], "First");
    let header = &dir.events(output["transcript"].as_str().unwrap())[0];
    assert_eq!(
        (&header["clock"]["kind"], &header["clock"]["bank_ms"]),
        (&"wall".into(), &300_000.into())
    );
    let report = dir.run(&["check", "comp34111:own/agents/Group2/First.py", "--json"]).json();
    assert_eq!(report["games"], serde_json::json!(["hex"]), "{report}");
    assert_eq!(report["ok"], true, "{report}");
    // It swaps whenever it may, and in the course it always may.
    let report = dir.run(&["check", "comp34111:agents/Group1", "--json"]).code(0).json();
    let again = report["probes"][0]["again"].as_str().unwrap();
    assert!(again.contains("--setup first=red --setup swap=sides"), "{again}");
}

/// With it the folder of all groups would be a package, in which one group's code runs when another's is imported.
#[test]
fn a_package_that_one_group_makes_of_the_folder_of_all_is_left_out() {
    let Some(dir) = dir() else { return };
    let lines = fs::read_to_string(dir.path("agents/Group1/Lines.py")).unwrap();
    dir.write("agents/Group3/cmd.txt", "agents.Group3.Lines Lines\n");
    dir.write("agents/Group3/Lines.py", lines.replace("Group1", "Group3"));
    for name in ["order.py", "plan.txt"] {
        fs::copy(dir.path("agents/Group1").join(name), dir.path("agents/Group3").join(name))
            .unwrap();
    }
    dir.write("agents/__init__.py", "raise SystemExit('of another group')\n");
    let class = ["check", "comp34111:{}", "--submissions", "agents", "--probe", "seat:hex:0"];
    let output = dir.run(&class).code(3).stdout;
    for group in ["Group1", "Group3"] {
        let line = output.lines().find(|line| line.split(' ').next() == Some(group));
        assert!(line.is_some_and(|line| line.contains("ok      1 passed")), "{output}");
    }
}

/// Its own file names the module to import: never one of the organiser's, or of another team.
#[test]
fn a_submission_names_nothing_outside_of_its_folder() {
    let Some(dir) = dir() else { return };
    let agent = fs::read_to_string(dir.path("own/agents/Group2/First.py")).unwrap();
    let agent =
        agent.replace("board.WHOSE", "board.size").replace("board.taken", "self.taken(board)");
    let taken = "\n    def taken(self, board):\n        \"\"\"The cells with a stone.\"\"\"\n        \
                 return [(t.x, t.y) for row in board.tiles for t in row if t.colour]\n";
    dir.write("organiser/__init__.py", "");
    dir.write("organiser/secret.py", format!("TOKEN = 'the solution'\n{agent}{taken}"));
    dir.write("src/plan.py", "");
    let imports = "from organiser.secret import TOKEN, Agent\nprint(TOKEN)\n";
    for (team, command, module) in [
        ("eve", "organiser.secret Agent", ""),
        ("mallory", "handins.mallory.bot Agent", imports),
        ("oscar", "agents.Group9.bot Agent", imports),
    ] {
        dir.write(&format!("handins/{team}/cmd.txt"), format!("{command}\n"));
        dir.write(&format!("handins/{team}/bot.py"), module);
    }
    let class = ["check", "comp34111:{}", "--submissions", "handins", "--probe", "seat:hex:0"];
    let output = dir.run(&class).code(3);
    for (team, reason) in [
        ("eve", "its cmd.txt names organiser.secret, but no organiser/secret.py is in this folder"),
        ("mallory", "No module named 'organiser'"),
        ("oscar", "No module named 'organiser'"),
    ] {
        let line = output.stdout.lines().find(|line| line.split(' ').next() == Some(team));
        assert!(line.is_some_and(|line| line.contains(reason)), "{}", output.stdout);
    }
    let contest = "agents = [\"@first\"]\npolicy.on_broken = \"leave-out\"\n\
                   submissions = { folder = \"handins\", run = \"comp34111:{}\" }\n\
                   [[games]]\ngame = \"hex\"\nsetup = { size = 3 }\n";
    dir.write("contest.toml", format!("{AMPLE}{contest}"));
    dir.run(&["contest", "run", "contest.toml", "--out", "d"]).code(0);
    let found = Command::new("grep").args(["-rl", "the solution"]).arg(dir.path("d")).output();
    assert_eq!(String::from_utf8(found.unwrap().stdout).unwrap(), "");
    // Nor by a path on the command line.
    let output = dir.play(&["hex", "comp34111:handins/oscar", "@first"]);
    assert_eq!(output["verdict"]["seats"][0]["fault"]["kind"], "start", "{output}");
    assert!(!said(&dir, &output, 0).contains("the solution"));
    let spy = format!("print(open('organiser/secret.py').read())\n{agent}");
    dir.write("agents/Group1/Spy.py", spy);
    let output = dir.play(&["hex", "comp34111:agents/Group1/Spy.py", "@first"]);
    if output["sandbox"]["layers"].to_string().contains("landlock") {
        assert!(!said(&dir, &output, 0).contains("the solution"), "{}", said(&dir, &output, 0));
    }
}

/// As groups hand in: the course's repository with their folder in it, only their folder, or only its content.
#[test]
fn submissions_play_in_whatever_folders_they_are_handed_in() {
    let Some(dir) = dir() else { return };
    let group = dir.path("agents/Group1");
    for place in ["alone/Group1", "content", "fork/agents/Group1", "deep/hex-main/agents/Group1"] {
        copy_folder(&group, &dir.path(&format!("class/{place}")));
    }
    for without in ["content", "fork/agents/Group1"] {
        fs::remove_file(dir.path(&format!("class/{without}/cmd.txt"))).unwrap();
    }
    for fork in ["fork", "deep/hex-main"] {
        let example = "from agents.Group1.Lines import Lines\nclass Naive(Lines):\n    \
                       def make_move(self, turn, board, opp_move): pass\n";
        dir.write(&format!("class/{fork}/agents/DefaultAgents/Naive.py"), example);
        let command = "agents.DefaultAgents.Naive Naive\n";
        dir.write(&format!("class/{fork}/agents/DefaultAgents/cmd.txt"), command);
        dir.write(
            &format!("class/{fork}/agents/Group1/use.py"),
            "import agents.DefaultAgents.Naive\n",
        );
        let lines = format!("class/{fork}/agents/Group1/Lines.py");
        let text = fs::read_to_string(dir.path(&lines)).unwrap();
        dir.write(&lines, format!("{text}\n\nimport agents.Group1.use\n"));
    }
    let packed = dir.path("class/packed.tar.gz");
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(packed).arg("agents").current_dir(dir.path("class/fork"));
    assert!(tar.status().unwrap().success());
    // Whose modules never name their folder, or only in a path.
    let lines = fs::read_to_string(group.join("Lines.py")).unwrap();
    let plan = "\"swap\" in open(\"agents/Group1/plan.txt\", encoding=\"utf-8\").read()";
    let relative = lines.replace("agents.Group1.", ".").replace(plan, "True");
    assert!(!relative.contains("Group1"), "{relative}");
    let path = lines.replace("agents.Group1.", "");
    let path = path.replacen("import ", "import sys; sys.path.append('agents/Group1')\nimport ", 1);
    for (team, lines) in [("relative", relative), ("path", path)] {
        copy_folder(&group, &dir.path(&format!("class/{team}")));
        fs::remove_file(dir.path(&format!("class/{team}/cmd.txt"))).unwrap();
        dir.write(&format!("class/{team}/Lines.py"), lines);
    }
    let setup = ["--setup", "first=red", "--setup", "swap=sides", "--setup", "size=4"];
    for agent in
        ["alone", "alone/Group1", "content", "relative", "path", "fork", "deep", "packed.tar.gz"]
    {
        let agent = format!("comp34111:class/{agent}");
        let output = dir.play(&[&["hex", &agent, "@random"], &setup[..]].concat());
        assert_eq!(output["verdict"]["result"], "played", "{output}\n{}", said(&dir, &output, 0));
        assert!(output["verdict"]["seats"][0]["fault"].is_null(), "{}", said(&dir, &output, 0));
    }
    let class = ["check", "comp34111:{}", "--submissions", "class", "--probe", "start", "--json"];
    for report in dir.run(&class).code(0).json_lines() {
        let again = report["probes"][0]["again"].as_str().unwrap();
        let name = report["name"].as_str().unwrap();
        assert!(again.contains(&format!("check comp34111:class/{name}")), "{again}");
    }
    let contest = "agents = [\"@random\"]\n\
                   submissions = { folder = \"class\", run = \"comp34111:{}\" }\n\
                   [[games]]\ngame = \"hex\"\nsetup = { first = \"red\", swap = \"sides\", size = 4 }\n";
    dir.write("contest.toml", format!("{AMPLE}{contest}"));
    let contest =
        dir.run(&["contest", "run", "contest.toml", "--out", "d", "--json"]).code(0).json();
    let players = contest["standings"]["players"].as_array().unwrap();
    assert_eq!(players.len(), 8, "{contest}");
    assert!(players.iter().all(|player| player["faults"] == serde_json::json!([])), "{contest}");
}

#[test]
fn mistakes_are_shown_as_agents_see_them() {
    let Some(dir) = dir() else { return };
    let agent = "comp34111:agents/Group1/Lines.py";
    let output = dir.play(&["hex", &format!("{agent}:Wrong"), "@first"]);
    let fault = &output["verdict"]["seats"][0]["fault"];
    assert_eq!(fault["kind"], "garbled", "{output}");
    let text = "make_move() returned (0, 0) (tuple), expected Move(x, y), or Move(-1, -1) to swap";
    assert!(said(&dir, &output, 0).contains(text), "{}", said(&dir, &output, 0));
    // A swap that the setup doesn't allow is illegal.
    let output = dir.play(&["hex", "@first", &format!("{agent}:Lines")]);
    assert_eq!(output["verdict"]["seats"][1]["fault"]["kind"], "illegal", "{output}");
    dir.write(
        "agents/Group1/Two.py",
        "from agents.Group1.Lines import Lines\nclass A(Lines): pass\nclass B(Lines): pass\n",
    );
    let output = dir.play(&["hex", "comp34111:agents/Group1/Two.py", "@first"]);
    let text = "agents.Group1.Two needs one class with make_move(); add :CLASS to the agent's name; found A, B";
    assert!(said(&dir, &output, 0).contains(text), "{}", said(&dir, &output, 0));
    dir.run(&["play", "freckers", agent, "@first"]).code(2).stderr_has("does not play freckers");
    let missing = dir.run(&["play", "hex", "comp34111:nothing", "@first"]).code(2);
    missing.stderr_has("no agent").stderr_has("comp34111:FILE.py[:CLASS]");
}
