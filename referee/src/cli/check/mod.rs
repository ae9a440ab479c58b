//! `check`: tests an agent step by step, and explains what it does wrong.

mod probes;
mod judge;
mod report;

pub(super) use report::CheckReport;

use super::global::Global;
use super::presets::PresetOptions;
use super::sandbox::SandboxOptions;
use super::setup::{find_kind, read_pairs, unknown};
use crate::cli::bars::{progress_bar, style};
use crate::cli::runtime::{machine, runtime};
use clap::Args;
use probes::{Probe, ProbeHistory, probes};
use referee_games::{GAMES, GameKind};
use referee_play::agent_spec::AgentSpec;
use referee_play::core_context::CoreContext;
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_play::trial;
use referee_process::Failure;
use referee_process::sandbox::Sandbox;
use referee_process::sandbox::reach::SharedRules;
use referee_protocol::{ClockSettings, Limits};
use report::Report;
use serde_json::Value;
use std::process::ExitCode;
use tokio::task::LocalSet;

/// The time limit of a turn if no clock is given, so that an endless loop is reported soon.
const PATIENCE_MS: u64 = 10_000;

const PRESET_HELP: &str = "Clock, limits and fault handling of a course, as in `play`; other options override parts of it";

/// The begin of the error if the machine fails.
const HALTED: &str = "cannot continue the check";

/// Check an agent step by step
///
/// Tests the agent in every game and seat that it plays, and explains each failure and how to fix it.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 all probes passed, 2 usage error, 3 a probe failed, 4 machine \
    failure\n\nExamples:\n  \
    referee check ./mybot\n  \
    referee check 'python3 bot.py' --game hex --probe first-turn"
)]
#[command(mut_arg("preset", |it| it.help(PRESET_HELP)))]
pub(super) struct Options {
    /// Agent: a program file, a quoted command line, a folder with agent.toml, or a built-in agent
    agent: String,
    /// Game to check (repeatable). Defaults to the games in its agent.toml, else all
    #[arg(long, value_name = "GAME")]
    game: Vec<String>,
    /// Game setup, with a single --game: KEY=VALUE (repeatable) or a JSON object. Defaults to the game's
    /// usual setup
    #[arg(long, short = 's', value_name = "KEY=VALUE")]
    setup: Vec<String>,
    /// Probe to run (repeatable). Defaults to all
    #[arg(long, value_name = "NAME")]
    probe: Vec<String>,
    /// Seed of all random choices, below 2^53
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    preset: PresetOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What all probes have in common.
struct ProbeSetup<'a> {
    table: CoreContext,
    spec: &'a AgentSpec,
    setup: Value,
    seed: u64,
    clock: ClockSettings,
    limits: Limits,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let spec = AgentSpec::read(&options.agent);
    if spec.as_ref().is_ok_and(|spec| spec.launch.is_none()) {
        return Err(Failure::usage("@human is a person; only programs can be checked"));
    }
    let kinds = options.kinds(spec.as_ref().ok())?;
    let foreign = spec.as_ref().is_ok_and(AgentSpec::is_foreign);
    let chosen = options.choose(probes(&kinds, &options.setup()?, foreign)?)?;
    let mut report = Report::new(options, global, spec.as_ref().ok(), &kinds);
    report.begin()?;
    match &spec {
        Err(failure) => {
            for probe in &chosen {
                report.take(probe, judge::unreadable(probe, failure))?;
            }
        }
        Ok(spec) => {
            let sandbox = options.sandbox.choose(global)?;
            let checked = async {
                let setup = options.probe_setup(spec, sandbox)?;
                options.run_probes(&setup, &chosen, &mut report, global).await
            };
            if let Some(code) = LocalSet::new().block_on(&runtime()?, checked)? {
                return Ok(code);
            }
        }
    }
    report.finish()
}

