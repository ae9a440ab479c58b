//! `adapter`: the programs that play for agents which were written for another program.

use clap::Args;
use referee_play::adapted::{COMP30024, COMP30024_PROGRAM, python};
use referee_process::Failure;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Prints an adapter to agents of another program, or runs it, as `play` does.
#[derive(Debug, Args)]
#[command(after_help = "comp30024 plays for packages of the course COMP30024, Freckers 2025 and \
    Chexers 2019. It is one file in Python without dependencies:\n  \
    referee play freckers comp30024:agent @greedy\n  \
    referee adapter comp30024 > comp30024.py")]
pub(super) struct Options {
    /// The adapter
    #[arg(value_parser = [COMP30024])]
    name: String,
    /// Plays for this package of the working directory, on stdin and stdout
    #[arg(long, value_name = "PACKAGE[:CLASS]")]
    run: Option<String>,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let Some(package) = &options.run else {
        return super::output::print(COMP30024_PROGRAM);
    };
    let python = python()?;
    // Sets have the same order whenever a match is played again, and `random` is seeded with it.
    let failed = Command::new(&python)
        .args(["-c", COMP30024_PROGRAM, package])
        .env("PYTHONHASHSEED", "0")
        .exec();
    Err(Failure::machine(format!("{}: {failed}", python.display())))
}
