//! `replay`: a recorded match, shown here, written as a file of another kind, or read from one.

mod print;
mod export;
mod notation;
mod import;

use super::Global;
use clap::{Args, Subcommand};
use referee_process::Failure;
use std::process::ExitCode;

/// Shows a recorded match, ply by ply; writes it as a file of another kind, or reads one.
///
/// On a terminal it opens a viewer, in which `?` tells the keys; elsewhere, and with --print, it
/// prints every position. A match that is still being played is followed.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    shown: print::Shown,
}

/// What each says of itself stands at its options.
#[derive(Debug, Subcommand)]
enum Command {
    Export(export::Options),
    Import(import::Options),
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    match &options.command {
        None => print::run(&options.shown),
        Some(Command::Export(options)) => export::run(options, global),
        Some(Command::Import(options)) => import::run(options, global),
    }
}
