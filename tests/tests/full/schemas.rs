//! The printed schemas are valid, and what the program writes matches them.

use crate::support::{TestDir, lacks};
use serde_json::json;

#[test]
fn every_schema_is_one() {
    let dir = TestDir::new();
    let list = dir.run(&["schema"]).code(0).stdout;
    let names: Vec<&str> = list.lines().map(|line| line.split('\t').next().unwrap()).collect();
    for name in ["to-agent", "from-agent", "transcript", "play"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for name in names {
        let schema = dir.run(&["schema", name]).code(0).json();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn play_output_matches_its_schema() {
    let dir = TestDir::sandboxed();
    let schema = dir.run(&["schema", "play"]).code(0).json();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for agents in [&["hex", "@first", "@first"][..], &["hex", "@illegal", "@first"]] {
        let output = dir.play(&[agents, &["--setup", "size=3"]].concat());
        schema.validate(&output).unwrap_or_else(|error| panic!("{error}: {output}"));
        for key in ["game", "setup", "seed", "seats", "outcome", "verdict", "turns", "transcript"] {
            assert!(output.get(key).is_some(), "{key}: {output}");
        }
        let has_none = output["sandbox"]["level"] == "none";
        assert!(!has_none || lacks("a sandbox"), "not requested");
        assert!(output["reproduce"].as_str().unwrap().starts_with("referee play hex "));
    }
}

#[test]
fn transcript_lines_match_their_schema() {
    let dir = TestDir::new();
    let schema = dir.run(&["schema", "transcript"]).code(0).json();
    let schema = jsonschema::validator_for(&schema).unwrap();
    dir.play(&["chexers", "@illegal", "@crash", "@first", "--out", "x.jsonl"]);
    for event in dir.events("x.jsonl") {
        schema.validate(&event).unwrap_or_else(|error| panic!("{error}: {event}"));
    }
}

#[test]
fn the_schema_takes_contest_files() {
    let dir = TestDir::new();
    let schema = dir.run(&["schema", "contest-file"]).code(0).json();
    let four = json!({
        "format": "round-robin", "rounds": 6, "clock": {"bank": "30s", "move": 2.5},
        "agents": ["@random", {"name": "deep", "run": "@minimax:2"}],
        "games": [{"game": "hex", "setup": {"size": 5}}],
        "gauntlet": {"challengers": ["deep"]}, "submissions": "bots",
    });
    assert!(jsonschema::is_valid(&schema, &four));
    assert!(!jsonschema::is_valid(&schema, &json!({"runds": 6})));
    assert!(!jsonschema::is_valid(&schema, &json!({"format": "swis"})));
}

#[test]
fn a_plan_matches_its_schema() {
    let dir = TestDir::new();
    let schema = dir.run(&["schema", "contest-plan"]).code(0).json();
    dir.write(
        "c.toml",
        "agents = [\"@random\", \"@first\"]\nformat = \"round-robin\"\ngame = \"hex\"\n",
    );
    let plan = dir.run(&["contest", "plan", "c.toml", "--json"]).code(0).json();
    assert!(jsonschema::is_valid(&schema, &plan), "{plan}");
}
