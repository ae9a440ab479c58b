//! The course's conditions: memory, folders that agents write to, whole classes.

use super::{assert_no_faults, dir, dir_with_numpy, fault, said};
use crate::support::contest::AMPLE;
use serde_json::{Value, json};
use std::fs;

/// The course counted the growth of the address space, not Python itself.
#[test]
fn memory_counts_as_in_the_course() {
    let Some(dir) = dir() else { return };
    let preset = ["--preset", "comp30024-2025", "--setup", "turn_limit=4"];
    let words = ["freckers", "comp30024:memory:Obedient", "@first"];
    assert_no_faults(&dir, &dir.play(&[&words[..], &preset[..]].concat()));
    let words = ["freckers", "comp30024:memory:Brief", "@first"];
    let output = dir.play(&[&words[..], &preset[..]].concat());
    let fault = &output["verdict"]["seats"][0]["fault"];
    assert_eq!(fault["kind"], "memory", "{output}");
    assert!(fault["text"].as_str().unwrap().contains("more than 250 MB"), "{fault}");
    let words = ["freckers", "comp30024:memory:Patched", "@first"];
    let patched = dir.play(&[&words[..], &preset[..]].concat());
    let fault = &patched["verdict"]["seats"][0]["fault"];
    assert_eq!(fault["kind"], "memory", "what counts memory was switched off: {patched}");
    let peak = "memory:Brief: action(): exceeded space limit (peak=2";
    assert!(said(&dir, &output, 0).contains(peak), "{}", said(&dir, &output, 0));
    assert_eq!(dir.verify_status(output["transcript"].as_str().unwrap()), "ok");
}

/// In 2019 it counted once all players had been imported, and limited the sum of the three.
#[test]
fn imports_of_2019_are_free_and_one_player_may_use_what_three_had() {
    let Some(dir) = dir_with_numpy() else { return };
    let play = |class: &str, more: &[&str]| {
        let agent = format!("comp30024:chexers/memory.py:{class}");
        let words = ["chexers", &agent, "@first", "@first", "--preset", "comp30024-2019"];
        let output = dir.play(&[&words[..], more].concat());
        let fault = &output["verdict"]["seats"][0]["fault"];
        (fault["kind"].clone(), fault["text"].to_string(), said(&dir, &output, 0))
    };
    // Their first action is illegal, so they have started.
    for (class, more) in [("Player", &["--limit", "memory_mb=20"][..]), ("Third", &[])] {
        let (kind, text, said) = play(class, more);
        assert_eq!(kind, "illegal", "{class}: {text}\n{said}");
    }
    let (kind, text, said) = play("All", &[]);
    assert_eq!(kind, "memory", "{text}\n{said}");
    let (kind, text, said) = play("Patched", &["--limit", "memory_mb=20"]);
    assert_eq!(kind, "memory", "what counts memory was switched off: {text}\n{said}");
}

/// With --strict, what the course's program refused is refused; its words are shown in any case.
#[test]
fn strict_is_as_strict_as_the_course() {
    let Some(dir) = dir() else { return };
    let words = ["freckers", "comp30024:named:Bare", "@first", "--setup", "turn_limit=2"];
    assert_no_faults(&dir, &dir.play(&words));
    let output = dir.play(&[&words[..], &["--strict"]].concat());
    assert_eq!(output["verdict"]["seats"][0]["fault"]["kind"], "start", "{output}");
    assert!(said(&dir, &output, 0).contains("unexpected keyword argument 'time_remaining'"));
    assert!(output["reproduce"].as_str().unwrap().contains("--strict"), "{output}");
    let debugged = dir.run(&["debug", output["transcript"].as_str().unwrap(), "--seat", "0"]);
    assert!(debugged.stderr.contains("unexpected keyword argument"), "{debugged:?}");
    dir.write(
        "contest.toml",
        format!(
            "{AMPLE}agents = [\"comp30024:named:Bare\", \"@first\"]\npolicy.strict = true\n\
             [[games]]\ngame = \"freckers\"\nsetup = {{ turn_limit = 2 }}\n"
        ),
    );
    let contest = dir.run(&["contest", "run", "contest.toml", "--json"]).code(0).json();
    let losers = &contest["standings"]["players"][1];
    assert_eq!(losers["faults"], json!([{"kind": "start", "games": 2}]), "{contest}");
    for (agent, refusal) in [
        ("Nothing", "Unknown action None "),
        ("NoDirection", "'Down' is not a valid direction. "),
        ("Class", "Unknown action <class "),
    ] {
        let agent = format!("comp30024:faulty/answers.py:{agent}");
        let (fault, summary) = fault(&dir, "freckers", &agent);
        assert_eq!(fault["kind"], "garbled", "{agent}: {fault}");
        summary.stdout_has(refusal).stdout_has("action() returned ");
    }
}

