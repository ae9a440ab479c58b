//! What agents do while they aren't asked: it is allowed, paid for, or they are stopped.

use crate::support::{Place, scripted};
use serde_json::Value;

/// What became of a match between two that ponder.
struct Pondered {
    header: Value,
    /// What they say of their own CPU time before requests, in milliseconds.
    told_ms: Vec<u64>,
    /// What was charged for it, in nanoseconds, turn by turn.
    charged_ns: Vec<u64>,
    exits: Vec<Value>,
}

fn pondered(how: &str) -> Option<Pondered> {
    let place = Place::new();
    let agent = scripted("pondering.py", "0.5")?;
    let words = ["play", "hex", &agent, &agent, "--setup", "size=3", "--out", "x.jsonl"];
    let words = [&words[..], &["--pondering", how, "--fail-on-fault"]].concat();
    place.run(&words).code(0);
    assert_eq!(place.verified("x.jsonl"), "ok");
    let events = place.events("x.jsonl");
    let of = |kind: &str| events.iter().filter(|it| it["type"] == *kind).collect::<Vec<_>>();
    let charged = |turn: &&Value| turn["pondered_ns"].as_u64().unwrap_or(0);
    let told = |it: &&Value| it["text"].as_str().unwrap().trim().parse().unwrap();
    Some(Pondered {
        header: of("header")[0].clone(),
        told_ms: of("stderr").iter().map(told).collect(),
        charged_ns: of("turn").iter().map(charged).collect(),
        exits: of("exit").into_iter().cloned().collect(),
    })
}

/// One of the two could end by itself.
fn ends_by_itself(pondered: &Pondered) -> bool {
    pondered.exits.iter().any(|exit| exit["status"] == "exit status 0")
}

#[test]
fn who_waits_may_think_pays_for_it_or_stands_still() {
    let Some(allowed) = pondered("allow") else { return };
    let Some(measured) = pondered("measure") else { return };
    let Some(frozen) = pondered("freeze") else { return };
    for (pondered, name) in [(&allowed, "allow"), (&measured, "measure"), (&frozen, "freeze")] {
        assert_eq!(pondered.header["sandbox"]["pondering"], name);
        // Who gets no core for a second is killed: so in one of some matches.
        let again = || (0..4).any(|_| ends_by_itself(&self::pondered(name).unwrap()));
        assert!(ends_by_itself(pondered) || again(), "{name}: {:?}", pondered.exits);
        let charged: u64 = pondered.charged_ns.iter().sum();
        assert_eq!(charged > 0, name == "measure", "{name}: {charged} ns");
    }
    let sum = |pondered: &Pondered| pondered.told_ms.iter().sum::<u64>();
    assert!(sum(&frozen) * 2 < sum(&allowed), "{:?}, {:?}", frozen.told_ms, allowed.told_ms);
    // Its own clock is finer than that of the whole tree, which counts in hundredths of a second.
    let charged_ms = measured.charged_ns.iter().sum::<u64>() / 1_000_000;
    assert!(charged_ms * 2 > sum(&measured), "{charged_ms} of {:?}", measured.told_ms);
}
