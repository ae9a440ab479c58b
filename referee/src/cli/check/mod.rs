//! `check`: tests an agent step by step, and explains what it does wrong.

mod class;
mod junit;
mod annotations;
mod report;
mod feedback;
mod contest;

pub(super) use contest::{ContestCheck, ContestOptions, run_contest, write_feedback};

use super::building::build;
use super::given::Given;
use super::global::Global;
use super::presets::{MatchOptions, Preset};
use super::sandbox::SandboxOptions;
use super::setup::{find_kind, read_pairs, setup_failure, unknown};
use super::shell::option;
use crate::cli::bars::{progress_bar, style};
use crate::cli::output::print_commands;
use crate::cli::runtime::{machine, runtime};
use annotations::annotations;
use clap::{Args, ValueEnum};
use class::Class;
use junit::junit;
use referee_contest::presets::find;
use referee_games::{GAMES, GameKind};
use referee_play::adapted::CourseGame;
use referee_play::agent_spec::{AgentSpec, MANIFEST_BYTES_MAX};
use referee_play::check::{
    Check, CheckReport, Probe, ProbeConditions, ProbeOutcome, probes, unreadable,
};
use referee_play::echo::expect_commands;
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_process::Failure;
use referee_process::files::read_regular;
use report::Report;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::task::LocalSet;

/// The time limit of a turn if no clock is given, so that an endless loop is reported soon.
const PATIENCE_MS: u64 = 10_000;

const PRESET_HELP: &str = "Clock, limits and fault handling of a course, as in `play`; other options override parts of it. Defaults to the course's for comp30024: and comp34111: agents, unless a clock is given";

/// The beginning of the error if the machine fails.
const HALTED: &str = "cannot continue the check";

/// Check an agent step by step
///
/// Tests the agent in every game and seat that it plays, and explains each failure and how to fix it.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 all probes passed, 2 usage error, 3 a probe failed, 4 machine \
    failure\n\nExamples:\n  \
    referee check ./mybot\n  \
    referee check 'python3 bot.py' --game hex --probe first-turn\n  \
    referee check comp30024:{} --submissions class --game freckers --junit class.xml"
)]
#[command(mut_arg("preset", |it| it.help(PRESET_HELP)))]
pub(super) struct Options {
    #[command(flatten)]
    given: Given,
    /// Agent: a program file, a quoted command line, a folder with agent.toml, or a built-in agent. A folder
    /// of such folders: all agents in it, one line each
    agent: String,
    /// Check all submissions in this folder, one line each; AGENT has {} for their path, as in
    /// `comp30024:{}`
    #[arg(long, value_name = "DIR")]
    submissions: Option<PathBuf>,
    /// Game to check (repeatable). Defaults to the games in its agent.toml, else all
    #[arg(long, short, value_name = "GAME")]
    game: Vec<String>,
    /// Game setup, for a single game: KEY=VALUE (repeatable) or a JSON object. Defaults to the course's
    /// for comp34111: agents, else to the game's usual setup
    #[arg(long, short = 's', value_name = "KEY=VALUE")]
    setup: Vec<String>,
    /// Probe to run (repeatable). Defaults to all
    #[arg(long, value_name = "NAME")]
    probe: Vec<String>,
    /// Stop at the first probe that fails
    #[arg(long)]
    fail_fast: bool,
    /// Seed of all random choices, below 2^53
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run the `build` command of the agent's folder first, in the sandbox
    #[arg(long)]
    build: bool,
    /// Print one JSON object per agent
    #[arg(long)]
    json: bool,
    #[arg(long, value_name = "FILE")]
    #[arg(help = "Write the results to this file as JUnit XML, one suite per agent")]
    junit: Option<PathBuf>,
    /// Also print failures as annotations of a service, which shows them beside the code
    #[arg(long, value_enum, value_name = "SERVICE", conflicts_with = "json")]
    annotate: Option<Service>,
    // Last, since what follows would be under their headings.
    #[command(flatten)]
    of_match: MatchOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
}

/// A service that shows failures beside the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Service {
    /// Workflow commands of GitHub Actions
    Github,
}

/// What is printed while an agent is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// Its probes.
    Probes,
    /// Nothing: it is one of many.
    Nothing,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    if let Some(Service::Github) = options.annotate {
        expect_commands();
    }
    if let Some(class) = Class::of(options)? {
        if options.build {
            return Err(Failure::usage("--build is for a single agent")
                .help("`referee contest check contest.toml` builds all agents of a contest"));
        }
        return class.check(options, global);
    }
    if options.build {
        let agent = std::slice::from_ref(&options.agent);
        build(agent, || options.sandbox.tested(), 1, global)?;
    }
    let spec = AgentSpec::read(&options.agent);
    let (report, interrupted) =
        options.check(&options.agent, spec, (Shown::Probes, &[]), global)?;
    if let Some(code) = interrupted {
        return Ok(code);
    }
    options.write_results(std::slice::from_ref(&report.output))?;
    report.finish()
}