#[test]
fn an_agent_may_write_beside_itself() {
    let Some(dir) = dir() else { return };
    let words = ["freckers", "comp30024:class/Notes", "@first", "--setup", "turn_limit=2"];
    // What it writes is gone with the match, or kept for later ones; its own folder never changes.
    for (kept, match_number) in
        [(None, 1), (None, 1), (Some("kept"), 1), (Some("kept"), 2), (None, 1)]
    {
        let option = kept.map(|folder| ["--keep-writes", folder]);
        let output = dir.play(&[&words[..], option.as_ref().map_or(&[], |it| &it[..])].concat());
        assert_no_faults(&dir, &output);
        let said = said(&dir, &output, 0);
        assert!(said.contains(&format!("match {match_number}\n")), "{kept:?}: {said}");
        let again = output["reproduce"].as_str().unwrap();
        assert_eq!(again.contains("--keep-writes kept"), kept.is_some(), "{again}");
    }
    assert!(!dir.path("class/Notes/notes.txt").exists());
    assert!(dir.path("kept/Notes/Notes/notes.txt").is_file());
}

#[test]
fn a_folder_with_agent_toml_may_ask_to_write() {
    let Some(dir) = dir() else { return };
    let printed = dir.run(&["adapter", "comp30024"]).code(0).stdout;
    dir.write("class/comp30024.py", printed);
    let manifest = "command = [\"python3\", \"comp30024.py\", \"Notes\"]\n";
    for (asked, kind) in [("", "start"), ("[sandbox]\nwrite = true\n", "")] {
        dir.write("class/agent.toml", format!("{manifest}{asked}"));
        let output = dir.play(&["freckers", "class", "@first", "--setup", "turn_limit=2"]);
        if kind.is_empty() {
            assert_no_faults(&dir, &output);
            assert!(said(&dir, &output, 0).contains("match 1\n"));
        } else if output["sandbox"]["layers"].to_string().contains("landlock") {
            assert_eq!(output["verdict"]["seats"][0]["fault"]["kind"], kind, "{output}");
        }
        fs::remove_file(dir.path("class/Notes/notes.txt")).ok();
    }
}

#[test]
fn packages_beside_an_agent_that_it_imports_are_its_own_too() {
    let Some(dir) = dir() else { return };
    let words = ["freckers", "comp30024:class/Killer_A1", "comp30024:class/Killer_A"];
    let output = dir.play(&[&words[..], &["--setup", "turn_limit=4"]].concat());
    assert_no_faults(&dir, &output);
    let digests = |output: &Value| [0, 1].map(|seat| output["seats"][seat]["digest"].clone());
    let before = digests(&output);
    let changed = fs::read_to_string(dir.path("class/Killer_A/__init__.py")).unwrap() + "\n";
    dir.write("class/Killer_A/__init__.py", changed);
    let after = digests(&dir.play(&[&words[..], &["--setup", "turn_limit=4"]].concat()));
    assert!(before.iter().zip(&after).all(|(before, after)| before != after), "{before:?}");
}

/// Before the first game, with the same words for a match and a contest.
#[test]
fn broken_packages_are_found_before_the_first_game() {
    let Some(dir) = dir() else { return };
    let contest =
        "game = \"freckers\"\nsubmissions = { folder = \"class\", run = \"comp30024:{}\" }\n";
    dir.write("contest.toml", contest);
    let listed = dir.run(&["contest", "run", "contest.toml"]).code(2);
    let listed = listed.stderr_has("3 of 6 submissions can't play");
    for (name, reason, help) in [
        ("broken", "broken/program.py:4: SyntaxError: ", ""),
        ("empty", "has no Python module", ""),
        ("several", "is not a package", "did you mean comp30024:class/several/bot?"),
    ] {
        let words = ["play", "freckers", &format!("comp30024:class/{name}"), "@first"];
        let played = dir.run(&words).code(2);
        played.stderr_has(reason).stderr_has(help);
        let line = listed.stderr.lines().find(|line| line.starts_with(&format!("{name}: ")));
        assert!(line.is_some_and(|line| line.contains(reason)), "{name}: {}", listed.stderr);
        assert!(listed.stderr.contains(help), "{name}: {}", listed.stderr);
    }
    dir.run(&["play", "freckers", "comp30024:faulty/bad_syntax.py", "@first"])
        .code(2)
        .stderr_has("bad_syntax.py:3: SyntaxError: ");
}

