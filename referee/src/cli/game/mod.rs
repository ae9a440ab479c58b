//! `game`: makes, checks and describes game programs.

mod check;
mod describe;
mod new;

pub(super) use describe::DescribedReport;
pub(super) use new::NewGameReport;

use super::global::{Global, success};
use clap::{Args, Subcommand};
use referee_process::Failure;
use std::process::ExitCode;

/// Create, check or describe a game whose rules are a program
///
/// Such a game is a folder with game.toml and a program in any language. Where another command takes a GAME, it
/// also takes the path of the folder, as in `referee play ./tetress @random @first`.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(new::Options),
    Check(check::Options),
    Describe(describe::Options),
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    match &options.command {
        Command::New(options) => new::run(options, global).map(success),
        Command::Check(options) => check::run(options, global),
        Command::Describe(options) => describe::run(options).map(success),
    }
}