impl Options {
    /// Checks an agent, whose text on the command line is `agent`, and which may not read `others`. Returns the exit code
    /// of an interrupt, if one came.
    fn check<'a>(
        &'a self,
        agent: &str,
        mut spec: Result<AgentSpec, Failure>,
        (shown, others): (Shown, &[PathBuf]),
        global: &Global,
    ) -> Result<(Report<'a>, Option<ExitCode>), Failure> {
        if let (Ok(spec), true) = (&mut spec, self.of_match.strict) {
            spec.be_strict();
        }
        let known = spec.as_ref().ok();
        if known.is_some_and(|spec| spec.launch.is_none()) {
            return Err(Failure::usage("@human is a person; only programs can be checked"));
        }
        let adapted = known.is_some_and(AgentSpec::is_adapted);
        let claimed = known.map_or_else(|| games_named(agent), |spec| spec.games.clone());
        let kinds = self.kinds(known, &claimed)?;
        let begin = |kinds: &[GameKind]| {
            let foreign = known.is_some_and(AgentSpec::is_foreign);
            // Without its agent.toml an agent's only game may be unknown.
            let is_unknown = known.is_none() && kinds.len() > 1;
            let setup = if is_unknown { json!({}) } else { self.setup(adapted, kinds)? };
            let all = probes(kinds, &setup, foreign).map_err(|error| setup_failure(&error))?;
            let chosen = self.choose(all)?;
            let report = Report::new(self, agent, (shown, global), known, kinds)?;
            report.begin()?;
            Ok::<_, Failure>((chosen, report))
        };
        let spec = match &spec {
            Ok(spec) => spec,
            Err(failure) => {
                let (chosen, mut report) = begin(&kinds)?;
                for (place, probe) in chosen.iter().enumerate() {
                    let first = (place == 0).then(|| unreadable(failure));
                    report.take(probe, first.unwrap_or(ProbeOutcome::Skipped))?;
                }
                return Ok((report, None));
            }
        };
        let sandbox = self.sandbox.choose(global)?.forbidding(others.to_vec());
        let checked = async {
            // A mistake in them is found before the first probe.
            let conditions = |&kind| Ok((kind, self.conditions(adapted, kind)?));
            let conditions: Vec<_> =
                kinds.iter().map(conditions).collect::<Result<_, Failure>>()?;
            let check = Check::begin(sandbox, spec, self.seed, conditions);
            let mut check = check.map_err(machine(HALTED))?;
            // A package of the course is for one of its games; which one shows when it plays.
            let named = [&self.game, &self.probe, &spec.games];
            let named = &named[..named.len() - usize::from(adapted)];
            let is_named = named.iter().any(|it| !it.is_empty());
            let kinds = if is_named {
                kinds
            } else {
                let given = self.setup(adapted, &kinds)?;
                let played = Box::pin(check.played(&kinds, &given)).await;
                played_only(kinds, played.map_err(machine(HALTED))?, global)
            };
            let (chosen, mut report) = begin(&kinds)?;
            let probes = Box::pin(self.run_probes(&mut check, &chosen, &mut report, global));
            let interrupted = probes.await?;
            Ok((report, interrupted))
        };
        LocalSet::new().block_on(&runtime()?, checked)
    }

    /// Writes the results to the file of --junit and prints them as --annotate says, if these are given.
    fn write_results(&self, reports: &[CheckReport]) -> Result<(), Failure> {
        if let Some(Service::Github) = self.annotate {
            let repository = std::env::var_os("GITHUB_WORKSPACE")
                .map_or_else(|| std::env::current_dir().unwrap_or_default(), PathBuf::from);
            print_commands(&annotations(reports, &repository))?;
        }
        let Some(path) = &self.junit else { return Ok(()) };
        std::fs::write(path, junit(reports, |probe, _| probe.again.clone()))
            .map_err(|error| Failure::operation(format!("--junit {}: {error}", path.display())))
    }

    /// Returns the games given, else those `claimed` in agent.toml, else all that its protocol supports.
    fn kinds(
        &self,
        spec: Option<&AgentSpec>,
        claimed: &[String],
    ) -> Result<Vec<GameKind>, Failure> {
        let names = if self.game.is_empty() { claimed } else { &self.game[..] };
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

    /// Returns the setup of the only game: that given, else the course's for its packages.
    fn setup(&self, adapted: bool, kinds: &[GameKind]) -> Result<Value, Failure> {
        if !self.setup.is_empty() && kinds.len() != 1 {
            return Err(Failure::usage("--setup needs a single game").help("add --game GAME"));
        }
        let implied = match kinds {
            [kind] => self.implied_setup(adapted, *kind),
            _ => Vec::new(),
        };
        read_pairs("--setup", if implied.is_empty() { &self.setup } else { &implied })
    }

    /// Returns the course's setup for its packages, as values of --setup; none if a setup is given.
    fn implied_setup(&self, adapted: bool, kind: GameKind) -> Vec<String> {
        let course = CourseGame::of(kind.name).filter(|_| adapted && self.setup.is_empty());
        let setup = course.and_then(|course| course.setup).unwrap_or_default();
        setup.split_whitespace().map(str::to_owned).collect()
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

    /// Returns the preset given, else the course's for its packages, unless a clock is given.
    fn preset(&self, adapted: bool, kind: GameKind) -> Option<&'static Preset> {
        let is_given = self.of_match.preset.is_some() || self.of_match.clock.is_explicit();
        let course = CourseGame::of(kind.name).filter(|_| adapted && !is_given);
        let courses = || course.and_then(|course| find(course.preset));
        self.of_match.preset.or_else(courses)
    }

    fn conditions(&self, adapted: bool, kind: GameKind) -> Result<ProbeConditions, Failure> {
        let preset = self.preset(adapted, kind);
        let mut clock = self.of_match.clock.settings(preset, false)?;
        if !self.of_match.clock.is_given() && preset.is_none() {
            clock.move_ms = Some(PATIENCE_MS);
        }
        let limits = self.of_match.limits(preset)?;
        Ok(ProbeConditions { clock, limits })
    }

    /// Returns the arguments that give the preset, the clock and the setup of a game where nothing given does.
    fn implied_args(&self, adapted: bool, kind: GameKind) -> impl Iterator<Item = String> {
        let preset = self.preset(adapted, kind);
        let clock = self.of_match.clock.implied(preset, false);
        let preset = preset.filter(|_| !self.given.has("preset"));
        let setup = self
            .implied_setup(adapted, kind)
            .into_iter()
            .flat_map(|pair| ["--setup".to_owned(), pair]);
        option("--preset", preset.map(|preset| preset.name))
            .chain(option("--clock", clock))
            .chain(setup)
    }

    /// Runs the probes. Returns the exit code of an interrupt, if one came.
    async fn run_probes(
        &self,
        check: &mut Check<'_>,
        chosen: &[Probe],
        report: &mut Report<'_>,
        global: &Global,
    ) -> Result<Option<ExitCode>, Failure> {
        let mut interrupts = Interrupts::listen().map_err(machine(HALTED))?;
        let bar = progress_bar(chosen.len(), report.is_shown());
        bar.set_style(style("{bar:20} {pos}/{len}  {wide_msg}"));
        let mut unjudged = Vec::new();
        for probe in chosen {
            bar.set_message(probe.title.clone());
            bar.tick();
            let outcome = tokio::select! {
                outcome = check.run(probe) => outcome.map_err(machine(HALTED))?,
                () = interrupts.next() => {
                    bar.finish_and_clear();
                    let code = interrupts.received().map_or(130, Interrupt::code);
                    return Ok(Some(ExitCode::from(code)));
                }
            };
            if matches!(outcome, ProbeOutcome::Unjudged) {
                unjudged.push(probe.name.as_str());
            }
            bar.suspend(|| report.take(probe, outcome))?;
            bar.inc(1);
            if self.fail_fast && !report.output.ok {
                break;
            }
        }
        bar.finish_and_clear();
        if !unjudged.is_empty() {
            let names = unjudged.join(", ");
            global.note([format!("not judged, because the machine was too busy: {names}")]);
        }
        report.output.deterministic = check.is_deterministic();
        Ok(None)
    }
}

