//! The sample agents in the folders beside `src`: each one is started as its `agent.toml` says and
//! plays every game that it says it plays, to the end.

use crate::referee::{Entrant, play, small};
use referee_games::GAMES;
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    name: String,
    command: Vec<String>,
    #[serde(default)]
    build: Vec<String>,
    games: Option<Vec<String>>,
}

/// The folders with an `agent.toml`, in the folders of the languages, and what it says.
fn samples() -> Vec<(PathBuf, Agent)> {
    let entries = |folder: &Path| {
        let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let languages = entries(Path::new(env!("CARGO_MANIFEST_DIR")));
    let folders = languages.iter().flat_map(|language| entries(language));
    let mut samples: Vec<(PathBuf, Agent)> = folders
        .filter(|folder| folder.join("agent.toml").exists())
        .map(|folder| {
            let text = std::fs::read_to_string(folder.join("agent.toml")).unwrap();
            (folder, toml::from_str(&text).unwrap())
        })
        .collect();
    samples.sort_by(|a, b| a.0.cmp(&b.0));
    samples
}

/// The sample as an entrant. What its `build` would put under `target/release`, Cargo has already
/// built for this test.
fn entrant(folder: &Path, agent: &Agent) -> Entrant {
    let mut command = agent.command.clone();
    for (name, program) in [
        ("random-agent", env!("CARGO_BIN_EXE_random-agent")),
        ("board-agent", env!("CARGO_BIN_EXE_board-agent")),
    ] {
        if command[0] == format!("../../../target/release/{name}") {
            assert_eq!(agent.build.last().unwrap(), name);
            program.clone_into(&mut command[0]);
        }
    }
    Entrant::Program(folder.to_owned(), command)
}

#[test]
fn every_sample_plays_its_games_to_the_end() {
    let samples = samples();
    assert_eq!(samples.len(), 4);
    for (folder, agent) in samples {
        assert!(folder.join("README.md").exists(), "{}", agent.name);
        for kind in GAMES {
            if agent.games.as_ref().is_some_and(|games| games.iter().all(|game| game != kind.name))
            {
                continue;
            }
            let seats = kind.start(&small(kind.name)).unwrap().seats();
            for seat in 0..seats {
                let mut table = vec![Entrant::from("random"); seats];
                table[seat] = entrant(&folder, &agent);
                play(kind.name, &small(kind.name), &table, 1, None);
            }
        }
    }
}

#[test]
fn the_hex_agent_follows_swaps_and_positions_and_beats_random() {
    let (folder, agent) =
        samples().into_iter().find(|(_, agent)| agent.name == "hex-paths").unwrap();
    let own = entrant(&folder, &agent);
    for setup in [
        json!({"size": 5}),
        json!({"size": 5, "first": "red"}),
        json!({"size": 5, "swap": "pieces"}),
        json!({"size": 5, "swap": "sides", "first": "red"}),
        json!({"size": 5, "position": {
            "to_move": 0, "size": 5, "stones": [[[2, 2]], [[1, 1]]], "colours": ["red", "black"],
            "turn": 2,
        }, "first": "red"}),
    ] {
        for (seat, table) in
            [[own.clone(), "random".into()], ["random".into(), own.clone()]].iter().enumerate()
        {
            for seed in 1..3 {
                let played = play("hex", &setup, table, seed, None);
                assert_eq!(played.outcome.places[seat], 1, "{setup} seat {seat} seed {seed}");
            }
        }
    }
}
