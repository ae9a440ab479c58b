//! The self-test: a layer counts only if its attacks failed.
//!
//! Attackers are started like agents. One has all layers, as agents will. Since a layer may hide
//! that another is missing, others have only a few layers or one, and try what only those stop.

mod attacker_run;
mod plan;
mod targets;

use super::super::launcher::LauncherConfig;
use super::attacker::Attack;
use super::probes::{Depth, Probe, SelfTest};
use crate::sandbox::Layers;
use attacker_run::AttackerReport;
use plan::Run;
use referee_protocol::Level;
use std::io;
use std::rc::Rc;
use targets::TestTargets;
use tokio::task::LocalSet;

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
