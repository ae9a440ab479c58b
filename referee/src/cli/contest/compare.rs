//! `compare`: is the new agent better than the old one? A contest of two, which stops when it is
//! clear.

use super::written::{WrittenOptions, as_toml, prepare_written};
use crate::cli::Global;
use crate::cli::setup::NamedGame;
use clap::Args;
use referee_play::agent_spec::AgentSpec;
use referee_process::Failure;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// Random plies before each pair: fewer give openings that soon repeat.
const OPENING_PLIES: u32 = 4;

/// Tells whether a new agent is better than an old one.
///
/// Plays pairs of games from the same opening with swapped seats until a sequential test (SPRT) has
/// decided between two hypotheses, or `--games` of them without a test. Everything goes to a
/// contest's folder, so `contest resume` goes on with it after an interruption.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    referee compare ./new ./old --game hex\n  \
    referee compare ./new ./old --game freckers --elo1 10 --move-time 100ms\n  \
    referee compare ./new ./old --game hex --games 400")]
pub(in crate::cli) struct Options {
    /// The new agent
    #[arg(value_name = "NEW")]
    new: String,
    /// The old agent
    #[arg(value_name = "OLD")]
    old: String,
    #[command(flatten)]
    game: NamedGame,
    /// Plays so many games, without a test
    #[arg(long, short = 'n', conflicts_with_all = ["elo0", "elo1", "alpha", "beta", "games_most"],
          value_parser = clap::value_parser!(u32).range(2..))]
    games: Option<u32>,
    /// H0: the new agent is better by so many Elo
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true, value_parser = number)]
    elo0: f64,
    /// H1: the new agent is better by so many Elo
    #[arg(long, default_value_t = 30.0, allow_negative_numbers = true, value_parser = number)]
    elo1: f64,
    /// How often H1 may be accepted although H0 is true
    #[arg(long, default_value_t = 0.05, value_parser = number)]
    alpha: f64,
    /// How often H0 may be accepted although H1 is true
    #[arg(long, default_value_t = 0.05, value_parser = number)]
    beta: f64,
    /// The most games that are played
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(2..))]
    games_most: u32,
    /// Random plies before each pair
    #[arg(long, value_name = "PLIES", default_value_t = OPENING_PLIES,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    openings: u32,
    #[command(flatten)]
    written: WrittenOptions,
}

/// A number that can be reckoned with.
fn number(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| "expected a number such as 30 or -7.5".to_owned())
}

pub(in crate::cli) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let prepared = prepare_written(&options.contest_file()?, global)?;
    options.written.begin(prepared, global)
}

impl Options {
    /// The two as agents of a contest. Versions of one program tend to have its name both.
    fn agents(&self) -> Result<Value, Failure> {
        let base = Path::new(".");
        let name = |agent: &str| AgentSpec::read_unbuilt(agent, base).map(|read| read.name);
        if name(&self.new)? != name(&self.old)? {
            return Ok(json!([self.new, self.old]));
        }
        Ok(json!([{ "name": "new", "run": self.new }, { "name": "old", "run": self.old }]))
    }

    /// The contest file that says the same.
    fn contest_file(&self) -> Result<String, Failure> {
        let Self { written, elo0, elo1, alpha, beta, .. } = self;
        let test = json!({ "elo0": elo0, "elo1": elo1, "alpha": alpha, "beta": beta });
        as_toml(json!({
            "name": format!("compare-{}", self.game.game),
            "seed": written.seed()?,
            "format": "compare",
            // A pair is two games.
            "rounds": self.games.unwrap_or(self.games_most).div_ceil(2),
            "clock": written.clock.settings(None, false)?,
            "sandbox": written.conditions.for_contest()?,
            "openings": { "plies": self.openings },
            "compare": self.games.is_none().then_some(test),
            "games": self.game.for_contest()?.0,
            "agents": self.agents()?,
        }))
    }
}
