//! Unmodified agents of the course COMP34111 behind the adapter.

use crate::support::{TestDir, copy_folder, python, root};
use serde_json::Value;
use std::fs;

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
    assert!(again.contains("--setup 'first=red' --setup 'swap=sides'"), "{again}");
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
