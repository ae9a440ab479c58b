//! Pondering is allowed, charged, or prevented by stopping the agents.

use crate::support::{TestDir, script_agent};
use serde_json::Value;

/// The result of a match between two pondering agents.
struct Pondered {
    header: Value,
    /// The CPU time that the agents report before each request, in milliseconds.
    told_ms: Vec<u64>,
    /// The time charged for it, in nanoseconds per turn.
    charged_ns: Vec<u64>,
    exits: Vec<Value>,
}

fn pondered(how: &str) -> Option<Pondered> {
    let dir = TestDir::sandboxed();
    let agent = script_agent("pondering.py", "0.5")?;
    let words = ["play", "hex", &agent, &agent, "--setup", "size=3", "--out", "x.jsonl"];
    let words = [&words[..], &["--pondering", how, "--fail-on-fault"]].concat();
    dir.run(&words).code(0);
    assert_eq!(dir.verify_status("x.jsonl"), "ok");
    let events = dir.events("x.jsonl");
    let of = |kind: &str| events.iter().filter(|it| it["type"] == *kind).collect::<Vec<_>>();
    let charged = |turn: &&Value| turn["pondered_ns"].as_u64().unwrap_or(0);
    let output = |it: &&Value| it["text"].as_str().unwrap().trim().parse().unwrap();
    Some(Pondered {
        header: of("header")[0].clone(),
        told_ms: of("stderr").iter().map(output).collect(),
        charged_ns: of("turn").iter().map(charged).collect(),
        exits: of("exit").into_iter().cloned().collect(),
    })
}

#[test]
fn waiting_agents_may_think_pay_for_it_or_are_stopped() {
    let Some(allowed) = pondered("allow") else { return };
    let Some(measured) = pondered("measure") else { return };
    let Some(frozen) = pondered("freeze") else { return };
    for (pondered, name) in [(&allowed, "allow"), (&measured, "measure"), (&frozen, "freeze")] {
        assert_eq!(pondered.header["sandbox"]["pondering"], name);
        let by_themselves = pondered.exits.iter().all(|exit| exit["status"] == "exit status 0");
        assert!(by_themselves, "{name}: {:?}", pondered.exits);
        let charged: u64 = pondered.charged_ns.iter().sum();
        assert_eq!(charged > 0, name == "measure", "{name}: {charged} ns");
    }
    let sum = |pondered: &Pondered| pondered.told_ms.iter().sum::<u64>();
    assert!(sum(&frozen) * 2 < sum(&allowed), "{:?}, {:?}", frozen.told_ms, allowed.told_ms);
    // The agent's own clock is finer than that of its process tree, which counts in 10 ms.
    let charged_ms = measured.charged_ns.iter().sum::<u64>() / 1_000_000;
    assert!(charged_ms * 2 > sum(&measured), "{charged_ms} of {:?}", measured.told_ms);
}