#[test]
fn a_class_is_checked_with_one_line_per_agent() {
    let Some(dir) = dir() else { return };
    let class = ["check", "comp30024:{}", "--submissions", "class", "--game", "freckers"];
    let words = [&class[..], &["--probe", "seat:freckers:0", "--junit", "class.xml"]].concat();
    let output = dir.run(&words).code(3);
    for (name, result) in [
        ("Killer_A", "ok      1 passed"),
        // They import another submission.
        ("Killer_A1", "FAILED  seat:freckers:0: "),
        ("Notes", "FAILED  seat:freckers:0: "),
        ("broken", "FAILED  seat:freckers:0: broken: broken/program.py:4: SyntaxError: "),
        ("empty", "FAILED  seat:freckers:0: "),
    ] {
        let line = output.stdout.lines().find(|line| line.split(' ').next() == Some(name));
        assert!(line.is_some_and(|line| line.contains(result)), "{name}: {}", output.stdout);
    }
    assert!(output.stdout.ends_with("6 agents, 5 failed\n"), "{}", output.stdout);
    let junit = fs::read_to_string(dir.path("class.xml")).unwrap();
    assert_eq!(junit.matches("<testsuite ").count(), 6, "{junit}");
    assert_eq!(junit.matches("<failure ").count(), 5, "{junit}");
    let lines = dir.run(&[&words[..], &["--json"]].concat()).code(3).json_lines();
    let failed = lines.iter().filter(|report| report["ok"] == false).count();
    assert_eq!((lines.len(), failed), (6, 5), "{lines:?}");
    dir.run(&["check", "comp30024:{}"]).code(2).stderr_has("needs --submissions");
}

#[test]
fn nothing_that_another_team_hands_in_is_imported() {
    let Some(dir) = dir() else { return };
    let agent = fs::read_to_string(dir.path("class/Killer_A/__init__.py")).unwrap();
    for team in ["alice", "bob"] {
        dir.write(&format!("teams/{team}/__init__.py"), format!("import colorsys\n{agent}"));
    }
    for name in ["colorsys.py", "__init__.py", "referee/__init__.py", "referee/game/__init__.py"] {
        dir.write(&format!("teams/{name}"), "raise SystemExit('of another team')\n");
    }
    let class = ["check", "comp30024:{}", "--submissions", "teams", "--game", "freckers"];
    let output = dir.run(&[&class[..], &["--probe", "seat:freckers:0"]].concat()).code(3);
    let contest = "agents = [\"@first\"]\npolicy.on_broken = \"leave-out\"\n\
                   submissions = { folder = \"teams\", run = \"comp30024:{}\" }\n\
                   [[games]]\ngame = \"freckers\"\nsetup = { turn_limit = 4 }\n";
    dir.write("contest.toml", format!("{AMPLE}{contest}"));
    dir.run(&["contest", "run", "contest.toml", "--out", "d"]).code(0);
    let standings = fs::read_to_string(dir.path("d/report.json")).unwrap();
    let standings: Value = serde_json::from_str(&standings).unwrap();
    for team in ["alice", "bob"] {
        let line = output.stdout.lines().find(|line| line.split(' ').next() == Some(team));
        assert!(line.is_some_and(|line| line.contains("ok      1 passed")), "{}", output.stdout);
        assert!(!output.stdout.contains("unpacked"), "{}", output.stdout);
        let all = standings["standings"]["players"].as_array().unwrap();
        let row = all.iter().find(|row| row["name"] == team);
        assert!(row.is_some_and(|row| row["faults"] == json!([])), "{standings}");
    }
}

/// They are played from a private place, but people know them by their own.
#[test]
fn submissions_are_debugged_where_they_were_handed_in() {
    let Some(dir) = dir() else { return };
    let agent = fs::read_to_string(dir.path("class/Killer_A/__init__.py")).unwrap();
    for team in ["alice", "bob"] {
        dir.write(&format!("teams/{team}/__init__.py"), format!("{agent}# {team}\n"));
    }
    dir.write(
        "contest.toml",
        format!(
            "{AMPLE}submissions = {{ folder = \"teams\", run = \"comp30024:{{}}\" }}\n\
             [[games]]\ngame = \"freckers\"\nsetup = {{ turn_limit = 4 }}\n"
        ),
    );
    dir.run(&["contest", "run", "contest.toml", "--out", "d"]).code(0);
    let file = fs::read_dir(dir.path("d/games/0000")).unwrap().next().unwrap().unwrap().path();
    let file = file.to_str().unwrap();
    let seats = &dir.events(file)[0]["seats"];
    for seat in 0..2 {
        let agent = format!("comp30024:teams/{}", seats[seat]["name"].as_str().unwrap());
        assert_eq!(seats[seat]["agent"], agent, "{seats}");
        let words = ["debug", file, "--seat", if seat == 0 { "0" } else { "1" }];
        dir.run(&words).code(0).stdout_has("the same");
    }
    dir.run(&["contest", "resume", "d"]).code(0);
}

