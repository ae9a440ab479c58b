//! Series credit programs, not names: two versions of one agent, in different folders, have different
//! names in tables, in `--json` and in transcripts.

use crate::support::{AMPLE, TestDir, program, strings};
use serde_json::Value;

const AGENTS: [&str; 2] = ["v1/mybot", "v2/mybot"];
const NAMES: [&str; 2] = ["mybot (v1)", "mybot (v2)"];

/// Opens the program of these agents, which their agent.toml alone doesn't.
fn granted() -> [&'static str; 2] {
    ["--allow-read", program()]
}

/// Writes two agents whose folders have the same name.
fn versions() -> TestDir {
    let dir = TestDir::new();
    for (folder, plays) in AGENTS.iter().zip(["first", "random"]) {
        let program = program();
        let command = format!("command = [{program:?}, \"agent\", \"{plays}\"]\n");
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
    let words = [&words[..], &["--seed", "5"], &granted()].concat();
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
    // The results of the series are in the object of its last game.
    assert!(games[..2].iter().all(|game| game["series"].is_null()));
    let players = games[2]["series"]["players"].as_array().unwrap();
    assert_credited(players);
    let sum = |key: &str| players.iter().map(|own| own[key].as_f64().unwrap()).sum::<f64>();
    assert_eq!((sum("score"), sum("points")), (1.0, 3.0), "{players:?}");
    assert!(sum("elo").abs() < 1e-6 && players.iter().all(|own| own["error"].is_f64()));
    let seats = players.iter().map(|own| own["by_seat"][0]["games"].as_u64().unwrap());
    assert_eq!(seats.sum::<u64>(), 3, "{players:?}");
    // The table of a contest, the results by seat, what they mean, then how many games there were.
    let table = dir.run(&words).code(0).stdout;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0][..2], ["#", "player"], "{table}");
    let mut names = [rows[1][1], rows[2][1]];
    names.sort_unstable();
    assert_eq!(names, NAMES, "{table}");
    assert_eq!(rows[3], ["player", "seat 0", "%", "seat 1", "%"], "{table}");
    assert!(NAMES.contains(&rows[4][0]) && rows[4].len() == 5, "{table}");
    assert!(rows[6][0].starts_with("Elo difference of mybot (v"), "{table}");
    assert!(table.contains("\n3 games\nagain: "), "{table}");
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
        [&["contest", "quick", "--out", "q"], &AGENTS[..], &size, &AMPLE, &granted()].concat();
    let report = dir.run(&quick).code(0).json();
    assert_credited(report["standings"]["players"].as_array().unwrap());
    let text = report["games"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("mybot (v"), "{text}");
    let compare = [&["compare", "--out", "c"], &AGENTS[..], &size, &AMPLE, &granted()].concat();
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
    assert!(faults[1].starts_with("game 1: @crash (seat 0) crashed in turn "), "{text}");
    assert!(text.contains("\nand 2 more faults\n"), "{text}");
    let command = text.lines().find_map(|line| line.strip_prefix("  debug: ")).unwrap();
    assert_eq!(dir.shell(&format!("{command} --json")).code(3).json()["same"], true);
}

/// Each opening of a file is played in every seat order, and the reproduce command repeats one game.
#[test]
fn openings_are_played_from_every_seat() {
    let dir = TestDir::new();
    let position = |action: &str| {
        dir.write("actions.txt", action);
        let words = ["position", "hex", "--setup", "size=3", "--actions", "actions.txt", "--json"];
        dir.run(&words).code(0).json()["position"].to_string()
    };
    dir.write("book.jsonl", format!("{}\n{}\n", position("a1"), position("b2")));
    let words = ["play", "hex", "@first", "@random", "--setup", "size=3", "--games", "4"];
    let words = [&words[..], &["--seed", "3", "--openings", "book.jsonl", "--json"]].concat();
    let games = dir.run(&words).code(0).json_lines();
    let opening = |game: &Value| game["setup"]["position"].clone();
    assert_eq!(opening(&games[0]), opening(&games[1]));
    assert_eq!(opening(&games[2]), opening(&games[3]));
    assert_ne!(opening(&games[0]), opening(&games[2]));
    assert_ne!(games[2]["seats"][0]["name"], games[3]["seats"][0]["name"]);
    let again = dir.shell(&format!("{} --json", games[3]["reproduce"].as_str().unwrap())).json();
    assert_eq!((&again["match"], &again["setup"]), (&games[3]["match"], &games[3]["setup"]));
    // Random plies; three seats have six orders.
    let words =
        ["play", "chexers", "@random", "@first", "@greedy", "--games", "7", "--openings", "3"];
    let words = [&words[..], &["--setup", "turns_per_seat=9", "--seed", "3", "--json"]].concat();
    let games = dir.run(&words).code(0).json_lines();
    assert!(games[..6].iter().all(|game| opening(game) == opening(&games[0])));
    assert_ne!(opening(&games[0]), opening(&games[6]));
    // A mistake has its place in the file.
    dir.write("book.jsonl", "{}\n");
    dir.run(&["play", "hex", "@first", "@first", "--openings", "book.jsonl"])
        .code(2)
        .stderr_has("book.jsonl");
    dir.run(&["play", "hex", "@first", "@first", "--openings", "101"]).code(2).stderr_has("100");
}

/// `--build` runs the build command of a folder; without it, the error says so.
#[test]
fn play_builds_agents() {
    let dir = TestDir::new();
    dir.write("bot/agent.toml", "command = \"./run.sh\"\nbuild = \"sh make.sh\"\n");
    let program = program();
    let program = format!("#!/bin/sh\\nexec {program} agent first\\n");
    dir.write("bot/make.sh", format!("printf '{program}' > run.sh; chmod +x run.sh\n"));
    let words = [&["play", "hex", "bot", "@first", "--setup", "size=3", "--json"], &granted()[..]];
    let words = words.concat();
    dir.run(&words).code(2).stderr_has("sh make.sh").stderr_has("--build");
    let built = dir.run(&[&words[..], &["--build"]].concat()).code(0).json();
    assert_eq!(built["verdict"]["result"], "played", "{built}");
    dir.run(&words).code(0);
    dir.write("bot/make.sh", "echo no compiler >&2; exit 3\n");
    dir.run(&[&words[..], &["--build"]].concat())
        .code(1)
        .stderr_has("bot: `sh make.sh` failed: exit status 3\n    no compiler");
}