impl Options {
    /// Returns the games given, else those in agent.toml, else all that its protocol supports.
    fn kinds(&self, spec: Option<&AgentSpec>) -> Result<Vec<GameKind>, Failure> {
        let claimed = spec.map_or(&[][..], |spec| &spec.games);
        let names = if self.game.is_empty() { claimed } else { &self.game };
        let speaks = |kind: &GameKind| spec.is_none_or(|it| it.dialect(*kind).is_ok());
        if names.is_empty() {
            return Ok(GAMES.iter().copied().filter(speaks).collect());
        }
        let found = |name: &String| {
            find_kind(name).map_err(|failure| match spec {
                Some(spec) if self.game.is_empty() => {
                    let text = format!("agent.toml of {}: {failure}", spec.name);
                    Failure::usage(text).or_help(failure.help_text().map(str::to_owned))
                }
                _ => failure,
            })
        };
        let kinds: Vec<GameKind> = names.iter().map(found).collect::<Result<_, _>>()?;
        for kind in &kinds {
            if let Some(spec) = spec {
                spec.dialect(*kind).map_err(Failure::usage)?;
            }
        }
        Ok(kinds)
    }

    fn setup(&self) -> Result<Value, Failure> {
        let setup = read_pairs("--setup", &self.setup)?;
        if !self.setup.is_empty() && self.game.len() != 1 {
            return Err(Failure::usage("--setup needs a single game").help("add --game GAME"));
        }
        Ok(setup)
    }

    /// Returns the probes given, else all.
    fn choose(&self, mut all: Vec<Probe>) -> Result<Vec<Probe>, Failure> {
        if self.probe.is_empty() {
            return Ok(all);
        }
        for name in &self.probe {
            if all.iter().all(|probe| &probe.name != name) {
                let known = all.iter().map(|probe| probe.name.as_str());
                return Err(unknown("probe", name, known));
            }
        }
        all.retain(|probe| self.probe.contains(&probe.name));
        Ok(all)
    }

    fn clock(&self) -> Result<ClockSettings, Failure> {
        let mut clock = self.preset.clock(false)?;
        if !self.preset.clock.is_given() && self.preset.preset.is_none() {
            clock.move_ms = Some(PATIENCE_MS);
        }
        Ok(clock)
    }

    fn probe_setup<'a>(
        &self,
        spec: &'a AgentSpec,
        sandbox: Sandbox,
    ) -> Result<ProbeSetup<'a>, Failure> {
        Ok(ProbeSetup {
            table: CoreContext::alone(sandbox).map_err(machine(HALTED))?,
            spec,
            setup: self.setup()?,
            seed: self.seed,
            clock: self.clock()?,
            limits: self.preset.limits(),
        })
    }

    /// Runs the probes. Returns the exit code of an interrupt, if one came.
    async fn run_probes(
        &self,
        setup: &ProbeSetup<'_>,
        chosen: &[Probe],
        report: &mut Report<'_>,
        global: &Global,
    ) -> Result<Option<ExitCode>, Failure> {
        let mut interrupts = Interrupts::listen().map_err(machine(HALTED))?;
        let bar = progress_bar(chosen.len(), !global.quiet && !self.json);
        bar.set_style(style("{bar:20} {pos}/{len}  {wide_msg}"));
        let mut history = ProbeHistory::default();
        for probe in chosen {
            bar.set_message(probe.title.clone());
            bar.tick();
            let outcome = tokio::select! {
                outcome = setup.run(probe, &mut history) => outcome.map_err(machine(HALTED))?,
                () = interrupts.next() => {
                    bar.finish_and_clear();
                    let code = interrupts.received().map_or(130, Interrupt::code);
                    return Ok(Some(ExitCode::from(code)));
                }
            };
            bar.suspend(|| report.take(probe, outcome))?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        report.output.deterministic = history.deterministic();
        Ok(None)
    }
}

impl ProbeSetup<'_> {
    /// Runs one probe; skips it if an essential one has failed.
    async fn run(
        &self,
        probe: &Probe,
        history: &mut ProbeHistory,
    ) -> Result<judge::ProbeOutcome, std::io::Error> {
        if history.blocked {
            return Ok(judge::ProbeOutcome::Skipped);
        }
        let trial = match history.known(probe) {
            Some(trial) => trial.clone(),
            None => trial::run(&self.table, &probe.trial_setup(self)).await?,
        };
        let (layers, shared_rules) = (self.table.launcher.layers(), SharedRules::default());
        let denied = referee_play::reach::advice(self.spec, &shared_rules, layers, &trial.stderr);
        let outcome = judge::judge(probe, self.spec, &trial, &self.clock, denied.as_deref())?;
        history.keep(probe, trial, outcome.failed());
        Ok(outcome)
    }
}
