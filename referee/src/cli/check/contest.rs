//! `contest check`: checks every agent of a contest under its conditions, and writes a feedback file for each.

use super::class::{Checked, check_all};
use super::feedback::{for_author, markdown, without_places};
use super::junit::junit;
use super::{Options, Shown};
use crate::cli::bars::{advance, count_bar};
use crate::cli::file_names::file_names;
use crate::cli::global::Global;
use crate::cli::output::eprint_line;
use crate::cli::shell::{join, option};
use clap::{Args, Command, FromArgMatches};
use referee_contest::{Contest, ContestGame};
use referee_games::Games;
use referee_match::times::show_time;
use referee_play::agent_spec::AgentSpec;
use referee_play::check::{CheckReport, ProbeReport};
use referee_process::Failure;
use referee_protocol::{ClockKind, ClockSettings, Level, Limits};
use referee_runner::{Entrants, disk_failure, entrants};
use serde_json::to_value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Check every agent of a contest, one line each
///
/// Runs the probes of `check` with the games, clock, limits and sandbox of the contest. Writes what to fix
/// to NAME.md and NAME.xml, for the author of each agent. Agents of a contest file are built first.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 all probes passed, 2 usage error, 3 a probe failed, 4 machine \
    failure\n\nExamples:\n  \
    referee contest check contest.toml\n  \
    referee contest check contests/autumn --out feedback"
)]
pub(in crate::cli) struct ContestOptions {
    /// Contest file, or contest folder
    #[arg(value_name = "DIR")]
    path: PathBuf,
    /// Folder for the feedback files; older ones are replaced
    #[arg(long, short, value_name = "DIR", default_value = "feedback")]
    out: PathBuf,
    /// Probe to run (repeatable). Defaults to all
    #[arg(long, value_name = "NAME")]
    probe: Vec<String>,
    /// Print one JSON object per agent
    #[arg(long)]
    json: bool,
}

/// Checks all agents of a contest.
pub(in crate::cli) fn run_contest(
    options: &ContestOptions,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let bar = count_bar("building", !global.quiet);
    let found = entrants(&options.path, &|done, of| advance(&bar, done, of))?;
    bar.finish_and_clear();
    let Entrants { settings, found, base, games, notes, others } = found;
    global.note(notes);
    std::fs::create_dir_all(&options.out).map_err(|error| disk_failure(&options.out, &error))?;
    let checks = ContestCheck::new(&settings, &games, &base, &options.probe, others);
    let check = |agent: &str, spec| checks.check(agent, &spec, global);
    let code = check_all(found, options.json, check, |reports| {
        write(reports, &options.out, &checks.programs)
    })?;
    if !global.quiet {
        eprint_line(&format!("feedback: {}", options.out.display()));
    }
    Ok(code)
}

/// The check of agents under the conditions of a contest.
pub(in crate::cli) struct ContestCheck {
    /// The options of `check` in each game.
    words: Vec<Vec<String>>,
    /// The folder that paths of agents are relative to.
    base: PathBuf,
    /// What no agent may read but its own files.
    others: Vec<PathBuf>,
    /// The folder of each game that is a program, and its name, by which authors of agents know it.
    pub(in crate::cli) programs: Vec<(String, String)>,
}

impl ContestCheck {
    /// Returns the check with these probes, else all, of agents that may not read `others`. The contest's paths are relative to `base`.
    pub(in crate::cli) fn new(
        contest: &Contest,
        games: &Games,
        base: &Path,
        probes: &[String],
        others: Vec<PathBuf>,
    ) -> Self {
        let probes = probes.iter().flat_map(|probe| option("--probe", Some(probe)));
        let probes: Vec<String> = probes.collect();
        let (mut words, mut programs) = (Vec::new(), Vec::new());
        for game in &contest.games {
            let program = game.kind(games).ok().and_then(|kind| kind.program());
            let place = program.map(|program| program.folder().display().to_string());
            let named = place.as_ref().unwrap_or(&game.game);
            words.push([conditions(contest, game, named, base), probes.clone()].concat());
            programs.extend(place.map(|place| (place, game.game.clone())));
        }
        Self { words, base: base.to_owned(), others, programs }
    }