/// Without a preset, `check` has the conditions of the course, and its commands name them.
#[test]
fn check_has_the_conditions_of_the_course() {
    let Some(dir) = dir() else { return };
    let words = ["check", "comp30024:class/Killer_A", "--probe", "seat:freckers:0", "--game"];
    let output = dir.run(&[&words[..], &["freckers"]].concat()).code(0);
    let output = output.stdout_has(" ms of CPU time)");
    output.stdout_has("next: referee play freckers ").stdout_has(" --preset comp30024-2025");
    // Its game is the one that it plays.
    let words = ["check", "comp30024:chexers/team", "--json"];
    let report = dir.run(&words).code(0).json();
    assert_eq!(report["games"], json!(["chexers"]), "{report}");
    // What no agent of the course was asked.
    for name in ["pass:chexers:0", "other-clock"] {
        let probe = report["probes"].as_array().unwrap().iter().find(|it| it["name"] == name);
        assert_eq!(probe.unwrap()["status"], "not_applicable", "{report}");
    }
    for probe in report["probes"].as_array().unwrap() {
        let again = probe["again"].as_str().unwrap();
        assert!(again.contains("--preset comp30024-2019"), "{again}");
    }
}

#[test]
fn check_writes_the_transcript_that_it_advises_to_look_at() {
    let Some(dir) = dir() else { return };
    let agent = "comp30024:faulty/answers.py:Illegal";
    let report = dir.run(&["check", agent, "--game", "freckers", "--json"]).code(3).json();
    let failed = report["probes"].as_array().unwrap().iter().find(|it| it["status"] == "failed");
    let failure = &failed.unwrap()["failure"];
    let path = failure["transcript"].as_str().unwrap();
    assert!(failure["fix"].as_str().unwrap().contains(path), "{failure}");
    dir.run(&["replay", path, "--print"]).code(0).stdout_has("seat 0  red   answers");
}

/// A digest doesn't cover bytecode, which could be another program. Nothing but an agent's own process writes any.
#[test]
fn bytecode_is_neither_loaded_nor_written() {
    let Some(dir) = dir() else { return };
    let setup = ["--setup", "turn_limit=2"];
    let words = ["freckers", "comp30024:class/Killer_A", "@first"];
    let place = dir.path("class/Killer_A");
    assert_no_faults(&dir, &dir.play(&[&words[..], &setup].concat()));
    assert!(!place.join("__pycache__").exists());
    let forge = "import glob, py_compile, sys\n\
                 open('forged', 'w').write('raise SystemExit(\"forged\")')\n\
                 for file in glob.glob(sys.argv[1] + '/*.py'):\n    \
                     py_compile.compile('forged', __import__('importlib.util').util.cache_from_source(file), \
                         file, True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)\n";
    let mut python = std::process::Command::new(crate::support::python().unwrap());
    let forged = python.args(["-c", forge]).arg(&place).current_dir(dir.path("")).status();
    assert!(forged.unwrap().success());
    assert!(fs::read_dir(place.join("__pycache__")).unwrap().count() > 0);
    assert_no_faults(&dir, &dir.play(&[&words[..], &setup].concat()));
    dir.write(
        "contest.toml",
        format!(
            "{AMPLE}agents = [\"comp30024:class/Killer_A\", \"@first\"]\n\
             [[games]]\ngame = \"freckers\"\nsetup = {{ turn_limit = 2 }}\n"
        ),
    );
    let contest =
        dir.run(&["contest", "run", "contest.toml", "--out", "d", "--json"]).code(0).json();
    for player in contest["standings"]["players"].as_array().unwrap() {
        assert_eq!(player["faults"], json!([]), "{contest}");
    }
    let copies = std::process::Command::new("find").arg(dir.path("d/agents")).output().unwrap();
    assert!(!String::from_utf8_lossy(&copies.stdout).contains("__pycache__"));
}