/// Returns the games that the agent.toml of an agent names, as far as it can be read.
fn games_named(agent: &str) -> Vec<String> {
    let manifest = Path::new(agent).join("agent.toml");
    let bytes = read_regular(&manifest, MANIFEST_BYTES_MAX).unwrap_or_default();
    let table: toml::Table = String::from_utf8_lossy(&bytes).parse().unwrap_or_default();
    let games = table.get("games").and_then(toml::Value::as_array);
    let names = games.into_iter().flatten().filter_map(toml::Value::as_str);
    names.filter(|name| referee_games::kind(name).is_some()).map(str::to_owned).collect()
}

/// Returns the games to check: those of which it plays the first turn; all if it plays none.
fn played_only(
    all: Vec<GameKind>,
    (played, others): (Vec<GameKind>, Vec<GameKind>),
    global: &Global,
) -> Vec<GameKind> {
    if played.is_empty() {
        global.note([format!(
            "it plays the first turn of no game; name its game with --game, or `games` in agent.toml, \
             to check only that instead of {}",
            all[0].name
        )]);
        return all;
    }
    if !others.is_empty() {
        let others: Vec<&str> = others.iter().map(|kind| kind.name).collect();
        global.note([format!(
            "not checked, because it fails in the first turn: {}; name its games with --game, or \
             `games` in agent.toml",
            others.join(", ")
        )]);
    }
    played
}
