//! No process that an agent starts outlives the match, however the match or the referee ends.

use crate::support::family::{assert_gone, families, family, reported_pids, wait_for_families};
use crate::support::lacks;
use crate::support::{TestDir, eventually, python, root};
use nix::sys::signal::Signal;

/// The agent's mode, options of the match and the expected fault.
const ENDS: &[(&str, &[&str], Option<&str>)] = &[
    ("plays", &[], None),
    ("exits", &[], Some("gone")),
    ("mute", &["--move-time", "500ms"], Some("late")),
];

#[test]
fn descendants_end_with_the_match() {
    for (mode, clock, fault) in ENDS {
        let dir = TestDir::sandboxed();
        let Some(agent) = family(&dir, mode) else { return };
        let words = ["hex", &agent, "@first", "--setup", "size=3", "--out", "x.jsonl"];
        let report = dir.play(&[&words, *clock].concat());
        assert_gone(&dir);
        assert_eq!(report["verdict"]["seats"][0]["fault"]["kind"].as_str(), *fault, "{report}");
        assert_eq!(reported_pids(&dir, "x.jsonl", 0), 3, "{mode}");
        dir.assert_tmp_is_empty();
    }
}

#[test]
fn a_retired_seat_is_killed_while_the_others_continue() {
    let dir = TestDir::sandboxed();
    let Some(agent) = family(&dir, "exits") else { return };
    let Some(other) = family(&dir, "mute") else { return };
    let running = dir.start(&["play", "chexers", &agent, &other, "@random", "--out", "x.jsonl"]);
    let found = eventually(|| {
        let is_out = dir.events("x.jsonl").iter().any(|it| it["type"] == "retired");
        is_out && [0, 1].iter().all(|&seat| reported_pids(&dir, "x.jsonl", seat) == 3)
    });
    assert!(found, "{:?}", dir.events("x.jsonl"));
    // The processes of the other seat keep running.
    assert!(eventually(|| families(&dir).len() == 3), "still there: {:?}", families(&dir));
    running.send(Signal::SIGINT);
    running.wait().code(130);
    assert_gone(&dir);
}

#[test]
fn descendants_end_when_the_referee_is_killed() {
    let dir = TestDir::sandboxed();
    let Some(agent) = family(&dir, "mute") else { return };
    let running = dir.start(&["play", "hex", &agent, &agent, "--out", "x.jsonl"]);
    wait_for_families(&dir, &["x.jsonl"]);
    running.send(Signal::SIGKILL);
    let ran = running.wait();
    assert_eq!(ran.exit, None);
    assert!(eventually(|| families(&dir).is_empty()), "still there: {:?}", families(&dir));
    assert_eq!(dir.verify_status("x.jsonl"), "torn");
}

/// Whatever is written after `over`, and by whom, the match ends.
#[test]
fn a_flood_after_the_match_does_not_keep_it() {
    let Some(python) = python() else { return };
    for writer in ["the agent", "its child"] {
        let dir = TestDir::sandboxed();
        dir.write(
            "flood.py",
            "import json, os, signal, sys\n\
             signal.signal(signal.SIGHUP, signal.SIG_IGN)\n\
             for line in sys.stdin:\n    message = json.loads(line)\n    kind = message['type']\n    \
             if kind == 'hello':\n        print(json.dumps({'type': 'ready', 'want': ['actions']}), flush=True)\n    \
             elif kind == 'turn':\n        \
             print(json.dumps({'type': 'action', 'action': message['actions'][0]}), flush=True)\n    \
             elif kind == 'over':\n        if sys.argv[1] == 'the agent' or os.fork() == 0:\n            \
             while True: os.write(1, b'\\n' * 65536)\n        os._exit(0)\n",
        );
        let flood = format!("{} flood.py '{writer}'", python.display());
        let words = ["play", "hex", &flood, "@random", "--setup", "size=3", "--out", "x.jsonl"];
        dir.run(&[&words[..], &["--sandbox", "none"]].concat()).code(0);
        assert_eq!(dir.events_of("x.jsonl", "over").len(), 1, "{writer}");
        dir.run(&["verify", "x.jsonl"]).code(0);
    }
}

/// With a wall clock, too, CPU time and memory are those of all processes of an agent.
#[test]
fn the_work_of_a_child_process_counts() {
    if lacks("CPU time and memory of child processes") {
        return;
    }
    let dir = TestDir::sandboxed();
    let Some(python) = python() else { return };
    dir.write(
        "works.py",
        "import sys, time\nheld = b'x' * (64 << 20)\n\
         sys.path.insert(0, sys.argv[1])\nfrom simple_agent import HexAgent\n\
         class Works(HexAgent):\n    def choose(self, turn):\n        \
         end = time.process_time() + 0.02\n        while time.process_time() < end:\n            pass\n        \
         return {'type': 'place', 'at': self.free[0]}\nWorks().run()\n",
    );
    let agents = root().join("tests/agents");
    // The shell waits, and uses nothing itself.
    let text = format!("#!/bin/sh\n{} works.py {}\nexit $?\n", python.display(), agents.display());
    dir.program("wrapped.sh", &text);
    let words = ["play", "hex", "./wrapped.sh", "@random", "--setup", "size=3", "--out", "x.jsonl"];
    dir.run(&[&words[..], &["--sandbox", "none"]].concat()).code(0).stdout_has("memory");
    let over = dir.events_of("x.jsonl", "over").remove(0);
    let seat = &over["verdict"]["seats"][0];
    let turns = seat["turns"].as_u64().unwrap();
    assert!(turns > 1 && seat["cpu_ms"].as_u64().unwrap() >= 20 * turns, "{over}");
    assert!(seat["peak_memory_kb"].as_u64().unwrap() > 64 << 10, "{over}");
}
