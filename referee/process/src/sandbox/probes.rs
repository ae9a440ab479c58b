//! The results of attacking a sandbox, and the failures that tests inject into it.

use super::attacker::Attack;
use crate::Failure;
use crate::agent::StartFailure;
use crate::launcher::InjectedFailure;
use crate::sandbox::Layer;
use referee_protocol::Level;
use referee_protocol::sanitize::sanitize;

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
pub(super) const WORKED: &str = "worked";

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
