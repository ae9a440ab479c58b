//! `check`: tests an agent step by step, and explains what it does wrong.

mod probes;
mod judge;
mod report;

pub(super) use report::CheckReport;

use super::global::Global;
use super::presets::PresetOptions;
use super::sandbox::SandboxOptions;
use super::setup::{find_kind, read_pairs, unknown};
use super::shell::option;
use crate::cli::bars::{progress_bar, style};
use crate::cli::runtime::{machine, runtime};
use clap::Args;
use probes::{Probe, ProbeHistory, probes};
use referee_games::{GAMES, GameKind};
use referee_play::agent_spec::AgentSpec;
use referee_play::core_context::CoreContext;
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_play::trial::{self, TrialReport};
use referee_process::Failure;
use referee_process::sandbox::Sandbox;
use referee_process::sandbox::reach::SharedRules;
use referee_protocol::{ClockSettings, Limits};
use report::Report;
use serde_json::Value;
use std::io;
use std::process::ExitCode;
use tokio::task::LocalSet;

/// The time limit of a turn if no clock is given, so that an endless loop is reported soon.
const PATIENCE_MS: u64 = 10_000;

/// How often the control of a failed probe is tried.
const CONTROLS: usize = 4;

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
    let begin = |kinds: &[GameKind]| {
        let foreign = spec.as_ref().is_ok_and(AgentSpec::is_foreign);
        let chosen = options.choose(probes(kinds, &options.setup()?, foreign)?)?;
        let report = Report::new(options, global, spec.as_ref().ok(), kinds)?;
        report.begin()?;
        Ok::<_, Failure>((chosen, report))
    };
    let spec = match &spec {
        Ok(spec) => spec,
        Err(failure) => {
            let (chosen, mut report) = begin(&kinds)?;
            for probe in &chosen {
                report.take(probe, judge::unreadable(probe, failure))?;
            }
            return report.finish();
        }
    };
    let sandbox = options.sandbox.choose(global)?;
    let checked = async {
        let setup = options.probe_setup(spec, sandbox)?;
        let is_named = [&options.game, &options.probe, &spec.games].iter().any(|it| !it.is_empty());
        let kinds = if is_named { kinds } else { setup.played(kinds, global).await? };
        let (chosen, mut report) = begin(&kinds)?;
        let interrupted = options.run_probes(&setup, &chosen, &mut report, global).await?;
        interrupted.map_or_else(|| report.finish(), Ok)
    };
    LocalSet::new().block_on(&runtime()?, checked)
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

    /// Returns the arguments that give this setup.
    fn setup_args(&self) -> Vec<String> {
        self.setup.iter().flat_map(|pair| option("--setup", Some(pair))).collect()
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
    /// Returns the games of which it plays the first turn; all if it plays none.
    async fn played(
        &self,
        kinds: Vec<GameKind>,
        global: &Global,
    ) -> Result<Vec<GameKind>, Failure> {
        let (mut played, mut others) = (Vec::new(), Vec::new());
        for kind in &kinds {
            let first = Probe::first_turn(*kind);
            let trial = trial::run(&self.table, &first.trial_setup(self)).await;
            let trial = trial.map_err(machine(HALTED))?;
            let failed = self.judge(&first, &trial).map_err(machine(HALTED))?.failed();
            if failed { others.push(kind.name) } else { played.push(*kind) }
        }
        if played.is_empty() {
            global.note([format!(
                "it plays the first turn of no game; name its game with --game, or `games` in agent.toml, \
                 to check only that instead of {}",
                kinds[0].name
            )]);
            return Ok(kinds);
        }
        if !others.is_empty() {
            global.note([format!(
                "not checked, because it fails in the first turn: {}; name its games with --game, or \
                 `games` in agent.toml",
                others.join(", ")
            )]);
        }
        Ok(played)
    }

    /// Runs one probe; skips it if an essential one has failed.
    async fn run(
        &self,
        probe: &Probe,
        history: &mut ProbeHistory,
    ) -> io::Result<judge::ProbeOutcome> {
        if history.blocked {
            return Ok(judge::ProbeOutcome::Skipped);
        }
        let trial = match history.known(probe) {
            Some(trial) => trial.clone(),
            None => trial::run(&self.table, &probe.trial_setup(self)).await?,
        };
        let mut outcome = self.judge(probe, &trial)?;
        if outcome.failed()
            && let Some(control) = probe.control()
            && self.fails(&control).await?
        {
            outcome = self.judge(&control, &trial)?;
        }
        history.keep(probe, trial, outcome.failed());
        Ok(outcome)
    }

    fn judge(&self, probe: &Probe, trial: &TrialReport) -> io::Result<judge::ProbeOutcome> {
        let (layers, shared_rules) = (self.table.launcher.layers(), SharedRules::default());
        let denied = referee_play::reach::advice(self.spec, &shared_rules, layers, &trial.stderr);
        judge::judge(probe, self.spec, trial, &self.clock, denied.as_deref())
    }

    /// Whether a probe fails in one of several trials, since many agents choose actions at random.
    async fn fails(&self, control: &Probe) -> io::Result<bool> {
        for _ in 0..CONTROLS {
            let trial = trial::run(&self.table, &control.trial_setup(self)).await?;
            if self.judge(control, &trial)?.failed() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
