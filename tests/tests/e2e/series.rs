//! Series credit programs, not names: two versions of one agent, in different folders, have different
//! names in tables, in `--json` and in transcripts.

use crate::support::{AMPLE, PROGRAM, TestDir, strings};
use serde_json::Value;

const AGENTS: [&str; 2] = ["v1/mybot", "v2/mybot"];
const NAMES: [&str; 2] = ["mybot (v1)", "mybot (v2)"];

/// The program of these agents, which their agent.toml alone doesn't open.
const GRANTED: [&str; 2] = ["--allow-read", PROGRAM];

/// Writes two agents whose folders have the same name.
fn versions() -> TestDir {
    let dir = TestDir::new();
    for (folder, plays) in AGENTS.iter().zip(["first", "random"]) {
        let command = format!("command = [{PROGRAM:?}, \"agent\", \"{plays}\"]\n");
        dir.write(&format!("{folder}/agent.toml"), command);
    }
    dir
}

/// Asserts that each agent has its own name and its own digest wherever it is listed.
#[track_caller]
fn assert_credited<'a>(agents: impl IntoIterator<Item = &'a Value>) {
    let mut digests = [None, None];
    for agent in agents {
        let index = AGENTS.iter().position(|it| agent["agent"] == *it).unwrap();
        assert_eq!(agent["name"], NAMES[index], "{agent}");
        let digest = agent["digest"].as_str().unwrap();
        assert_eq!(*digests[index].get_or_insert(digest), digest, "{agent}");
    }
    assert!(digests[0].is_some() && digests[1].is_some() && digests[0] != digests[1]);
}

#[test]
fn a_series_credits_programs() {
    let dir = versions();
    let words = ["play", "hex", AGENTS[0], AGENTS[1], "--setup", "size=3", "--games", "3"];
    let words = [&words[..], &["--seed", "5"], &GRANTED].concat();
    let games = dir.run(&[&words[..], &["--json"]].concat()).code(0).json_lines();
    assert_credited(games.iter().flat_map(|game| game["seats"].as_array().unwrap()));
    for game in &games {
        let transcript = game["transcript"].as_str().unwrap();
        let header = &dir.events(transcript)[0];
        assert_credited(header["seats"].as_array().unwrap());
        let again = dir.shell(&format!("{} --json", game["reproduce"].as_str().unwrap())).json();
        assert_eq!((&again["match"], &again["seats"]), (&game["match"], &game["seats"]));
        assert!(game["text"].as_str().unwrap().ends_with("connected its two sides"), "{game}");
    }
    // The table of a contest, then how many games there were.
    let table = dir.run(&words).code(0).stdout;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0][..2], ["#", "player"], "{table}");
    let mut names = [rows[1][1], rows[2][1]];
    names.sort_unstable();
    assert_eq!(names, NAMES, "{table}");
    assert_eq!(rows[3], ["3 games"], "{table}");
    // The same program twice.
    let same = ["play", "hex", "@random", "@random", "--setup", "size=3", "--games", "2", "--json"];
    let games = dir.run(&same).code(0).json_lines();
    let names = |game: &Value| {
        strings(game["seats"].as_array().unwrap().iter().map(|seat| seat["name"].clone()))
    };
    assert_eq!(names(&games[0]), ["@random", "@random #2"]);
    assert_eq!(names(&games[1]), ["@random #2", "@random"], "they keep their names");
}

#[test]
fn contests_from_the_command_line_credit_programs() {
    let dir = versions();
    let size = ["--game", "hex", "--setup", "size=3", "--games", "2", "--json"];
    let quick =
        [&["contest", "quick", "--out", "q"], &AGENTS[..], &size, &AMPLE, &GRANTED].concat();
    let report = dir.run(&quick).code(0).json();
    assert_credited(report["standings"]["players"].as_array().unwrap());
    let text = report["games"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("mybot (v"), "{text}");
    let compare = [&["compare", "--out", "c"], &AGENTS[..], &size, &AMPLE, &GRANTED].concat();
    let summary = dir.run(&compare).code(0).json();
    assert_credited(summary["agents"].as_array().unwrap());
    assert_eq!(summary["pairs"], 1, "{summary}");
    for folder in ["q", "c"] {
        let header = &dir.events(&format!("{folder}/games/0000/0000000.jsonl"))[0];
        assert_credited(header["seats"].as_array().unwrap());
        dir.run(&["verify", folder]).code(0);
    }
}

/// A series lists each fault with its game, its agent and the command that debugs it.
#[test]
fn a_series_lists_its_faults() {
    let dir = TestDir::new();
    let words =
        ["play", "hex", "@first", "@crash", "--setup", "size=3", "--games", "12", "-j", "1"];
    let text = dir.run(&words).code(0).stdout;
    let faults: Vec<&str> = text.lines().filter(|line| line.starts_with("game ")).collect();
    assert_eq!(faults.len(), 10, "{text}");
    assert!(
        faults[1].starts_with("game 1: @crash (seat 0) stopped before the match ended in turn "),
        "{text}"
    );
    assert!(text.contains("\nand 2 more faults\n"), "{text}");
    let command = text.lines().find_map(|line| line.strip_prefix("  debug: ")).unwrap();
    assert_eq!(dir.shell(&format!("{command} --json")).code(3).json()["same"], true);
}
