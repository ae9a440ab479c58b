//! `contest quick`: a contest from the command line alone.

use super::run::GoingOptions;
use super::written::{as_toml, begin_written, prepare_rewritten, prepare_written};
use crate::cli::play_options::{ClockOptions, new_seed};
use crate::cli::sandbox::ConditionOptions;
use crate::cli::setup::NamedGame;
use crate::cli::{Global, presets};
use clap::Args;
use clap::builder::PossibleValuesParser;
use referee_process::Failure;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Random plies before each game between two and more: without them, agents that don't draw lots
/// play the same game again and again.
const OPENING_PLIES: u32 = 2;

/// Plays a contest without a contest file: everybody against everybody, or another format.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    referee contest quick --game hex @random @greedy ./mybot --games 60\n  \
    referee contest quick --game chexers --submissions submissions --move-time 1s")]
pub(super) struct Options {
    /// The agents
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,
    #[command(flatten)]
    game: NamedGame,
    /// A folder whose agents play too
    #[arg(long, value_name = "DIR")]
    submissions: Option<PathBuf>,
    /// Leaves broken submissions out and lets the others play; else nobody plays
    #[arg(long, requires = "submissions")]
    leave_out: bool,
    /// Who meets whom: round-robin, gauntlet, swiss, knockout, double-knockout, ladder; round-robin
    /// unless it is given, puzzle where agents play alone
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// How many games to play, at least: as many whole rounds as that takes
    #[arg(long, short = 'n', conflicts_with = "rounds")]
    games: Option<u64>,
    /// How many rounds to play, 1 unless --games or this is given
    #[arg(long, short, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Random plies before each game, 2 unless it is given; none where agents play alone
    #[arg(long, value_name = "PLIES")]
    openings: Option<u32>,
    /// The seed of everything that is drawn; a new one each time unless it is given
    #[arg(long)]
    seed: Option<u64>,
    /// A course's conditions; other options override parts of them
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(presets::names()))]
    preset: Option<String>,
    #[command(flatten)]
    clock: ClockOptions,
    #[command(flatten)]
    conditions: ConditionOptions,
    /// The contest's folder; a new one in ./contests unless it is given
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    going: GoingOptions,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let name = format!("quick-{}", options.game.game);
    let text = |rounds: u32| options.contest_file(&name, rounds);
    let first = text(options.rounds.unwrap_or(1))?;
    let mut prepared = prepare_written(&first, global)?;
    if let Some(games) = options.games {
        let a_round = referee_contest::Schedule::new(prepared.contest.clone()).size().1.max(1);
        let rounds = u32::try_from(games.div_ceil(a_round).max(1))
            .map_err(|_| Failure::usage(format!("--games {games}: too many rounds")))?;
        let left_out = prepared.left_out;
        prepared = prepare_rewritten(&text(rounds)?, &left_out)?;
    }
    begin_written(prepared, options.out.clone(), &options.going, global)
}

impl Options {
    /// The contest file that says the same.
    fn contest_file(&self, name: &str, rounds: u32) -> Result<String, Failure> {
        let (games, seats) = self.game.for_contest()?;
        let seed = self.seed.map_or_else(new_seed, Ok)?;
        let mut file = Map::new();
        let mut set = |key: &str, value: Value| {
            file.insert(key.to_owned(), value);
        };
        set("name", json!(name));
        set("seed", json!(seed));
        set("rounds", json!(rounds));
        if let Some(format) = &self.format {
            set("format", json!(format));
        }
        if let Some(submissions) = &self.submissions {
            set("submissions", json!(submissions));
        }
        if self.leave_out {
            set("policy", json!({ "on_broken": "leave-out" }));
        }
        if let Some(preset) = &self.preset {
            set("preset", json!(preset));
        }
        let preset = self.preset.as_deref().and_then(presets::find);
        if preset.is_none() || self.clock.is_given() {
            set("clock", json!(self.clock.settings(preset, false)?));
        }
        let plies = self.openings.unwrap_or(if seats == 1 { 0 } else { OPENING_PLIES });
        set("sandbox", self.conditions.for_contest()?);
        set("openings", json!({ "plies": plies }));
        set("games", games);
        set("agents", json!(self.agents));
        as_toml(Value::Object(file))
    }
}
