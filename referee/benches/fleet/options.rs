//! What the bench is asked for.

use clap::Parser;
use std::path::PathBuf;

/// What a contest on many machines costs its coordinator and the server.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// The local runner beside one worker, instead of the simulation
    #[arg(long)]
    pub(crate) local_overhead: bool,
    /// Fake workers, each with a connection
    #[arg(long, default_value = "100", value_parser = some)]
    pub(crate) workers: usize,
    /// Matches that a worker plays at once
    #[arg(long, default_value = "4", default_value_if("local_overhead", "true", "2"))]
    #[arg(value_parser = some)]
    pub(crate) slots: usize,
    /// Games of the contest, as many or a few more
    #[arg(long, default_value = "20000", default_value_if("local_overhead", "true", "400"))]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) games: u64,
    /// How long a fake worker takes for a game, in milliseconds
    #[arg(long, default_value_t = 0)]
    pub(crate) game_ms: u64,
    /// A row each time that so many games have been reported; 0: twenty rows
    #[arg(long, default_value_t = 0)]
    pub(crate) every: u64,
    /// Threads that the fake workers share
    #[arg(long, default_value = "1", value_parser = some)]
    pub(crate) threads: usize,
    /// Runs of each side of `--local-overhead`
    #[arg(long, default_value = "9", value_parser = some)]
    pub(crate) pairs: usize,
    /// Where server and contest are kept
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    pub(crate) dir: PathBuf,
    /// Cargo says it to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

/// One or more.
fn some(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|error| format!("{error}"))?;
    if number > 0 { Ok(number) } else { Err("expected one or more".to_owned()) }
}
