//! `contest open`: agents join while it runs; and runs that end at a time.

use crate::support::contest::{AMPLE, agent, assert_whole, contest, count, file, query, start};
use crate::support::{Running, TestDir, eventually};
use nix::sys::signal::Signal;
use std::fs;
use std::process::Command;

const PLAYERS: &str = "select name from players order by number";

fn ladder(dir: &TestDir, words: &[&str], wanted: &[&str]) -> Running {
    let running = start(dir, &[&["open"], words].concat());
    let joined = eventually(|| query(dir, "d", PLAYERS) == wanted);
    assert!(joined, "{:?}", query(dir, "d", PLAYERS));
    running
}

/// Begins a ladder of random with the agent `amy`, which takes in what comes to the folder `bots`.
fn begun(dir: &TestDir, rounds: u32, tables: &str) -> Running {
    agent(dir, "bots/amy", "first");
    dir.write(
        "c.toml",
        format!(
            "name = \"open\"\nseed = 7\nrounds = {rounds}\nformat = \"ladder\"\nagents = [\"@random\"]\n{AMPLE}\
             submissions = \"bots\"\n{tables}[openings]\nplies = 1\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
        ),
    );
    ladder(dir, &["c.toml", "--out", "d"], &["@random", "amy"])
}

fn result(dir: &TestDir, version: &str) -> serde_json::Value {
    let path = dir.path("d/submissions").join(version).join("result.json");
    assert!(eventually(|| path.exists()), "no {version}");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn agents_and_their_versions_join_a_running_ladder() {
    let dir = TestDir::new();
    let running = begun(&dir, 2, "");
    agent(&dir, "bots/bob", "second");
    dir.write("bots/bad/agent.toml", "command = [\"python3\", \"missing.py\"]\n");
    dir.write("bots/cat/agent.toml", "command = \"./run\"\nbuild = \"sh make.sh\"\n");
    dir.write("bots/cat/make.sh", "printf 'no\\377semicolon\\n' >&2; exit 3\n");
    dir.write("bots/notes.txt", "no agent");
    fs::create_dir(dir.path("bots/result.json")).unwrap();
    assert!(eventually(|| query(&dir, "d", PLAYERS).len() == 3));
    // An archive is unpacked for as long as it is taken in.
    dir.write("dan/agent.toml", "command = [\"python3\", \"missing.py\"]\n");
    let mut tar = Command::new("tar");
    tar.args(["czf", "bots/dan.tar.gz", "dan"]).current_dir(dir.path("."));
    assert!(tar.status().unwrap().success());
    assert!(result(&dir, "dan.tar.gz/1")["player"].is_null());
    let unpacked = || {
        let temporary = fs::read_dir(dir.path("tmp")).unwrap().flatten();
        let folder = temporary
            .map(|it| it.path())
            .find(|it| it.file_name().unwrap().to_string_lossy().starts_with("referee-unpacked-"));
        fs::read_dir(folder.unwrap()).unwrap().count()
    };
    assert!(eventually(|| unpacked() == 0));
    agent(&dir, "bots/amy", "first, better");
    let all = ["@random", "amy", "bob", "amy v2"];
    assert!(eventually(|| query(&dir, "d", PLAYERS) == all), "{:?}", query(&dir, "d", PLAYERS));
    // Whole rounds: every version has played at least two pairings of two games.
    let games = "select min(n) from (select count(*) n from seats group by player)";
    assert!(eventually(|| query(&dir, "d", games) == ["4"] && count(&dir, "d") >= 8));
    let bad = result(&dir, "bad/1");
    assert!(bad["player"].is_null() && bad["why"].is_string(), "{bad}");
    let unbuilt = result(&dir, "cat/1");
    let why = unbuilt["why"].as_str().unwrap();
    assert!(why.contains("failed: exit status 3") && why.contains("feedback.md"), "{why}");
    assert!(!why.contains(['\n', '\u{FFFD}']), "{why}");
    let feedback = fs::read_to_string(dir.path("d/submissions/cat/1/feedback.md")).unwrap();
    assert!(feedback.contains("semicolon") && feedback.contains(" --build"), "{feedback}");
    let refused = result(&dir, "result.json/1");
    assert!(refused["player"].is_null(), "{refused}");
    let status = || contest(&dir, &["status", "d"]).code(0).stdout;
    assert!(eventually(|| status().contains("state    waits for new agents")), "{}", status());
    running.send(Signal::SIGINT);
    let ran = running.wait().stderr_has("amy v2 joined").stderr_has("bad does not play: ");
    assert!(ran.stderr.matches("notes.txt is ignored").count() == 1, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("joined").count(), 2, "{}", ran.stderr);
    contest(&dir, &["status", "d"]).code(0).stdout_has("state    over");
    // What was taken in or refused is not taken in again.
    agent(&dir, "bots/zoe", "last");
    std::os::unix::fs::symlink("agent.toml", dir.path("bots/zoe/link")).unwrap();
    let running = ladder(&dir, &["d", "--for", "1h"], &["@random", "amy", "bob", "amy v2", "zoe"]);
    assert_eq!(result(&dir, "zoe/1")["player"], "zoe");
    running.send(Signal::SIGINT);
    running.wait();
    contest(&dir, &["resume", "d"]).code(0);
    dir.run(&["verify", "d"]).code(0);
    assert!(!dir.path("d/submissions/bad/2").exists());
}

/// An agent of the contest file has no versions: one would never meet it.
#[test]
fn no_submission_becomes_a_version_of_an_agent_in_the_contest_file() {
    let dir = TestDir::new();
    agent(&dir, "amy", "the contest's own");
    fs::create_dir(dir.path("bots")).unwrap();
    dir.write(
        "c.toml",
        file(&["@random", "./amy"], "format = \"ladder\"\nsubmissions = \"bots\"\n"),
    );
    let running = ladder(&dir, &["c.toml", "--out", "d"], &["@random", "amy"]);
    // Nor does it take the place of a team that hands in on the site.
    contest(&dir, &["invite", "d", "Group 7"]).code(0);
    for (name, whose) in
        [("amy", "another player"), ("Group 7", "a team that hands in on the site")]
    {
        agent(&dir, &format!("bots/{name}"), "another");
        let refused = result(&dir, &format!("{name}/1"));
        let why = refused["why"].as_str().unwrap_or_default();
        assert!(
            refused["player"].is_null() && why.contains(&format!("is that of {whose}")),
            "{refused}"
        );
    }
    running.terminate();
}

#[test]
fn a_signal_ends_a_ladder_that_is_building() {
    let dir = TestDir::new();
    let running = begun(&dir, 1, "[build]\ntime = \"60m\"\n");
    dir.write("bots/bob/agent.toml", "command = \"./run\"\nbuild = \"sh make.sh\"\n");
    dir.write("bots/bob/make.sh", "sleep 3600\n");
    assert!(eventually(|| dir.path("d/submissions/bob/1").exists()));
    running.send(Signal::SIGTERM);
    running.wait().code(143);
}

#[test]
fn a_format_without_late_players_cannot_be_open() {
    let dir = TestDir::new();
    fs::create_dir(dir.path("bots")).unwrap();
    dir.write("c.toml", file(&["@random", "@first"], "format = \"swiss\"\n"));
    let ran = contest(&dir, &["open", "c.toml", "--out", "d", "--submissions", "bots"]).code(2);
    ran.stderr_has("nobody can join a running contest of format swiss");
    assert!(!dir.path("d").exists(), "nothing is created");
    dir.write("c.toml", file(&["@random", "@first"], "format = \"ladder\"\n"));
    let ran = contest(&dir, &["open", "c.toml", "--out", "d"]).code(2);
    ran.stderr_has("the contest file has no `submissions`").stderr_has("--submissions DIR");
    assert!(!dir.path("d").exists(), "nothing is created");
}

#[test]
fn a_run_ends_at_its_deadline() {
    let dir = TestDir::new();
    dir.write("c.toml", file(&["@random", "@first"], "rounds = 3\n"));
    let ran = contest(&dir, &["run", "c.toml", "--out", "d", "--for", "0s"]).code(0);
    ran.stderr_has("resume: referee contest resume d");
    // A game may have begun at the same moment.
    assert!(count(&dir, "d") < 6);
    for (words, why) in [
        (["--until", "soon"], "expected a time such as `18:00`"),
        (["--until", "2001-01-01 10:00"], "this time has passed"),
    ] {
        contest(&dir, &[&["resume", "d"], &words[..]].concat()).code(2).stderr_has(why);
    }
    contest(&dir, &["resume", "d", "--until", "2999-01-01"]).code(0);
    assert_whole(&dir, "d", 6);
}