    /// Checks an agent in all games.
    pub(in crate::cli) fn check(
        &self,
        agent: &str,
        spec: &Result<AgentSpec, Failure>,
        global: &Global,
    ) -> Result<Checked, Failure> {
        // A contest has built it; its author has to.
        let unbuilt = AgentSpec::read_unbuilt(agent, &self.base);
        let has_failed = |failure: &Failure| failure.to_string().contains("` failed: ");
        let is_built =
            unbuilt.is_ok_and(|own| own.build.is_some()) || spec.as_ref().is_err_and(has_failed);
        let build = is_built.then(|| "--build".to_owned());
        let check_in = |words: &[String]| {
            let agent_words = build.clone().into_iter().chain(["--".to_owned(), agent.to_owned()]);
            let options = parsed(words.iter().cloned().chain(agent_words))?;
            let (report, interrupted) =
                options.check(agent, spec.clone(), (Shown::Nothing, &self.others), global)?;
            Ok::<_, Failure>((report.output, interrupted))
        };
        let (mut report, mut interrupted) = check_in(&self.words[0])?;
        for words in &self.words[1..] {
            if interrupted.is_none() {
                let (more, code) = check_in(words)?;
                report.append(more);
                interrupted = code;
            }
        }
        Ok((report, interrupted))
    }
}

/// Reads the options of `check`.
fn parsed(words: impl Iterator<Item = String>) -> Result<Options, Failure> {
    let command = Options::augment_args(Command::new("check").no_binary_name(true));
    let matches = command.try_get_matches_from(words);
    matches
        .and_then(|matches| Options::from_arg_matches(&matches))
        .map_err(|error| Failure::operation(format!("the contest's conditions: {error}")))
}

/// Returns the options of `check` with a contest's conditions in one of its games, which is found by `named`.
fn conditions(contest: &Contest, game: &ContestGame, named: &str, base: &Path) -> Vec<String> {
    let mut words: Vec<String> = option("--game", Some(named)).collect();
    words.extend(option("--setup", Some(&game.setup)));
    words.extend(clock(&contest.clock));
    let (own, usual) = (to_value(&contest.limits), to_value(Limits::default()));
    let (own, usual) = (own.unwrap_or_default(), usual.unwrap_or_default());
    let others =
        own.as_object().into_iter().flatten().filter(|(key, value)| usual[*key] != **value);
    words.extend(others.flat_map(|(key, value)| option("--limit", Some(format!("{key}={value}")))));
    let sandbox = &contest.sandbox;
    words.extend(option("--sandbox", sandbox.level.map(Level::name)));
    let wrapper = Some(&sandbox.wrapper).filter(|words| !words.is_empty());
    words.extend(option("--wrapper", wrapper.map(|words| join(words))));
    let read = sandbox.read.iter().map(|path| base.join(path).display().to_string());
    words.extend(read.flat_map(|path| option("--allow-read", Some(path))));
    words.extend(contest.policy.strict.then(|| "--strict".to_owned()));
    words
}

/// Returns the options that give this clock.
fn clock(clock: &ClockSettings) -> Vec<String> {
    let usual = ClockSettings::default();
    let bank =
        clock.bank_ms.map(|bank| format!("{}+{}", show_time(bank), show_time(clock.increment_ms)));
    let mut words: Vec<String> = option("--clock", bank).collect();
    if clock.kind == ClockKind::Cpu {
        words.push("--cpu".to_owned());
    }
    let times = [
        ("--move-time", clock.move_ms),
        ("--start-time", Some(clock.start_ms).filter(|&ms| ms != usual.start_ms)),
        ("--margin", Some(clock.margin_ms).filter(|&ms| ms != usual.margin_ms)),
        ("--backstop", clock.backstop_ms),
    ];
    words.extend(times.into_iter().flat_map(|(name, ms)| option(name, ms.map(show_time))));
    words
}

/// Writes the feedback files.
fn write(
    reports: &[CheckReport],
    folder: &Path,
    hidden: &[(String, String)],
) -> Result<(), Failure> {
    let names = file_names(reports.iter().map(CheckReport::shown_name));
    let mut all = reports.iter().zip(names);
    all.try_for_each(|(report, name)| write_feedback(report, folder, &name, hidden))
}

/// Writes the feedback files of an agent: NAME.md and NAME.xml. The `hidden` paths on this machine mean nothing to its
/// author, who knows what is there by other words.
pub(in crate::cli) fn write_feedback(
    report: &CheckReport,
    folder: &Path,
    name: &str,
    hidden: &[(String, String)],
) -> Result<(), Failure> {
    let again = |probe: &ProbeReport, report: &CheckReport| for_author(&probe.again, report);
    let files = [("md", markdown(report)), ("xml", junit(std::slice::from_ref(report), again))];
    for (ending, text) in files {
        let text = without_places(&text, report);
        let text = hidden.iter().fold(text, |text, (path, words)| text.replace(path, words));
        let path = folder.join(format!("{name}.{ending}"));
        std::fs::write(&path, text).map_err(|error| disk_failure(&path, &error))?;
    }
    Ok(())
}
