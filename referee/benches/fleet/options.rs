//! The bench's options.

use clap::Parser;
use std::path::PathBuf;

/// Compare the local runner with one worker
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// Number of matches at once
    #[arg(long, default_value = "2", value_parser = some)]
    pub(crate) slots: usize,
    /// Number of games of a run, rounded up to whole rounds
    #[arg(long, default_value = "400")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) games: u64,
    /// Number of runs of each side
    #[arg(long, default_value = "9", value_parser = some)]
    pub(crate) pairs: usize,
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
