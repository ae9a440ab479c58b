//! `replay` finds matches: it lists them, and opens the one that an agent lost.

use crate::support::{TestDir, strings};

#[test]
fn matches_are_listed_and_found() {
    let dir = TestDir::new();
    dir.run(&["replay"]).code(1).stderr_has("no transcript").stderr_has("referee play");
    let play = |agents: [&str; 2]| {
        let words = ["hex", agents[0], agents[1], "--setup", "size=3"];
        dir.play(&words)["transcript"].as_str().unwrap().to_owned()
    };
    let (lost, won) = (play(["mybot=@crash", "@first"]), play(["@first", "other=@crash"]));
    let listed = dir.run(&["replay", "--json"]).code(0).json();
    let matches = listed["matches"].as_array().unwrap();
    let files = strings(matches.iter().map(|it| it["file"].clone()));
    assert_eq!(files, [won.clone(), lost.clone()], "the newest first");
    assert_eq!(matches[1]["names"], serde_json::json!(["mybot", "@first"]));
    let table = dir.run(&["replay"]).code(0).stdout;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0], ["#", "started", "game", "agents", "result", "open"]);
    assert_eq!(rows[2][3], "mybot, @first", "{table}");
    assert_eq!(rows[2][5], format!("referee replay {lost}"), "{table}");
    assert_eq!(dir.run(&["replay", "matches", "--count", "1"]).code(0).stdout.lines().count(), 2);

    let shown = |words: &[&str]| dir.run(words).code(0).stdout;
    let whole = shown(&["replay", &lost]);
    assert!(whole.contains("@first wins: mybot crashed"), "{whole}");
    assert_eq!(shown(&["replay", "latest", "--lost", "mybot"]), whole);
    assert_eq!(shown(&["replay", "--lost", "mybot=@crash"]), whole);
    assert_eq!(shown(&["replay", "matches", "--lost", "mybot"]), whole);
    assert_eq!(shown(&["replay", "2"]), whole);
    dir.run(&["replay", "3"]).code(1).stderr_has("no match 3");
    dir.run(&["replay", "--lost", "@first"]).code(1).stderr_has("@first, mybot, other");
    dir.run(&["replay", &lost, "--lost", "mybot"]).code(2).stderr_has("needs a folder");
}

#[test]
fn a_match_is_printed_as_json() {
    let dir = TestDir::new();
    dir.short_match(["@first", "@illegal"]);
    let shown = dir.run(&["replay", "x.jsonl", "--json"]).code(0).json();
    let played = dir.events_of("x.jsonl", "played");
    let plies = shown["plies"].as_array().unwrap();
    assert!(!played.is_empty());
    for (ply, event) in plies.iter().zip(&played) {
        for key in ["turn", "seat", "action", "used_ms"] {
            assert_eq!(ply[key], event[key], "{key}");
        }
        assert!(!ply["text"].as_str().unwrap().is_empty());
    }
    assert_eq!(shown["header"]["game"], "hex");
    assert_eq!(shown["verdict"]["seats"][1]["fault"]["kind"], "illegal", "{shown}");
    assert_eq!(shown["text"], "@first wins: @illegal sent an illegal action");

    let agents = dir.run(&["agents", "--json"]).code(0).json();
    let agents = agents["agents"].as_array().unwrap();
    let lines = dir.run(&["agents"]).code(0).stdout;
    assert_eq!(agents.len(), lines.lines().count());
    let minimax = agents.iter().find(|it| it["agent"] == "@minimax").unwrap();
    assert!(minimax["argument"].is_string(), "{minimax}");
}
