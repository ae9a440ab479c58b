//! `doctor`: its report, missing layers, and attacks that succeed where a layer is missing.

use crate::support::lacks;
use crate::support::{RunResult, TestDir, strings};
use serde_json::Value;
use std::collections::BTreeSet;

/// Levels that are tested on every machine that supports them.
const LEVELS: [&str; 4] = ["basic", "confined", "isolated", "metered"];

/// Attacks that the referee stops at every level, by limits that need no layer and by killing all
/// remaining processes.
const ALWAYS_STOPPED: [&str; 2] = ["open too many files", "leave a daemon behind"];

fn doctor(dir: &TestDir, words: &[&str], mishap: Option<&str>) -> RunResult {
    let words: Vec<&str> = ["doctor"].iter().chain(words).copied().collect();
    dir.run_with(&words, |it| match mishap {
        Some(mishap) => it.env("REFEREE_SANDBOX_MISHAP", mishap),
        None => it.env_remove("REFEREE_SANDBOX_MISHAP"),
    })
}

fn level(output: &Value) -> &Value {
    let levels = output["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 1, "{output}");
    &levels[0]
}

fn probes(level: &Value) -> &[Value] {
    level["probes"].as_array().unwrap()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap()
}

/// Returns the levels that this machine supports, with their layers.
fn held(dir: &TestDir) -> Vec<(&'static str, Vec<String>)> {
    let mut held = Vec::new();
    for name in LEVELS {
        let output = doctor(dir, &["--quick", "--json", "--level", name], None);
        if output.exit == Some(0) {
            let output = output.json();
            let layers = level(&output)["layers"].as_array().unwrap();
            held.push((name, strings(layers.clone())));
        } else {
            println!(
                "level {name} doesn't hold here: {:?}",
                level(&output.code(4).json())["failed"]
            );
        }
    }
    assert!(held.iter().any(|(name, _)| *name == "basic"));
    held
}

#[test]
fn a_missing_layer_is_detected() {
    if lacks("layers of a sandbox") {
        return;
    }
    let dir = TestDir::sandboxed();
    for (name, layers) in held(&dir) {
        for layer in &layers {
            // No quick attack shows that memory is not accounted.
            let quick: &[&str] = if layer == "watchdog" { &[] } else { &["--quick"] };
            let words = [&["--json", "--level", name], quick].concat();
            let output = doctor(&dir, &words, Some(&format!("silent:{layer}"))).code(4).json();
            let level = level(&output);
            assert_eq!(level["holds"], false, "{name} without {layer}");
            let mut failed = probes(level).iter().filter(|it| it["held"] == false);
            assert!(
                failed.any(|it| it["layer"] == layer.as_str()),
                "{name} without {layer}: {}",
                level["failed"]
            );
        }
    }
    dir.assert_tmp_is_empty();
}

#[test]
fn an_unsupported_layer_is_named() {
    if lacks("layers of a sandbox") {
        return;
    }
    let dir = TestDir::sandboxed();
    // The strongest level has all layers.
    for (name, layers) in held(&dir).into_iter().rev().take(1) {
        for layer in &layers {
            for mishap in ["missing", "killed"] {
                let words = ["--quick", "--json", "--level", name];
                let output =
                    doctor(&dir, &words, Some(&format!("{mishap}:{layer}"))).code(4).json();
                let mut failed = probes(level(&output)).iter().filter(|it| it["held"] == false);
                assert!(
                    failed.any(|it| it["layer"] == layer.as_str() && it["attack"] == "start"),
                    "{name}, {mishap}:{layer}: {output}"
                );
            }
        }
    }
    dir.assert_tmp_is_empty();
}

#[test]
fn attacks_succeed_without_their_layer() {
    if lacks("layers of a sandbox") {
        return;
    }
    let dir = TestDir::sandboxed();
    let mut proved = BTreeSet::new();
    let mut layers = BTreeSet::new();
    for (name, _) in held(&dir) {
        let output = doctor(&dir, &["--json", "--level", name], None).code(0).json();
        for probe in probes(level(&output)) {
            let attack = text(probe, "attack");
            layers.insert(text(probe, "layer").to_owned());
            assert_eq!(probe["proof"], probe["without"] == "worked", "{probe}");
            if probe["proof"] == true {
                proved.insert(text(probe, "layer").to_owned());
            } else if !ALWAYS_STOPPED.contains(&attack) {
                println!("not attackable here: {attack}: {}", probe["without"]);
            }
        }
    }
    assert_eq!(proved, layers, "each layer stops something that nothing else here stops");
    dir.assert_tmp_is_empty();
}

#[test]
fn a_complete_report_of_the_machine() {
    let dir = TestDir::sandboxed();
    let ran = doctor(&dir, &["--quick"], None).code(0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    for fact in ["level none\tholds", "level basic\t", "auto\t", "kernel\t", "cores\t"] {
        assert!(lines.iter().any(|line| line.starts_with(fact)), "{fact} in {}", ran.stdout);
    }
    assert!(lines.iter().all(|line| line.split('\t').count() == 3), "{}", ran.stdout);
    let output = doctor(&dir, &["--quick", "--json"], None).code(0).json();
    let strongest =
        output["levels"].as_array().unwrap().iter().rfind(|level| level["holds"] == true);
    assert_eq!(output["auto"], strongest.unwrap()["level"]);
    assert!(!output["machine"]["kernel"].as_str().unwrap().is_empty());
    assert!(output["languages"].as_array().unwrap().len() > 5);
}

#[test]
fn unknown_levels_and_mishaps_are_refused() {
    let dir = TestDir::sandboxed();
    doctor(&dir, &["--level", "external"], None).code(2);
    for mishap in ["silent", "silent:", "quiet:landlock", "silent:landlubber"] {
        let ran = doctor(&dir, &["--quick"], Some(mishap)).code(2);
        assert!(ran.stderr.contains("REFEREE_SANDBOX_MISHAP"), "{}", ran.stderr);
    }
}
