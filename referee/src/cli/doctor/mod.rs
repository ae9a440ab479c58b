//! `doctor`: tests the sandbox and reports on this machine.

mod machine;
mod text;

use super::exit;
use super::global::Global;
use super::languages;
use super::output::{print, print_json, table};
use crate::cli::bars::spinner;
use clap::Args;
use clap::builder::PossibleValuesParser;
use machine::Machine;
use referee_process::launcher::{LIMITATIONS, WEAKEST};
use referee_process::sandbox::{Depth, Probe, SelfTest, attack, prepare, remedy, remedy_untested};
use referee_process::sandbox::{Layer, Layers};
use referee_process::{Failure, FailureKind};
use referee_protocol::Level;
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

/// Test the sandbox on this machine and explain how to fix it
///
/// Attacks each layer of the sandbox, and reports which levels hold, why others don't and how to fix that.
/// Also lists the kernel, cores, terminal and languages. Takes about 2 seconds.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 the level holds (without --level: basic, or none where the system has no sandbox), 2 usage error, 4 it \
    doesn't\n\nExamples:\n  \
    referee doctor\n  \
    referee doctor --level isolated --quick"
)]
pub(super) struct Options {
    /// Test only this level. Defaults to all
    #[arg(long, value_name = "LEVEL", value_parser = levels())]
    level: Option<String>,
    /// Run only the tests made at the start of every match; leaves out those that take time
    #[arg(long)]
    quick: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn levels() -> PossibleValuesParser {
    PossibleValuesParser::new(TESTED.map(Level::name))
}

/// The levels that can be tested, weakest first. `external` depends on the wrapper.
const TESTED: [Level; 5] =
    [Level::None, Level::Basic, Level::Confined, Level::Isolated, Level::Metered];

/// The machine, as `doctor --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DoctorReport {
    /// The levels, weakest first.
    levels: Vec<LevelReport>,
    /// The strongest level that holds; null with --level.
    auto: Option<&'static str>,
    /// What the referee can't do on this system.
    limitations: &'static [&'static str],
    /// The rest of the machine.
    machine: Machine,
    /// The languages of `new`.
    languages: Vec<languages::LanguageReport>,
}

/// A level in [`DoctorReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct LevelReport {
    /// Its name.
    level: &'static str,
    /// Every attack on it was stopped.
    holds: bool,
    /// Its layers.
    layers: Vec<&'static str>,
    /// The first attack that was not stopped; null if all were.
    failed: Option<ProbeReport>,
    /// How to fix the machine, if known.
    help: Option<String>,
    /// All attacks, layer by layer.
    probes: Vec<ProbeReport>,
}

/// An attack in [`LevelReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct ProbeReport {
    /// The layer that should stop it.
    layer: &'static str,
    /// The attack.
    attack: &'static str,
    /// Whether the layer was tested without the others.
    alone: bool,
    /// Whether it was stopped.
    held: bool,
    /// The result: the name of an error, `worked`, or what was seen.
    #[serde(rename = "told")]
    result: String,
    /// The result of the same attack without any layer; null if not tried.
    without: Option<String>,
    /// Whether the attack works without the layer, so that stopping it proves something.
    proof: bool,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let chosen: Option<Level> = options.level.as_ref().and_then(|name| name.parse().ok());
    let depth = if options.quick { Depth::Quick } else { Depth::Whole };
    let bar = spinner("testing the sandbox", !global.quiet && !options.json);
    let tested = TESTED.into_iter().filter(|&level| chosen.is_none_or(|it| it == level));
    let tests = tested.map(|level| test(level, depth)).collect::<Result<Vec<_>, _>>();
    bar.finish_and_clear();
    let levels = tests?;
    let needed = chosen.unwrap_or(WEAKEST).name();
    let fine = levels.iter().any(|level| level.level == needed && level.holds);
    let auto = if chosen.is_none() && fine {
        levels.iter().rev().find(|level| level.holds).map(|level| level.level)
    } else {
        None
    };
    let report = DoctorReport {
        levels,
        auto,
        limitations: LIMITATIONS,
        machine: Machine::detect(),
        languages: languages::all(),
    };
    if options.json {
        print_json(&report)?;
    } else {
        print(&table(&report.rows(chosen.is_none())))?;
    }
    Ok(exit::success_or(exit::MACHINE, fine))
}

/// Tests one level, with agents started as in a match.
fn test(level: Level, depth: Depth) -> Result<LevelReport, Failure> {
    let (config, _groups) = match prepare(level) {
        Ok(made) => made,
        Err(failure) if failure.kind() == FailureKind::Machine => {
            return Ok(LevelReport::unavailable(level, &failure));
        }
        Err(failure) => return Err(failure),
    };
    let test = attack(level, &config, depth).map_err(|error| {
        Failure::machine(format!("cannot test level {level}: {error}")).help(remedy_untested())
    })?;
    Ok(LevelReport::of(&test, config.layers))
}

impl LevelReport {
    fn of(test: &SelfTest, layers: Layers) -> Self {
        let failed = test.first_failure();
        Self {
            level: test.level.name(),
            holds: test.holds(),
            layers: layers.iter().map(Layer::name).collect(),
            failed: failed.map(ProbeReport::of),
            help: failed.and_then(remedy),
            probes: test.probes.iter().map(ProbeReport::of).collect(),
        }
    }

    /// Returns the report if the level can't be prepared, which the last of its layers needs.
    fn unavailable(level: Level, failure: &Failure) -> Self {
        let failed = || ProbeReport {
            layer: Layers::of_level(level).iter().last().map_or("", Layer::name),
            attack: "start",
            alone: false,
            held: false,
            result: failure.to_string(),
            without: None,
            proof: true,
        };
        Self {
            level: level.name(),
            holds: false,
            layers: Layers::of_level(level).iter().map(Layer::name).collect(),
            failed: Some(failed()),
            help: failure.help_text().map(str::to_owned),
            probes: vec![failed()],
        }
    }
}

impl ProbeReport {
    fn of(probe: &Probe) -> Self {
        Self {
            layer: probe.layer.name(),
            attack: probe.attack_name(),
            alone: probe.alone,
            held: probe.held,
            result: probe.answer.clone(),
            without: probe.without.clone(),
            proof: probe.is_proof(),
        }
    }
}
