//! Checking an agent, probe by probe. A probe is a trial, which is a part of a match between the agent and
//! stand-ins, and the judgement of what the agent did in it. Prints nothing.

mod judge;
mod probes;
mod report;
mod trial;
mod trial_run;

pub use judge::{ProbeFailure, ProbeOutcome, unreadable};
pub use probes::{Probe, probes};
pub use report::{CheckReport, ProbeReport, Status};

use crate::agent_spec::AgentSpec;
use crate::core_context::CoreContext;
use crate::reach::advice;
use probes::ProbeHistory;
use referee_games::GameKind;
use referee_match::diagnosis::Defect;
use referee_process::sandbox::Sandbox;
use referee_process::sandbox::reach::SharedRules;
use referee_protocol::{ClockSettings, Limits};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use trial::TrialReport;

/// How often the control of a failed probe is tried.
const CONTROLS: usize = 4;

/// The conditions of a game's probes.
#[derive(Clone, Debug)]
pub struct ProbeConditions {
    /// The clock.
    pub clock: ClockSettings,
    /// The agent's limits.
    pub limits: Limits,
}

/// The check of one agent.
#[derive(Debug)]
pub struct Check<'a> {
    core: CoreContext,
    spec: &'a AgentSpec,
    seed: u64,
    /// By the name of the game.
    conditions: BTreeMap<&'static str, ProbeConditions>,
    history: ProbeHistory,
}

impl<'a> Check<'a> {
    /// Begins a check, where local tasks can be spawned, with the conditions of each game that is probed.
    pub fn begin(
        sandbox: Sandbox,
        spec: &'a AgentSpec,
        seed: u64,
        conditions: impl IntoIterator<Item = (GameKind, ProbeConditions)>,
    ) -> io::Result<Self> {
        let core = CoreContext::alone(sandbox)?;
        let conditions: Vec<_> = conditions.into_iter().collect();
        let history = ProbeHistory::begin(conditions.iter().map(|(kind, _)| *kind));
        let conditions = conditions.into_iter().map(|(kind, own)| (kind.name, own)).collect();
        Ok(Self { core, spec, seed, conditions, history })
    }

    /// Splits games into those of which the agent plays the first turn, and the others.
    pub async fn played(
        &self,
        kinds: &[GameKind],
        setup: &Value,
    ) -> io::Result<(Vec<GameKind>, Vec<GameKind>)> {
        let (mut played, mut others) = (Vec::new(), Vec::new());
        for kind in kinds {
            let failed = self.fails(&Probe::first_turn(*kind, setup)).await?;
            if failed { others.push(*kind) } else { played.push(*kind) }
        }
        Ok((played, others))
    }

    /// Runs one probe; skips it if an essential one has failed. Errors are the machine's.
    pub async fn run(&mut self, probe: &Probe) -> io::Result<ProbeOutcome> {
        match self.try_run(probe).await {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Ok(ProbeOutcome::Unjudged),
            outcome => outcome,
        }
    }

    async fn try_run(&mut self, probe: &Probe) -> io::Result<ProbeOutcome> {
        if self.history.blocked {
            return Ok(ProbeOutcome::Skipped);
        }
        if let Some(why) = probe.unknown_to_courses().filter(|_| self.spec.is_adapted()) {
            return Ok(ProbeOutcome::NotApplicable(why));
        }
        if let Some(condition) = probe.condition() {
            let trial = self.trial(&condition).await?;
            match self.judge(&condition, &trial)? {
                // It could do without the position, but not by crashing.
                ProbeOutcome::Failed(it) if it.defect == Defect::Crash => {
                    return Ok(ProbeOutcome::Failed(it));
                }
                ProbeOutcome::Failed(_) => {
                    return Ok(ProbeOutcome::NotApplicable(judge::NO_POSITIONS));
                }
                _ => {}
            }
        }
        let trial = match self.history.known(probe) {
            Some(trial) => trial.clone(),
            None => self.trial(probe).await?,
        };
        let mut outcome = self.judge(probe, &trial)?;
        if outcome.failed()
            && let Some(control) = probe.control()
            && self.fails_in_one_of_several(&control).await?
        {
            outcome = self.judge(&control, &trial)?;
        }
        self.history.keep(probe, trial, &outcome);
        Ok(outcome)
    }

    /// Whether the same seed gave the same actions; `None` if not known.
    pub fn is_deterministic(&self) -> Option<bool> {
        self.history.deterministic()
    }

    fn conditions(&self, kind: GameKind) -> &ProbeConditions {
        self.conditions.get(kind.name).expect("a check has the conditions of its games")
    }

    async fn trial(&self, probe: &Probe) -> io::Result<TrialReport> {
        Box::pin(trial::run(&self.core, &probe.trial(self))).await
    }

    fn judge(&self, probe: &Probe, trial: &TrialReport) -> io::Result<ProbeOutcome> {
        let (layers, shared_rules) = (self.core.launcher.layers(), SharedRules::default());
        let denied = advice(self.spec, &shared_rules, layers, &trial.stderr);
        let clock = &self.conditions(probe.kind).clock;
        judge::judge(probe, self.spec, trial, clock, denied.as_deref(), &self.history.illegal)
    }

    /// Whether a probe fails in one of several trials, since many agents choose actions at random.
    async fn fails_in_one_of_several(&self, control: &Probe) -> io::Result<bool> {
        for _ in 0..CONTROLS {
            if self.fails(control).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn fails(&self, probe: &Probe) -> io::Result<bool> {
        let trial = self.trial(probe).await?;
        Ok(self.judge(probe, &trial)?.failed())
    }
}
