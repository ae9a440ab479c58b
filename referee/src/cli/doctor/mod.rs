//! `doctor`: what this machine gives, and how to mend what it doesn't.

mod machine;
mod text;

use super::output::{print, print_json, table};
use super::{Global, languages};
use crate::cli::bars::spinner;
use clap::Args;
use clap::builder::PossibleValuesParser;
use machine::Machine;
use referee_process::Failure;
use referee_process::sandbox::{Depth, Probe, SelfTest, attack, mend, mend_untested, prepare};
use referee_protocol::{Layer, Layers, Level};
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

/// Attacks the sandbox layer by layer, and tells what holds, what doesn't and how to mend it, and
/// what else of this machine matters.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 ok, 2 usage, 4 the level doesn't hold, without --level basic"
)]
pub(super) struct Options {
    /// Only this level
    #[arg(long, value_name = "LEVEL", value_parser = levels())]
    level: Option<String>,
    /// Only what is tested at the start of every match: nothing that takes time
    #[arg(long)]
    quick: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

fn levels() -> PossibleValuesParser {
    PossibleValuesParser::new(TESTED.map(Level::name))
}

/// The levels that can be tested, weakest first. Of `external` nobody knows anything before there
/// is a wrapper.
const TESTED: [Level; 5] =
    [Level::None, Level::Basic, Level::Confined, Level::Isolated, Level::Metered];

/// A machine as `doctor --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    /// The levels, weakest first.
    levels: Vec<LevelTold>,
    /// The strongest level that holds; null where only one was tested.
    auto: Option<&'static str>,
    /// What else matters.
    machine: Machine,
    /// The languages in which an agent can be begun.
    languages: Vec<languages::Told>,
}

/// A level in [`Told`].
#[derive(Debug, Serialize, JsonSchema)]
struct LevelTold {
    /// Its name.
    level: &'static str,
    /// Every attack on it was stopped.
    holds: bool,
    /// The layers that are to be in force.
    layers: Vec<&'static str>,
    /// The first attack that was not stopped; null where all were.
    failed: Option<ProbeTold>,
    /// How to mend the machine, where that is known.
    help: Option<String>,
    /// All attacks, layer by layer.
    probes: Vec<ProbeTold>,
}

/// An attack in [`LevelTold`].
#[derive(Debug, Serialize, JsonSchema)]
struct ProbeTold {
    /// The layer that is to stop it.
    layer: &'static str,
    /// What was tried.
    attack: &'static str,
    /// The layer stood without those that might have hidden that it is missing.
    alone: bool,
    /// It was stopped.
    held: bool,
    /// What the system said: the name of an error, `worked`, or what was seen.
    told: String,
    /// What it said to the same attack where there was no layer; null where that was not tried.
    without: Option<String>,
    /// The attack works where there is no layer, so that this proves something.
    proof: bool,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let chosen: Option<Level> = options.level.as_ref().and_then(|name| name.parse().ok());
    let depth = if options.quick { Depth::Quick } else { Depth::Whole };
    let bar = spinner("attacking the sandbox", !global.quiet && !options.json);
    let tested = TESTED.into_iter().filter(|&level| chosen.is_none_or(|it| it == level));
    let tests = tested.map(|level| test(level, depth)).collect::<Result<Vec<_>, _>>();
    bar.finish_and_clear();
    let levels = tests?;
    let needed = chosen.unwrap_or(Level::Basic).name();
    let fine = levels.iter().any(|level| level.level == needed && level.holds);
    let auto = if chosen.is_none() && fine {
        levels.iter().rev().find(|level| level.holds).map(|level| level.level)
    } else {
        None
    };
    let told = Told { levels, auto, machine: Machine::look(), languages: languages::all() };
    if options.json {
        print_json(&told)?;
    } else {
        print(&table(&told.rows(chosen.is_none())))?;
    }
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::from(Failure::MACHINE) })
}

/// Tests one level as agents would be started at it.
fn test(level: Level, depth: Depth) -> Result<LevelTold, Failure> {
    let (jail, _groups) = match prepare(level) {
        Ok(made) => made,
        Err(failure) if failure.code() == Failure::MACHINE => {
            return Ok(LevelTold::without_groups(level, &failure));
        }
        Err(failure) => return Err(failure),
    };
    let test = attack(level, &jail, depth).map_err(|error| {
        Failure::machine(format!("level {level} can't be tested: {error}")).help(mend_untested())
    })?;
    Ok(LevelTold::of(&test, jail.layers))
}

impl LevelTold {
    fn of(test: &SelfTest, layers: Layers) -> Self {
        let failed = test.first_failure();
        Self {
            level: test.level.name(),
            holds: test.holds(),
            layers: layers.iter().map(Layer::name).collect(),
            failed: failed.map(ProbeTold::of),
            help: failed.and_then(mend),
            probes: test.probes.iter().map(ProbeTold::of).collect(),
        }
    }

    /// Where there are no control groups, which is found out before anything is started.
    fn without_groups(level: Level, failure: &Failure) -> Self {
        let failed = || ProbeTold {
            layer: Layer::Cgroup.name(),
            attack: "start",
            alone: false,
            held: false,
            told: failure.to_string(),
            without: None,
            proof: true,
        };
        Self {
            level: level.name(),
            holds: false,
            layers: level.layers().iter().map(Layer::name).collect(),
            failed: Some(failed()),
            help: failure.help_text().map(str::to_owned),
            probes: vec![failed()],
        }
    }
}

impl ProbeTold {
    fn of(probe: &Probe) -> Self {
        Self {
            layer: probe.layer.name(),
            attack: probe.attack_name(),
            alone: probe.alone,
            held: probe.held,
            told: probe.told.clone(),
            without: probe.without.clone(),
            proof: probe.is_proof(),
        }
    }
}
