//! The bench's options.

use clap::Parser;
use std::path::PathBuf;

/// Measure what a contest on many machines costs its coordinator and the server
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// Compare the local runner with one worker, instead of the simulation
    #[arg(long)]
    pub(crate) local_overhead: bool,
    /// Number of fake workers, each with a connection
    #[arg(long, default_value = "100", value_parser = some)]
    pub(crate) workers: usize,
    /// Number of matches that a worker plays at once
    #[arg(long, default_value = "4", default_value_if("local_overhead", "true", "2"))]
    #[arg(value_parser = some)]
    pub(crate) slots: usize,
    /// Number of games, rounded up to whole rounds
    #[arg(long, default_value = "20000", default_value_if("local_overhead", "true", "400"))]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) games: u64,
    /// Time that a fake worker takes for a game, in milliseconds
    #[arg(long, default_value_t = 0)]
    pub(crate) game_ms: u64,
    /// Print a row after this many games; 0 prints twenty rows
    #[arg(long, default_value_t = 0)]
    pub(crate) every: u64,
    /// Number of threads for the fake workers
    #[arg(long, default_value = "1", value_parser = some)]
    pub(crate) threads: usize,
    /// Number of runs of each side of `--local-overhead`
    #[arg(long, default_value = "9", value_parser = some)]
    pub(crate) pairs: usize,
    /// Verify the contest at the end, with all its transcripts
    #[arg(long)]
    pub(crate) verify: bool,
    /// The folder for server and contest
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    pub(crate) dir: PathBuf,
    /// Cargo passes this to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Parses a positive number.
fn some(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|error| format!("{error}"))?;
    if number > 0 { Ok(number) } else { Err("expected one or more".to_owned()) }
}
