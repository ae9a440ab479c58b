//! Nothing that an agent has started outlives its match, however the match or the referee ends.

use crate::support::{Place, command_lines, eventually, scripted};
use nix::sys::signal::Signal;

/// The agent's file, in the command lines of all of its processes.
const FAMILY: &str = "/family.py";

/// An agent of this mode, whose processes can be told from those of other places; `None` without
/// Python.
pub(crate) fn family(place: &Place, mode: &str) -> Option<String> {
    scripted("family.py", &format!("{mode} {}", mark(place)))
}

/// A name that no other place has.
fn mark(place: &Place) -> String {
    place.path("").file_name().unwrap().to_str().unwrap().to_owned()
}

/// How many of its processes a seat has told of in a transcript, as far as it is written.
fn told(place: &Place, transcript: &str, seat: u64) -> usize {
    place.said(transcript, seat).lines().filter(|line| line.starts_with("pid ")).count()
}

/// The processes of all families in a place that run: they have a command line, and that of the agent.
pub(crate) fn families(place: &Place) -> Vec<u32> {
    let mark = mark(place);
    let is_of_family =
        |words: &[String]| words.iter().any(|word| word.ends_with(FAMILY)) && words.contains(&mark);
    command_lines().filter(|(_, words)| is_of_family(words)).map(|(pid, _)| pid).collect()
}

#[track_caller]
pub(crate) fn assert_gone(place: &Place) {
    let left = families(place);
    assert!(left.is_empty(), "still there: {left:?}");
}

/// Waits until both agents of each of these matches have told of themselves and of their two
/// descendants.
#[track_caller]
pub(crate) fn wait_for_families(place: &Place, transcripts: &[&str]) -> Vec<u32> {
    let has_told = |name: &&str| [0, 1].iter().all(|&seat| told(place, name, seat) == 3);
    let all_told = eventually(|| transcripts.iter().all(has_told));
    let pids = families(place);
    assert!(all_told, "only {pids:?}");
    assert_eq!(pids.len(), transcripts.len() * 2 * 3, "they don't all run");
    pids
}

/// How the agent ends, and the fault that it gets for it.
const ENDS: &[(&str, &[&str], Option<&str>)] = &[
    ("plays", &[], None),
    ("exits", &[], Some("gone")),
    ("mute", &["--move-time", "500ms"], Some("late")),
];

#[test]
fn descendants_end_with_the_match() {
    for (mode, clock, fault) in ENDS {
        let place = Place::new();
        let Some(agent) = family(&place, mode) else { return };
        let words = ["hex", &agent, "@first", "--setup", "size=3", "--out", "x.jsonl"];
        let report = place.play(&[&words, *clock].concat());
        assert_gone(&place);
        assert_eq!(report["verdict"]["seats"][0]["fault"]["kind"].as_str(), *fault, "{report}");
        assert_eq!(told(&place, "x.jsonl", 0), 3, "{mode}");
        place.assert_tidy();
    }
}

#[test]
fn a_retired_seat_is_gone_while_the_others_play_on() {
    let place = Place::new();
    let Some(agent) = family(&place, "exits") else { return };
    let Some(other) = family(&place, "mute") else { return };
    let running = place.start(&["play", "chexers", &agent, &other, "@random", "--out", "x.jsonl"]);
    let found = eventually(|| {
        let is_out = place.events("x.jsonl").iter().any(|it| it["type"] == "retired");
        is_out && [0, 1].iter().all(|&seat| told(&place, "x.jsonl", seat) == 3)
    });
    assert!(found, "{:?}", place.events("x.jsonl"));
    // Those of the other seat are there all the time.
    assert!(eventually(|| families(&place).len() == 3), "still there: {:?}", families(&place));
    running.send(Signal::SIGINT);
    running.wait().code(130);
    assert_gone(&place);
}

#[test]
fn descendants_end_when_the_referee_is_killed() {
    let place = Place::new();
    let Some(agent) = family(&place, "mute") else { return };
    let running = place.start(&["play", "hex", &agent, &agent, "--out", "x.jsonl"]);
    wait_for_families(&place, &["x.jsonl"]);
    running.send(Signal::SIGKILL);
    let ran = running.wait();
    assert_eq!(ran.exit, None);
    assert!(eventually(|| families(&place).is_empty()), "still there: {:?}", families(&place));
    assert_eq!(place.verified("x.jsonl"), "torn");
}
