//! `contest quick`: a contest from the command line alone.

use super::written::{WrittenOptions, as_toml, prepare_rewritten, prepare_written};
use crate::cli::Global;
use crate::cli::presets::{Preset, preset};
use crate::cli::setup::NamedGame;
use clap::Args;
use referee_contest::Schedule;
use referee_process::Failure;
use serde_json::json;
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
    /// A course's conditions; other options override parts of them
    #[arg(long, value_name = "NAME", value_parser = preset())]
    preset: Option<&'static Preset>,
    #[command(flatten)]
    written: WrittenOptions,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let first = options.contest_file(options.rounds.unwrap_or(1))?;
    let mut prepared = prepare_written(&first, global)?;
    if let Some(games) = options.games {
        let a_round = Schedule::new(prepared.contest.clone()).size().1.max(1);
        let rounds = u32::try_from(games.div_ceil(a_round).max(1))
            .map_err(|_| Failure::usage(format!("--games {games}: too many rounds")))?;
        let left_out = prepared.left_out;
        prepared = prepare_rewritten(&options.contest_file(rounds)?, &left_out)?;
    }
    options.written.begin(prepared, global)
}

impl Options {
    /// The contest file that says the same.
    fn contest_file(&self, rounds: u32) -> Result<String, Failure> {
        let Self { written, preset, .. } = self;
        let (games, seats) = self.game.for_contest()?;
        let clock = (preset.is_none() || written.clock.is_given())
            .then(|| written.clock.settings(*preset, false))
            .transpose()?;
        let plies = self.openings.unwrap_or(if seats == 1 { 0 } else { OPENING_PLIES });
        as_toml(json!({
            "name": format!("quick-{}", self.game.game),
            "seed": written.seed()?,
            "rounds": rounds,
            "format": self.format,
            "submissions": self.submissions,
            "policy": self.leave_out.then(|| json!({ "on_broken": "leave-out" })),
            "preset": preset.map(|preset| preset.name),
            "clock": clock,
            "openings": { "plies": plies },
            "sandbox": written.conditions.for_contest()?,
            "games": games,
            "agents": self.agents,
        }))
    }
}
