//! The self-test: a layer counts only if its attacks failed.
//!
//! Attackers are started like agents. One has all layers, as agents will. Since a layer may hide
//! that another is missing, others have only a few layers or one, and try what only those stop.

mod attacker_run;
mod plan;
mod targets;

use super::super::agent::StartFailure;
use super::super::launcher::{InjectedFailure, LauncherConfig};
use super::attacker::Attack;
use crate::Failure;
use attacker_run::AttackerReport;
use plan::Run;
use referee_protocol::plain::sanitize;
use referee_protocol::{Layer, Layers, Level};
use std::io;
use std::rc::Rc;
use targets::TestTargets;
use tokio::task::LocalSet;

/// How much is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What the kernel refuses, with few attackers: a few milliseconds, before every match.
    Quick,
    /// Every attack on every layer, also those that are measured and killed: some tenths of a
    /// second, before a contest.
    Start,
    /// Each layer alone, and each attack also without any layer, to check that it works.
    Whole,
}

/// The results of attacking a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTest {
    /// The level that was tested.
    pub level: Level,
    /// What was tried, layer by layer.
    pub probes: Vec<Probe>,
    /// The first failure to start an attacker.
    pub start_failure: Option<StartFailure>,
}

/// One attack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The layer that must stop it.
    pub layer: Layer,
    /// What was tried; `None`: starting the attacker.
    pub attack: Option<Attack>,
    /// Whether the layer was tested without others that could hide that it is missing.
    pub alone: bool,
    /// It was stopped.
    pub held: bool,
    /// The system's answer: the name of an error, `worked`, or an observation.
    pub answer: String,
    /// The answer to the same attack without any layer, if that was tried. Unless it is `worked`,
    /// the attack is impossible here and the probe proves nothing.
    pub without: Option<String>,
}

impl Probe {
    /// Returns what was tried, in words.
    pub fn attack_name(&self) -> &'static str {
        self.attack.map_or("start", Attack::name)
    }

    /// Whether the attack is known to work without layers, or was not tried there.
    pub fn is_proof(&self) -> bool {
        self.without.as_deref().is_none_or(|answer| answer == WORKED)
    }
}

/// The answer of an attack that nothing stopped.
const WORKED: &str = "worked";

impl SelfTest {
    /// Whether every attack was stopped.
    pub fn holds(&self) -> bool {
        self.first_failure().is_none()
    }

    /// Returns the attack to blame for a failure: preferably one on a layer alone, since with all
    /// of them a missing layer may make others look bad.
    pub fn first_failure(&self) -> Option<&Probe> {
        let mut failures = self.probes.iter().filter(|probe| !probe.held);
        failures.clone().find(|probe| probe.alone).or_else(|| failures.next())
    }
}

/// Attacks a sandbox. An error is the machine's; a layer that can't be applied is part of the
/// result.
pub fn attack(level: Level, config: &LauncherConfig, depth: Depth) -> io::Result<SelfTest> {
    let mut test = SelfTest { level, probes: Vec::new(), start_failure: None };
    let runs = plan::runs(config.layers, depth);
    if runs.is_empty() {
        return Ok(test);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = LocalSet::new().block_on(&runtime, all(runs, config))?;
    let (controls, tests): (Vec<_>, Vec<_>) = found.into_iter().partition(|(run, _)| run.control);
    let started_layers = tests.iter().filter(|(_, found)| found.started);
    let started_layers =
        started_layers.fold(Layers::default(), |all, (run, _)| all.union(run.layers));
    for (run, found) in tests {
        test.start_failure = test.start_failure.or(found.start_failure);
        test.probes.extend(probes(&run, &found, config, started_layers));
    }
    for probe in &mut test.probes {
        let Some(attack) = probe.attack else { continue };
        let control = controls.iter().find(|(run, _)| run.attacks.contains(&attack));
        probe.without = control.map(|(_, found)| found.of(attack).1);
    }
    test.probes.sort_by_key(|probe| (probe.layer, probe.attack, !probe.alone));
    Ok(test)
}

/// The environment variable that injects a failure.
const FAILURE_VARIABLE: &str = "REFEREE_SANDBOX_MISHAP";

/// Reads the failure to inject, for tests: `silent:LAYER`, `missing:LAYER` or `killed:LAYER`.
pub fn injected_failure() -> Result<Option<InjectedFailure>, Failure> {
    let Some(text) = std::env::var_os(FAILURE_VARIABLE) else { return Ok(None) };
    let text = text.to_string_lossy();
    let known = text.split_once(':').and_then(|(kind, layer)| {
        let layer = layer.parse().ok()?;
        match kind {
            "silent" => Some(InjectedFailure::Silent(layer)),
            "missing" => Some(InjectedFailure::Missing(layer)),
            "killed" => Some(InjectedFailure::Killed(layer)),
            _ => None,
        }
    });
    known.map(Some).ok_or_else(|| {
        let layers: Vec<&str> = Layer::ALL.iter().map(|layer| layer.name()).collect();
        Failure::usage(format!("invalid {FAILURE_VARIABLE}: `{}`", sanitize(&text))).help(format!(
            "this variable is for tests: use silent:LAYER, missing:LAYER or killed:LAYER, with LAYER \
             one of {}",
            layers.join(", ")
        ))
    })
}

/// Runs all attackers at once; results are in the order of the runs.
async fn all(runs: Vec<Run>, config: &LauncherConfig) -> io::Result<Vec<(Run, AttackerReport)>> {
    let targets_ready = Rc::new(TestTargets::prepare(attacker_run::limits())?);
    let mut tasks = Vec::new();
    for run in runs {
        let (targets_ready, config) =
            (Rc::clone(&targets_ready), LauncherConfig { layers: run.layers, ..config.clone() });
        tasks.push(tokio::task::spawn_local(async move {
            attacker_run::run(&targets_ready, &config, &run).await.map(|found| (run, found))
        }));
    }
    let mut all = Vec::new();
    for task in tasks {
        all.push(task.await.map_err(io::Error::other)??);
    }
    Ok(all)
}

/// Converts an attacker's results to probes of the layers that must stop it. `started_layers`:
/// those in which any attacker ran.
fn probes(
    run: &Run,
    found: &AttackerReport,
    config: &LauncherConfig,
    started_layers: Layers,
) -> Vec<Probe> {
    let alone = run.layers != config.layers;
    let probe =
        |layer, attack, (held, answer)| Probe { layer, attack, alone, held, answer, without: None };
    if !found.started {
        // If no layer is named, it is unlikely to be one in which others started.
        let new = run.layers_under_test.difference(started_layers);
        let guilty = match found.layer() {
            Some(layer) => Layers::of(&[layer]),
            None if new == Layers::default() => run.layers_under_test,
            None => new,
        };
        return guilty.iter().map(|layer| probe(layer, None, (false, found.end_text()))).collect();
    }
    let of = |&attack: &Attack| {
        let layer = run.layers_under_test.iter().find(|&layer| attack.layers().has(layer))?;
        Some(probe(layer, Some(attack), found.of(attack)))
    };
    run.attacks.iter().filter_map(of).collect()
}
