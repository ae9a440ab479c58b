//! Signals to the referee: an interrupted match is void, sealed and cleaned up; a stopped match
//! continues as if no time had passed.

use crate::support::family::{assert_gone, family, wait_for_families};
use crate::support::{TestDir, eventually, is_stopped, state};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn an_interrupted_match_is_void() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let dir = TestDir::new();
        let Some(agent) = family(&dir, "mute") else { return };
        let running = dir.start(&["play", "hex", &agent, &agent, "--out", "x.jsonl", "--json"]);
        wait_for_families(&dir, &["x.jsonl"]);
        running.send(signal);
        let output = running.wait().code(code).json();
        assert_eq!(output["verdict"]["result"], "void", "{output}");
        assert_eq!(output["verdict"]["reason"], "interrupted", "{output}");
        assert_eq!(output["verdict"]["void"]["cause"], "interrupted", "{output}");
        assert_eq!(output["verdict"]["places"], Value::Null, "{output}");
        assert_gone(&dir);
        assert_eq!(dir.verify_status("x.jsonl"), "ok");
        dir.assert_tmp_is_empty();
    }
}

#[test]
fn an_interrupted_series_starts_nothing_new() {
    let dir = TestDir::new();
    let words = ["play", "hex", "@mute", "@mute", "--games", "50", "--out", "series", "--json"];
    let running = dir.start(&words);
    let under_way = eventually(|| fs::read_dir(dir.path("series")).is_ok_and(|it| it.count() > 0));
    assert!(under_way);
    running.send(Signal::SIGINT);
    let output = running.wait().code(130).json_lines();
    assert!(output.len() < 50, "{} games", output.len());
    assert!(output.iter().all(|output| output["verdict"]["result"] == "void"), "{output:?}");
    let verified = dir.run(&["verify", "series", "--json"]).code(0).json_lines();
    assert_eq!(verified.len(), output.len());
}

#[test]
fn a_stopped_match_continues_and_no_agent_is_charged() {
    // Also if one of the agents was already stopped.
    for pondering in ["allow", "freeze"] {
        stop_and_continue(pondering);
    }
}

fn stop_and_continue(pondering: &str) {
    let dir = TestDir::new();
    // In a separate folder, which is made readable for the agents.
    let gate = dir.path("gate/open");
    fs::create_dir(gate.parent().unwrap()).unwrap();
    let Some(agent) = family(&dir, &format!("until:{}", gate.display())) else { return };
    let words = ["play", "hex", &agent, &agent, "--setup", "size=3", "--out", "x.jsonl", "--json"];
    let begun = Instant::now();
    let words = [&words[..], &["--pondering", pondering]].concat();
    let running = dir.start(&words);
    let pids = wait_for_families(&dir, &["x.jsonl"]);
    running.send(Signal::SIGTSTP);
    assert!(eventually(|| state(running.pid()) == Some('T')), "it doesn't stop");
    let all_stopped = || pids.iter().all(|&pid| is_stopped(pid));
    assert!(
        eventually(all_stopped),
        "{:?}",
        pids.iter().map(|&pid| state(pid)).collect::<Vec<_>>()
    );
    let stopped_at = Instant::now();
    std::thread::sleep(Duration::from_millis(3500));
    let gap = stopped_at.elapsed();
    running.send(Signal::SIGCONT);
    fs::write(&gate, "").unwrap();
    let output = running.wait().code(0).json();
    let whole = begun.elapsed();
    assert_eq!(output["verdict"]["result"], "played", "{output}");
    let events = dir.events("x.jsonl");
    let charged = events.iter().filter_map(|event| event["wall_ns"].as_u64()).sum();
    let charged = Duration::from_nanos(charged);
    // Turns are sequential.
    assert!(charged + gap <= whole, "{charged:?} of {whole:?}, {gap:?} of them stopped");
    assert_gone(&dir);
    assert_eq!(dir.verify_status("x.jsonl"), "ok");
}
