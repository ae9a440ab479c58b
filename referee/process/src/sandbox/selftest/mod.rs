//! The self-test: a layer is in force only if its attack failed.
//!
//! Canaries are started as agents are. One is in all layers at once, as agents will be. As a layer
//! may hide that another is missing, others have few layers or one, and try what only those stop.

mod canary_run;
mod plan;
mod targets;

use super::super::agent::Trouble;
use super::super::launcher::{Jail, Mishap};
use super::canary::Attack;
use crate::Failure;
use canary_run::Found;
use plan::Run;
use referee_protocol::plain::tame;
use referee_protocol::{Layer, Layers, Level};
use std::io;
use std::rc::Rc;
use targets::Range;

/// How much is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What the kernel refuses, in few canaries: some milliseconds, for the start of every match.
    Quick,
    /// Every attack on every layer, also what is measured and killed: some tenths of a second, for
    /// the start of a contest.
    Start,
    /// Each layer by itself, and each attack once more where there is no layer, to see that it works.
    Whole,
}

/// What became of the attacks on an enclosure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTest {
    /// The level that was tested.
    pub level: Level,
    /// What was tried, layer by layer.
    pub probes: Vec<Probe>,
    /// What the machine could not do to start a canary, the first time that it couldn't.
    pub trouble: Option<Trouble>,
}

/// One attack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The layer that was to stop it.
    pub layer: Layer,
    /// What was tried; `None`: to start at all.
    pub attack: Option<Attack>,
    /// Whether the layer stood without those that might have hidden that it is missing.
    pub alone: bool,
    /// It was stopped.
    pub held: bool,
    /// What the system said: the name of an error, `worked`, or what was seen.
    pub told: String,
    /// What it said to the same attack where there was no layer, if that was tried. Anything but
    /// `worked`: it can't be attacked here, and the probe proves nothing.
    pub without: Option<String>,
}

impl Probe {
    /// What was tried, in words.
    pub fn attack_name(&self) -> &'static str {
        self.attack.map_or("start", Attack::name)
    }

    /// Whether the attack is known to work where there is no layer, or was not tried there.
    pub fn is_proof(&self) -> bool {
        self.without.as_deref().is_none_or(|told| told == WORKED)
    }
}

/// What is told of an attack that nothing stopped.
const WORKED: &str = "worked";

impl SelfTest {
    /// Every attack was stopped.
    pub fn holds(&self) -> bool {
        self.first_failure().is_none()
    }

    /// The attack to blame where one was not: one on a layer that stood alone, if there is one, for
    /// among all of them one that is missing may make others look bad.
    pub fn first_failure(&self) -> Option<&Probe> {
        let mut failures = self.probes.iter().filter(|probe| !probe.held);
        failures.clone().find(|probe| probe.alone).or_else(|| failures.next())
    }
}

/// Attacks an enclosure. An error is the machine's, and has nothing to do with the enclosure; what
/// can't be put up is told in the result.
pub fn attack(level: Level, jail: &Jail, depth: Depth) -> io::Result<SelfTest> {
    let mut test = SelfTest { level, probes: Vec::new(), trouble: None };
    let runs = plan::runs(jail.layers, depth);
    if runs.is_empty() {
        return Ok(test);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = runtime.block_on(all(runs, jail))?;
    let (controls, tests): (Vec<_>, Vec<_>) = found.into_iter().partition(|(run, _)| run.control);
    let stood = tests.iter().filter(|(_, found)| found.started);
    let stood = stood.fold(Layers::default(), |all, (run, _)| all.union(run.layers));
    for (run, found) in tests {
        test.trouble = test.trouble.or(found.trouble);
        test.probes.extend(probes(&run, &found, jail, stood));
    }
    for probe in &mut test.probes {
        let same =
            |found: &&(Run, Found)| found.0.attacks.iter().any(|&it| Some(it) == probe.attack);
        let control = controls.iter().find(same);
        probe.without = control.zip(probe.attack).map(|((_, found), attack)| found.of(attack).1);
    }
    test.probes.sort_by_key(|probe| (probe.layer, probe.attack, !probe.alone));
    Ok(test)
}

/// The variable that has something go wrong on purpose.
const MISHAP_VARIABLE: &str = "REFEREE_SANDBOX_MISHAP";

/// What is to go wrong, for tests of the tests: `silent:LAYER`, `missing:LAYER` or `killed:LAYER`.
pub fn mishap_from_environment() -> Result<Option<Mishap>, Failure> {
    let Some(text) = std::env::var_os(MISHAP_VARIABLE) else { return Ok(None) };
    let text = text.to_string_lossy();
    let known = text.split_once(':').and_then(|(kind, layer)| {
        let layer = layer.parse().ok()?;
        match kind {
            "silent" => Some(Mishap::Silent(layer)),
            "missing" => Some(Mishap::Missing(layer)),
            "killed" => Some(Mishap::Killed(layer)),
            _ => None,
        }
    });
    known.map(Some).ok_or_else(|| {
        let layers: Vec<&str> = Layer::ALL.iter().copied().map(Layer::name).collect();
        Failure::usage(format!("{MISHAP_VARIABLE} is `{}`", tame(&text))).help(format!(
            "it is for tests: silent:LAYER, missing:LAYER or killed:LAYER, with LAYER one of {}",
            layers.join(", ")
        ))
    })
}

/// All canaries, at once.
async fn all(runs: Vec<Run>, jail: &Jail) -> io::Result<Vec<(Run, Found)>> {
    let range = Rc::new(Range::prepare()?);
    let local = tokio::task::LocalSet::new();
    let tasks: Vec<_> = runs
        .into_iter()
        .map(|run| {
            let (range, jail) = (Rc::clone(&range), Jail { layers: run.layers, ..jail.clone() });
            local.spawn_local(async move {
                let found = canary_run::run(&range, &jail, &run).await;
                (run, found)
            })
        })
        .collect();
    local
        .run_until(async {
            let mut all = Vec::new();
            for task in tasks {
                let (run, found) = task.await.map_err(io::Error::other)?;
                all.push((run, found?));
            }
            Ok(all)
        })
        .await
}

/// What a canary found, as probes of the layers that were to stop it; `stood`: those in which any
/// canary has run.
fn probes(run: &Run, found: &Found, jail: &Jail, stood: Layers) -> Vec<Probe> {
    let alone = run.layers != jail.layers;
    if !found.started {
        let told = found.end_told();
        // Where nobody has said which, it is hardly one that others could be started in.
        let new = run.tested.minus(stood);
        let guilty = match found.layer() {
            Some(layer) => Layers::of(&[layer]),
            None if new == Layers::default() => run.tested,
            None => new,
        };
        let probe = |layer| Probe {
            layer,
            attack: None,
            alone,
            held: false,
            told: told.clone(),
            without: None,
        };
        return guilty.iter().map(probe).collect();
    }
    let of = |&attack: &Attack| {
        let layer = run.tested.iter().find(|&layer| attack.layers().has(layer))?;
        let (held, told) = found.of(attack);
        Some(Probe { layer, attack: Some(attack), alone, held, told, without: None })
    };
    run.attacks.iter().filter_map(of).collect()
}
