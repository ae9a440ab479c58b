//! Signals to the referee: a match that is broken off is void, sealed and cleaned up; one that is
//! only stopped goes on as if no time had passed.

use crate::support::{Place, eventually};
use crate::survivors::{assert_gone, family, wait_for_families};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn an_interrupted_match_is_void() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let place = Place::new();
        let Some(agent) = family(&place, "mute") else { return };
        let running = place.start(&["play", "hex", &agent, &agent, "--out", "x.jsonl", "--json"]);
        wait_for_families(&place, &["x.jsonl"]);
        running.send(signal);
        let told = running.wait().code(code).json();
        assert_eq!(told["verdict"]["result"], "void", "{told}");
        assert_eq!(told["verdict"]["reason"], "interrupted", "{told}");
        assert_eq!(told["verdict"]["void"]["cause"], "interrupted", "{told}");
        assert_eq!(told["verdict"]["places"], Value::Null, "{told}");
        assert_gone(&place);
        assert_eq!(place.verified("x.jsonl"), "ok");
        place.assert_tidy();
    }
}

#[test]
fn an_interrupted_series_starts_nothing_new() {
    let place = Place::new();
    let words = ["play", "hex", "@mute", "@mute", "--games", "50", "--out", "series", "--json"];
    let running = place.start(&words);
    let under_way =
        eventually(|| fs::read_dir(place.path("series")).is_ok_and(|it| it.count() > 0));
    assert!(under_way);
    running.send(Signal::SIGINT);
    let told = running.wait().code(130).json_lines();
    assert!(told.len() < 50, "{} games", told.len());
    assert!(told.iter().all(|told| told["verdict"]["result"] == "void"), "{told:?}");
    let verified = place.run(&["verify", "series", "--json"]).code(0).json_lines();
    assert_eq!(verified.len(), told.len());
}

/// The letter of a process's state, as in /proc.
pub(crate) fn state(pid: u32) -> Option<char> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    line.rsplit(") ").next()?.chars().next()
}

#[test]
fn a_stopped_match_goes_on_and_nobody_is_charged_for_it() {
    // Also where one of the two stood still before.
    for pondering in ["allow", "freeze"] {
        stopped_and_let_go_on(pondering);
    }
}

fn stopped_and_let_go_on(pondering: &str) {
    let place = Place::new();
    // In a folder of its own, which the agents may be shown.
    let gate = place.path("gate/open");
    fs::create_dir(gate.parent().unwrap()).unwrap();
    let Some(agent) = family(&place, &format!("until:{}", gate.display())) else { return };
    let words = ["play", "hex", &agent, &agent, "--setup", "size=3", "--out", "x.jsonl", "--json"];
    let begun = Instant::now();
    let words = [&words[..], &["--pondering", pondering]].concat();
    let running = place.start(&words);
    let pids = wait_for_families(&place, &["x.jsonl"]);
    running.send(Signal::SIGTSTP);
    assert!(eventually(|| state(running.pid()) == Some('T')), "it doesn't stop");
    let all_stand = || pids.iter().all(|&pid| state(pid) == Some('T'));
    assert!(eventually(all_stand), "{:?}", pids.iter().map(|&pid| state(pid)).collect::<Vec<_>>());
    let stood = Instant::now();
    std::thread::sleep(Duration::from_millis(3500));
    let gap = stood.elapsed();
    running.send(Signal::SIGCONT);
    fs::write(&gate, "").unwrap();
    let told = running.wait().code(0).json();
    let whole = begun.elapsed();
    assert_eq!(told["verdict"]["result"], "played", "{told}");
    let events = place.events("x.jsonl");
    let charged = events.iter().filter_map(|event| event["wall_ns"].as_u64()).sum();
    let charged = Duration::from_nanos(charged);
    // Turns follow one another.
    assert!(charged + gap <= whole, "{charged:?} of {whole:?}, {gap:?} of them stopped");
    assert_gone(&place);
    assert_eq!(place.verified("x.jsonl"), "ok");
}
