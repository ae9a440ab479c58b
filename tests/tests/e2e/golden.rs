//! Golden transcripts (transcripts/*.jsonl): recorded once, and readable by every later version.
//!
//! Files are only added. If a change makes one of them read differently, it changes the rules or the
//! format of matches that users have recorded: raise the game's RULES or the transcript's version and
//! keep reading the old one; never record a file again.

use crate::support::{TestDir, golden, root};
use flate2::read::GzDecoder;
use referee_games::Games;
use referee_protocol::{Event, FaultKind, MatchResult};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The files, sorted. Add new ones; never remove or rewrite one.
const FILES: &[&str] = &[
    "checker-puzzle-solved.jsonl",
    "checker-puzzle-unsolved.jsonl",
    "chexers-four-exits.jsonl",
    "chexers-retired.jsonl",
    "chinese-checkers-home.jsonl",
    "chinese-checkers-three.jsonl",
    "freckers-all-across.jsonl",
    "freckers-turn-limit.jsonl",
    "hex-fault.jsonl",
    "hex-position.jsonl",
    "hex-resigned.jsonl",
    "hex-swap.jsonl",
    "hex-void.jsonl",
    "peg-solitaire-diamond.jsonl.gz",
    "peg-solitaire-over-at-the-start.jsonl",
    "peg-solitaire-solved.jsonl",
];

fn folder() -> PathBuf {
    root().join("tests/tests/transcripts")
}

fn events(name: &str) -> Vec<Event> {
    let bytes = golden(name);
    let mut text = String::new();
    if Path::new(name).extension().is_some_and(|ending| ending == "gz") {
        GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_golden_transcript_verifies() {
    let mut there: Vec<String> = folder()
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort_unstable();
    assert_eq!(there, FILES, "recorded transcripts are listed in FILES and only ever added to");
    for name in FILES {
        let report = referee_match::transcript::verify(&golden(name), &Games::default());
        assert_eq!(
            report.status.to_string(),
            "ok",
            "{name}: {}. Recorded transcripts are only ever added to: keep reading this one as it \
             is (raise RULES or the transcript's version), never record it again",
            report.detail
        );
    }
}

#[test]
fn every_golden_transcript_can_be_shown() {
    for name in FILES {
        let file = folder().join(name).display().to_string();
        TestDir::new().run(&["replay", &file, "--print", "--board", "ascii"]).code(0);
    }
}

#[test]
fn every_game_and_every_way_to_end_is_among_them() {
    let (mut games, mut ends, mut others) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
    for name in FILES {
        for event in events(name) {
            match event {
                Event::Header(header) => drop(games.insert(header.game)),
                Event::Over(over) => ends.push(over.verdict.result),
                Event::Retired(_) => drop(others.insert("retired")),
                Event::Stderr(_) => drop(others.insert("stderr")),
                Event::Exit(exit) if exit.late => drop(others.insert("late exit")),
                Event::Line(line) if line.escaped => drop(others.insert("escaped line")),
                _ => {}
            }
        }
    }
    let registered: BTreeSet<String> =
        referee_games::GAMES.iter().map(|kind| kind.name.to_owned()).collect();
    assert_eq!(games, registered, "record a match of the new game, and add it to FILES");
    for wanted in
        [MatchResult::Played, MatchResult::Fault, MatchResult::Resigned, MatchResult::Void]
    {
        assert!(ends.contains(&wanted), "no match ended {wanted:?}");
    }
    assert_eq!(others.len(), 4, "{others:?}");
}

#[test]
fn misbehaving_agents_get_the_fault_they_are_named_after() {
    let over = |name: &str| {
        let found = events(name).into_iter().find_map(|event| match event {
            Event::Over(over) => Some(*over),
            _ => None,
        });
        found.unwrap()
    };
    for (name, reason) in [
        ("checker-puzzle-solved.jsonl", "solved"),
        ("checker-puzzle-unsolved.jsonl", "move_limit"),
        ("chexers-four-exits.jsonl", "four_exits"),
        ("chinese-checkers-home.jsonl", "home"),
        ("freckers-all-across.jsonl", "all_across"),
        ("freckers-turn-limit.jsonl", "turn_limit"),
        ("hex-swap.jsonl", "connected"),
        ("peg-solitaire-over-at-the-start.jsonl", "stuck"),
        ("peg-solitaire-solved.jsonl", "solved"),
    ] {
        assert_eq!(over(name).outcome.unwrap().reason, reason, "{name}");
    }
    let fault = over("hex-fault.jsonl").verdict.seats[0].fault.clone().unwrap();
    assert_eq!(fault.kind, FaultKind::Garbled);
    assert_eq!(over("hex-void.jsonl").verdict.void.unwrap().cause, "interrupted");
    assert_eq!(over("chexers-retired.jsonl").verdict.places.unwrap()[1], 3);
}
