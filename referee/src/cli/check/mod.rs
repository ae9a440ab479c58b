//! `check`: tries an agent, probe by probe, and tells precisely what it does wrong.

mod probes;
mod judge;
mod report;

pub(super) use report::Told;

use super::Global;
use super::presets::PresetOptions;
use super::sandbox::SandboxOptions;
use super::setup::{find_kind, read_pairs};
use crate::cli::bars::progress_bar;
use crate::cli::runtime::{machine, runtime};
use clap::Args;
use indicatif::ProgressStyle;
use probes::{Probe, Tested, probes};
use referee_games::{GAMES, GameKind, nearest};
use referee_play::agent_spec::AgentSpec;
use referee_play::core_context::CoreContext;
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_play::trial;
use referee_process::Failure;
use referee_process::sandbox::Enclosure;
use referee_process::sandbox::reach::Ground;
use referee_protocol::{ClockSettings, Limits};
use report::Report;
use serde_json::Value;
use std::process::ExitCode;
use tokio::task::LocalSet;

/// The most that one turn may take, unless a clock is given: a student shouldn't wait a minute to be
/// told of an endless loop.
const PATIENCE_MS: u64 = 10_000;

const PRESET_HELP: &str = "Conditions by name, as in `play`; what an option says comes before them";

/// What an error of the machine means here.
const HALTED: &str = "the check can't go on";

/// Tries an agent probe by probe, in every game and seat that it says it plays, and tells what it
/// does wrong and how to mend it.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 all probes passed, 3 one failed, 2 usage, 4 the machine")]
#[command(mut_arg("preset", |it| it.help(PRESET_HELP)))]
pub(super) struct Options {
    /// The agent: a program file, a quoted command line, a folder with agent.toml, a built-in one
    agent: String,
    /// Only this game; may be given again [default: all that its agent.toml names, else all]
    #[arg(long, value_name = "GAME")]
    game: Vec<String>,
    /// The setup, where one game is checked: KEY=VALUE, as often as needed, or one JSON object
    #[arg(long, short = 's', value_name = "KEY=VALUE")]
    setup: Vec<String>,
    /// Only this probe; may be given again
    #[arg(long, value_name = "NAME")]
    probe: Vec<String>,
    /// The seed of all that is drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    preset: PresetOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// What all probes are made with.
struct Bench<'a> {
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
        return Err(Failure::usage("a person can't be checked"));
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
            let enclosure = options.sandbox.enclosure(global)?;
            let tried = async {
                let bench = options.bench(spec, enclosure)?;
                options.try_all(&bench, &chosen, &mut report, global).await
            };
            if let Some(code) = LocalSet::new().block_on(&runtime()?, tried)? {
                return Ok(code);
            }
        }
    }
    report.finish()
}

impl Options {
    /// The games that are asked for, else those that the agent says it plays, else all that are
    /// played in its protocol.
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
                    let text = format!("the agent.toml of {} says: {failure}", spec.name);
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
            return Err(
                Failure::usage("--setup is a setup of one game").help("name the game: --game GAME")
            );
        }
        Ok(setup)
    }

    /// The probes that are asked for, all unless some are.
    fn choose(&self, mut all: Vec<Probe>) -> Result<Vec<Probe>, Failure> {
        if self.probe.is_empty() {
            return Ok(all);
        }
        for name in &self.probe {
            if all.iter().all(|probe| &probe.name != name) {
                let names: Vec<&str> = all.iter().map(|probe| probe.name.as_str()).collect();
                let near = nearest(name, names.iter().copied());
                return Err(Failure::usage(format!("no probe `{name}`"))
                    .help(format!("the probes are {}", names.join(", ")))
                    .or_help(near.map(|near| format!("did you mean `{near}`?"))));
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

    /// Readies all that the probes are made with.
    fn bench<'a>(&self, spec: &'a AgentSpec, enclosure: Enclosure) -> Result<Bench<'a>, Failure> {
        Ok(Bench {
            table: CoreContext::alone(enclosure).map_err(machine(HALTED))?,
            spec,
            setup: self.setup()?,
            seed: self.seed,
            clock: self.clock()?,
            limits: self.preset.limits(),
        })
    }

    /// Makes the probes; the exit code of an interrupt, if one came.
    async fn try_all(
        &self,
        bench: &Bench<'_>,
        chosen: &[Probe],
        report: &mut Report<'_>,
        global: &Global,
    ) -> Result<Option<ExitCode>, Failure> {
        let mut interrupts = Interrupts::listen().map_err(machine(HALTED))?;
        let bar = progress_bar(chosen.len(), !global.quiet && !self.json);
        bar.set_style(bar_style());
        let mut tested = Tested::default();
        for probe in chosen {
            bar.set_message(probe.title.clone());
            bar.tick();
            let judged = tokio::select! {
                judged = bench.make(probe, &mut tested) => judged.map_err(machine(HALTED))?,
                () = interrupts.next() => {
                    bar.finish_and_clear();
                    let code = interrupts.received().map_or(130, Interrupt::code);
                    return Ok(Some(ExitCode::from(code)));
                }
            };
            bar.suspend(|| report.take(probe, judged))?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        report.told.deterministic = tested.deterministic();
        Ok(None)
    }
}

/// With what is tried now, as far as it fits.
fn bar_style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:20} {pos}/{len}  {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Bench<'_> {
    /// Makes one probe. Those that an earlier failure makes pointless are passed over.
    async fn make(
        &self,
        probe: &Probe,
        tested: &mut Tested,
    ) -> Result<judge::Judged, std::io::Error> {
        if tested.stuck {
            return Ok(judge::Judged::PassedOver);
        }
        let trial = match tested.known(probe) {
            Some(trial) => trial.clone(),
            None => trial::run(&self.table, &probe.scene(self)).await?,
        };
        let (layers, ground) = (self.table.launcher.layers(), Ground::default());
        let denied = referee_play::reach::advice(self.spec, &ground, layers, &trial.stderr);
        let judged = judge::judge(probe, self.spec, &trial, &self.clock, denied.as_deref())?;
        tested.keep(probe, trial, judged.failed());
        Ok(judged)
    }
}
