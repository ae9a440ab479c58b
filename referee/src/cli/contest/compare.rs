//! `compare`: a contest of two agents that stops when one hypothesis is accepted.

use super::generated::{GeneratedContestOptions, prepare_generated};
use crate::cli::global::Global;
use clap::Args;
use referee_process::Failure;
use serde_json::json;
use std::process::ExitCode;

/// Random plies before each pair. With fewer, openings soon repeat.
const OPENING_PLIES: u32 = 4;

const OPENINGS_HELP: &str = "Where pairs of games begin: a file with one JSON position per line, or a number of random plies, 1 to 100. Defaults to 4 plies, or 0 for games that list no actions";

/// Test whether a new agent is stronger than an old one
///
/// Plays pairs of games from the same opening with swapped seats, until a sequential test (SPRT)
/// accepts one of two hypotheses. With --games, plays that many games without a test. It is a
/// contest with a folder of its own, so `contest resume` continues it after an interrupt.
#[derive(Debug, Args)]
#[command(mut_arg("openings", |it| it.help(OPENINGS_HELP)))]
#[command(after_long_help = "Examples:\n  \
    referee compare ./new ./old --game hex\n  \
    referee compare ./new ./old --game freckers --elo1 10 --move-time 100ms\n  \
    referee compare ./new ./old --game hex --games 400")]
pub(in crate::cli) struct Options {
    /// New agent, as in `play`
    #[arg(value_name = "NEW")]
    new: String,
    /// Old agent, as in `play`
    #[arg(value_name = "OLD")]
    old: String,
    /// Number of games to play without a test, 2 or more. Defaults to a test
    #[arg(long, short = 'n', conflicts_with_all = ["elo0", "elo1", "alpha", "beta", "max_games"],
          value_parser = clap::value_parser!(u32).range(2..))]
    games: Option<u32>,
    /// Hypothesis H0: the new agent is stronger by this many Elo, less than --elo1
    #[arg(long, default_value_t = 0.0, value_parser = number)]
    elo0: f64,
    /// Hypothesis H1: the new agent is stronger by this many Elo, more than --elo0. Between equal
    /// agents with --elo0 0, 100 takes about 70 games, 40 about 400, 20 about 1600, 10 about 6400
    #[arg(long, default_value_t = 100.0, value_parser = number)]
    elo1: f64,
    /// Probability of accepting H1 if H0 is true, 0.0001 to 0.4999
    #[arg(long, default_value_t = 0.05, value_parser = number)]
    alpha: f64,
    /// Probability of accepting H0 if H1 is true, 0.0001 to 0.4999
    #[arg(long, default_value_t = 0.05, value_parser = number)]
    beta: f64,
    /// Maximum number of games, 2 or more
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(2..))]
    max_games: u32,
    #[command(flatten)]
    generated: GeneratedContestOptions,
}

/// Reads a finite number.
fn number(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| "expected a number such as 30 or -7.5".to_owned())
}

pub(in crate::cli) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let prepared = prepare_generated(&options.contest_file()?, None, global)?;
    options.generated.begin(prepared, global)
}

impl Options {
    /// Returns the contest file.
    fn contest_file(&self) -> Result<String, Failure> {
        let Self { elo0, elo1, alpha, beta, .. } = self;
        let test = json!({ "elo0": elo0, "elo1": elo1, "alpha": alpha, "beta": beta });
        let more = json!({
            "format": "compare",
            // A pair is two games.
            "rounds": self.games.unwrap_or(self.max_games).div_ceil(2),
            "policy": {},
            "openings": self.generated.openings(OPENING_PLIES)?,
            "compare": self.games.is_none().then_some(test),
        });
        self.generated.contest_file("compare", &[self.new.clone(), self.old.clone()], more)
    }
}
