//! Contests given by command line options: they are turned into a contest file.

use super::run::{SharedRunOptions, begin, free_folder};
use crate::cli::bars::{advance, count_bar};
use crate::cli::building::not_executable;
use crate::cli::global::Global;
use crate::cli::presets::{MatchOptions, SeriesOptions};
use crate::cli::runtime::machine;
use crate::cli::setup::GameOptions;
use clap::Args;
use referee_play::agent_spec::{AgentSpec, with_interpreter};
use referee_play::names::unique_names;
use referee_process::Failure;
use referee_protocol::ClockSettings;
use referee_runner::{Broken, Builds, Prepared, new_seed, prepare, prepare_text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const JOBS_HELP: &str =
    "Number of matches to run at once, 1 to 10000. Defaults to the number of cores";

/// The options of both commands that generate a contest file.
#[derive(Debug, Args)]
#[command(mut_arg("game", |it| it.long("game").short('g').display_order(0)))]
#[command(mut_arg("setup", |it| it.display_order(0)))]
#[command(mut_arg("jobs", |it| it.help(JOBS_HELP)))]
pub(super) struct GeneratedContestOptions {
    #[command(flatten)]
    pub(super) game: GameOptions,
    /// Folder to create for the contest. Defaults to a new one in ./contests
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    shared: SharedRunOptions,
    // Last, since what follows would be under its headings.
    #[command(flatten)]
    pub(super) series: SeriesOptions,
}

impl GeneratedContestOptions {
    /// Returns the contest file: `more`, and what both commands have in common.
    pub(super) fn contest_file(
        &self,
        command: &str,
        agents: &[String],
        mut more: Value,
    ) -> Result<String, Failure> {
        if agents.iter().any(|agent| with_interpreter(agent).is_some()) {
            return Err(not_executable(agents));
        }
        let SeriesOptions { of_match, conditions, seed, draw_key, on_fault, pin, .. } =
            &self.series;
        let MatchOptions { preset, clock, strict, .. } = of_match;
        let is_needed = preset.is_none() || clock.is_given();
        more["name"] = format!("{command}-{}", self.game.kind()?.name).into();
        more["seed"] = seed.map_or_else(new_seed, Ok)?.into();
        more["draw_key"] = json!(draw_key);
        more["preset"] = json!(preset.map(|preset| preset.name));
        let clock = is_needed.then(|| of_match.clock(false)).transpose()?;
        more["clock"] = clock.map_or(Value::Null, |clock| clock_table(&clock));
        more["sandbox"] = conditions.for_contest()?;
        more["limits"] = of_match.limits_table()?;
        more["pin"] = json!(pin.then_some(true));
        more["policy"]["on_fault"] = json!(on_fault);
        more["policy"]["strict"] = json!(strict.then_some(true));
        more["games"] = self.game.for_contest()?;
        more["agents"] = named_agents(agents);
        toml::to_string(&without_nulls(more))
            .map_err(|error| Failure::operation(format!("cannot generate a contest file: {error}")))
    }

    /// Returns the table `[openings]`, with so many random plies unless others are given: none where the rules don't list the
    /// actions to choose from.
    pub(super) fn openings(&self, plies: u32) -> Result<Value, Failure> {
        let is_unlisted = self.game.kind()?.program().is_some_and(|program| !program.lists());
        Ok(self.series.openings_table(if is_unlisted { 0 } else { plies }))
    }

    /// Runs the contest in --out, or in a new folder with its name.
    pub(super) fn begin(&self, prepared: Prepared, global: &Global) -> Result<ExitCode, Failure> {
        let out = self.out.clone().map_or_else(|| free_folder(&prepared.contest.name), Ok)?;
        begin(prepared, Some(&out), &self.shared, global)
    }
}

/// Returns a clock as a contest file has it: times with their units.
fn clock_table(clock: &ClockSettings) -> Value {
    let settings = json!(clock);
    let settings = settings.as_object().into_iter().flatten();
    let entry = |(key, value): (&String, &Value)| match value.as_u64() {
        Some(ms) => (key.trim_end_matches("_ms").to_owned(), json!(format!("{ms}ms"))),
        None => (key.clone(), value.clone()),
    };
    settings.map(entry).collect()
}

/// Reads a contest file and builds the agents.
pub(super) fn prepare_built(
    file: &Path,
    broken: Broken,
    global: &Global,
) -> Result<Prepared, Failure> {
    let bar = count_bar("building", !global.quiet);
    prepare(file, Builds::Now(&|done, of| advance(&bar, done, of)), broken)
}

/// Does the same with a generated file; its paths are relative to the working directory. If agents were
/// left out by an earlier call, builds nothing and leaves them out again.
pub(super) fn prepare_generated(
    text: &str,
    left_out: Option<&[(String, String)]>,
    global: &Global,
) -> Result<Prepared, Failure> {
    let base = std::env::current_dir().map_err(machine("cannot find the working directory"))?;
    let bar = count_bar("building", !global.quiet);
    let progress = |done, of| advance(&bar, done, of);
    let builds = left_out.map_or(Builds::Now(&progress), Builds::Done);
    prepare_text(text, Path::new(""), &base, builds)
}

/// Returns agents as a contest file has them. Those with the same name get different ones.
fn named_agents(agents: &[String]) -> Value {
    let read = |agent: &String| AgentSpec::read_unbuilt(agent, Path::new(""));
    let Ok(specs) = agents.iter().map(read).collect::<Result<Vec<_>, _>>() else {
        // The contest file's error says which can't be read, and why.
        return json!(agents);
    };
    let names = unique_names(&specs.iter().collect::<Vec<_>>());
    let agent = |(AgentSpec { name: own, written: run, .. }, name)| {
        if name == own { json!(run) } else { json!({ "name": name, "run": run }) }
    };
    specs.into_iter().zip(names).map(agent).collect()
}

/// Removes what is null, which TOML doesn't have.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(values) => values.into_iter().map(without_nulls).collect(),
        other => other,
    }
}
