//! What `doctor` finds: that layers hold, that a missing one is missed, and that its attacks are
//! attacks.

use crate::support::{Place, Ran, texts};
use serde_json::Value;
use std::collections::BTreeSet;

/// Those that are tested on every machine where they hold.
const LEVELS: [&str; 4] = ["basic", "confined", "isolated", "metered"];

/// What the referee stops at every level: limits that are set without any layer, and a kill that
/// finds all that is left.
const ALWAYS_STOPPED: [&str; 2] = ["open too many files", "leave a daemon behind"];

fn doctor(place: &Place, words: &[&str], mishap: Option<&str>) -> Ran {
    let words: Vec<&str> = ["doctor"].iter().chain(words).copied().collect();
    place.run_with(&words, |it| match mishap {
        Some(mishap) => it.env("REFEREE_SANDBOX_MISHAP", mishap),
        None => it.env_remove("REFEREE_SANDBOX_MISHAP"),
    })
}

fn level(told: &Value) -> &Value {
    let levels = told["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 1, "{told}");
    &levels[0]
}

fn probes(level: &Value) -> &[Value] {
    level["probes"].as_array().unwrap()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap()
}

/// The levels that hold here, with their layers.
fn held(place: &Place) -> Vec<(&'static str, Vec<String>)> {
    let mut held = Vec::new();
    for name in LEVELS {
        let told = doctor(place, &["--quick", "--json", "--level", name], None);
        if told.exit == Some(0) {
            let told = told.json();
            let layers = level(&told)["layers"].as_array().unwrap();
            held.push((name, texts(layers.clone())));
        } else {
            println!("level {name} doesn't hold here: {:?}", level(&told.code(4).json())["failed"]);
        }
    }
    assert!(held.iter().any(|(name, _)| *name == "basic"));
    held
}

#[test]
fn a_layer_that_is_silently_left_out_is_missed() {
    let place = Place::new();
    for (name, layers) in held(&place) {
        for layer in &layers {
            // Nothing that is quick shows that nobody measures memory.
            let quick: &[&str] = if layer == "watchdog" { &[] } else { &["--quick"] };
            let words = [&["--json", "--level", name], quick].concat();
            let told = doctor(&place, &words, Some(&format!("silent:{layer}"))).code(4).json();
            let level = level(&told);
            assert_eq!(level["holds"], false, "{name} without {layer}");
            let mut failed = probes(level).iter().filter(|it| it["held"] == false);
            assert!(
                failed.any(|it| it["layer"] == layer.as_str()),
                "{name} without {layer}: {}",
                level["failed"]
            );
        }
    }
    place.assert_tidy();
}

#[test]
fn a_layer_that_the_system_does_not_have_is_named() {
    let place = Place::new();
    // The strongest has all of them.
    for (name, layers) in held(&place).into_iter().rev().take(1) {
        for layer in &layers {
            for mishap in ["missing", "killed"] {
                let words = ["--quick", "--json", "--level", name];
                let told =
                    doctor(&place, &words, Some(&format!("{mishap}:{layer}"))).code(4).json();
                let mut failed = probes(level(&told)).iter().filter(|it| it["held"] == false);
                assert!(
                    failed.any(|it| it["layer"] == layer.as_str() && it["attack"] == "start"),
                    "{name}, {mishap}:{layer}: {told}"
                );
            }
        }
    }
    place.assert_tidy();
}

#[test]
fn attacks_work_where_there_is_no_layer() {
    let place = Place::new();
    let mut proved = BTreeSet::new();
    let mut layers = BTreeSet::new();
    for (name, _) in held(&place) {
        let told = doctor(&place, &["--json", "--level", name], None).code(0).json();
        for probe in probes(level(&told)) {
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
    place.assert_tidy();
}

#[test]
fn a_machine_is_told_whole() {
    let place = Place::new();
    let ran = doctor(&place, &["--quick"], None).code(0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    for fact in ["level none\tholds", "level basic\tholds", "auto\t", "kernel\t", "cores\t"] {
        assert!(lines.iter().any(|line| line.starts_with(fact)), "{fact} in {}", ran.stdout);
    }
    assert!(lines.iter().all(|line| line.split('\t').count() == 3), "{}", ran.stdout);
    let told = doctor(&place, &["--quick", "--json"], None).code(0).json();
    let strongest = told["levels"].as_array().unwrap().iter().rfind(|level| level["holds"] == true);
    assert_eq!(told["auto"], strongest.unwrap()["level"]);
    assert!(!told["machine"]["kernel"].as_str().unwrap().is_empty());
    assert!(told["languages"].as_array().unwrap().len() > 5);
}

#[test]
fn what_is_no_level_and_no_mishap_is_refused() {
    let place = Place::new();
    doctor(&place, &["--level", "external"], None).code(2);
    for mishap in ["silent", "silent:", "quiet:landlock", "silent:landlubber"] {
        let ran = doctor(&place, &["--quick"], Some(mishap)).code(2);
        assert!(ran.stderr.contains("REFEREE_SANDBOX_MISHAP"), "{}", ran.stderr);
    }
}
