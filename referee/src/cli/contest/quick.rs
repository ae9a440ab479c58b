//! `contest quick`: a contest from the command line alone.

use super::generated::{GeneratedContestOptions, prepare_generated};
use crate::cli::global::Global;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use referee_contest::Schedule;
use referee_contest::formats::FORMATS;
use referee_process::Failure;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Random plies before each game of two or more seats. Without them, deterministic agents repeat the
/// same game.
const OPENING_PLIES: u32 = 2;

const OPENINGS_HELP: &str = "Where games begin: a file with one JSON position per line, or a number of random plies, 0 to 100. Each opening is played in every seat order. Defaults to 2 plies, or 0 for games of one seat and games that list no actions";

/// Run a contest without a contest file
#[derive(Debug, Args)]
#[command(mut_arg("openings", |it| it.help(OPENINGS_HELP)))]
#[command(after_long_help = "Examples:\n  \
    referee contest quick --game hex @random @greedy ./mybot --games 60\n  \
    referee contest quick --game chexers --submissions submissions --move-time 1s")]
pub(super) struct Options {
    /// Agents to enter, as in `play`
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,
    /// Folder of agents to enter too. Defaults to none
    #[arg(long, value_name = "DIR")]
    submissions: Option<PathBuf>,
    /// Leave out broken submissions. By default, a broken one stops the contest
    #[arg(long, requires = "submissions")]
    leave_out: bool,
    /// Format, which decides who plays whom. Defaults to round-robin, or puzzle for one-seat games
    #[arg(long, value_name = "NAME", value_parser = formats())]
    tournament: Option<String>,
    /// Minimum number of games, 1 or more, rounded up to whole rounds. Defaults to one round
    #[arg(long, short = 'n', conflicts_with = "rounds",
          value_parser = clap::value_parser!(u64).range(1..))]
    games: Option<u64>,
    /// Number of rounds, 1 or more. Defaults to 1
    #[arg(long, short, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    #[command(flatten)]
    generated: GeneratedContestOptions,
}

/// The names of the formats, with their help.
fn formats() -> PossibleValuesParser {
    let values = FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.help));
    PossibleValuesParser::new(values)
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let first = options.contest_file(options.rounds.unwrap_or(1))?;
    let mut prepared = prepare_generated(&first, None, global)?;
    if let Some(games) = options.games {
        let per_round = Schedule::new(prepared.contest.clone()).size().1.max(1);
        let rounds = u32::try_from(games.div_ceil(per_round).max(1))
            .map_err(|_| Failure::usage(format!("--games {games}: too many rounds")))?;
        let text = options.contest_file(rounds)?;
        prepared = prepare_generated(&text, Some(&prepared.left_out), global)?;
    }
    options.generated.begin(prepared, global)
}

impl Options {
    /// Returns the contest file.
    fn contest_file(&self, rounds: u32) -> Result<String, Failure> {
        let seats = self.generated.game.start()?.seats();
        let plies = if seats == 1 { 0 } else { OPENING_PLIES };
        let more = json!({
            "rounds": rounds,
            "format": self.tournament,
            "submissions": self.submissions,
            "policy": { "on_broken": self.leave_out.then_some("leave-out") },
            "openings": self.generated.openings(plies)?,
        });
        self.generated.contest_file("quick", &self.agents, more)
    }
}
