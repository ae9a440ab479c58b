//! Nothing that an agent has started outlives its match, however the match or the referee ends.

use crate::support::{AMPLE, Place, Running, eventually, scripted};
use nix::sys::signal::Signal;
use std::fs;

/// What its processes have in their command lines.
const MARK: &str = "family.py";

/// The processes that agents have told of in a transcript, as far as it is written.
pub(crate) fn told_pids(place: &Place, transcript: &str) -> Vec<u32> {
    let events = place.events(transcript);
    let texts =
        events.iter().filter(|it| it["type"] == "stderr").filter_map(|it| it["text"].as_str());
    let words = texts.flat_map(str::lines).filter_map(|line| line.strip_prefix("pid "));
    words.filter_map(|rest| rest.split(' ').next()?.parse().ok()).collect()
}

/// The process runs: it has a command line, and that of the agent.
pub(crate) fn runs(pid: u32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains(MARK)
}

#[track_caller]
pub(crate) fn assert_gone(pids: &[u32]) {
    let left: Vec<u32> = pids.iter().copied().filter(|&pid| runs(pid)).collect();
    assert!(left.is_empty(), "still there: {left:?} of {pids:?}");
}

/// Waits until each of the agents has told of itself and of its two descendants.
#[track_caller]
pub(crate) fn wait_for_family(place: &Place, transcript: &str, agents: usize) -> Vec<u32> {
    let mut pids = Vec::new();
    let told = eventually(|| {
        pids = told_pids(place, transcript);
        pids.len() == agents * 3
    });
    assert!(told, "only {pids:?} in {:?}", place.events(transcript));
    assert!(pids.iter().all(|&pid| runs(pid)), "{pids:?} don't all run");
    pids
}

/// How the agent ends, and the fault that it gets for it.
const ENDS: &[(&str, &[&str], Option<&str>)] = &[
    ("plays", &AMPLE, None),
    ("exits", &AMPLE, Some("gone")),
    ("mute", &["--move-time", "500ms", "--start-time", "3m"], Some("late")),
];

#[test]
fn descendants_end_with_the_match() {
    for (mode, clock, fault) in ENDS {
        let place = Place::new();
        let Some(agent) = scripted("family.py", mode) else { return };
        let words = ["hex", &agent, "@first", "--setup", "size=3", "--out", "x.jsonl"];
        let told = place.play(&[&words, *clock].concat());
        assert_eq!(told["verdict"]["seats"][0]["fault"]["kind"].as_str(), *fault, "{told}");
        let pids = told_pids(&place, "x.jsonl");
        assert_eq!(pids.len(), 3, "{mode}: {pids:?}");
        assert_gone(&pids);
        place.assert_tidy();
    }
}

#[test]
fn a_retired_seat_is_gone_while_the_others_play_on() {
    let place = Place::new();
    let Some(agent) = scripted("family.py", "exits") else { return };
    let Some(other) = scripted("family.py", "mute") else { return };
    let words = ["play", "chexers", &agent, &other, "@random", "--out", "x.jsonl"];
    let running = Running::start(place.command(&[&words, &AMPLE[..]].concat()), None);
    let mut retired = Vec::new();
    let found = eventually(|| {
        let events = place.events("x.jsonl");
        let is_out = events.iter().any(|it| it["type"] == "retired");
        let of_first = |it: &&serde_json::Value| it["type"] == "stderr" && it["seat"] == 0;
        let texts = events.iter().filter(of_first).filter_map(|it| it["text"].as_str());
        let words = texts.flat_map(str::split_whitespace).filter_map(|word| word.parse().ok());
        retired = words.collect();
        is_out && retired.len() == 3
    });
    assert!(found, "{:?}", place.events("x.jsonl"));
    assert!(eventually(|| !retired.iter().any(|&pid| runs(pid))), "{retired:?} are still there");
    let all = told_pids(&place, "x.jsonl");
    running.send(Signal::SIGINT);
    running.wait().code(130);
    assert_gone(&all);
}

#[test]
fn descendants_end_when_the_referee_is_killed() {
    let place = Place::new();
    let Some(agent) = scripted("family.py", "mute") else { return };
    let words = ["play", "hex", &agent, &agent, "--out", "x.jsonl"];
    let running = Running::start(place.command(&[&words, &AMPLE[..]].concat()), None);
    let pids = wait_for_family(&place, "x.jsonl", 2);
    running.send(Signal::SIGKILL);
    let ran = running.wait();
    assert_eq!(ran.exit, None);
    assert!(eventually(|| !pids.iter().any(|&pid| runs(pid))), "of {pids:?} some are still there");
    assert_eq!(place.verified("x.jsonl"), "torn");
}
