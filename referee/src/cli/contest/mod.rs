//! `contest`: whole contests, from a file to a table; a file a subcommand.

pub(super) mod compare;
mod going;
mod place;
pub(super) mod plan;
mod quick;
pub(super) mod report;
pub(super) mod run;
mod written;
pub(super) mod status;


use super::{Global, fleet, success};
use clap::{Args, Subcommand};
use referee_process::Failure;
use std::process::ExitCode;

/// Runs whole contests: plans them, plays them, goes on after any interruption, tells the results.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Command,
}

/// What each says of itself stands at its options.
#[derive(Debug, Subcommand)]
enum Command {
    Plan(plan::Options),
    Run(Box<run::RunOptions>),
    Resume(run::ResumeOptions),
    Status(status::Options),
    Report(report::Options),
    Quick(Box<quick::Options>),
    #[command(flatten)]
    Fleet(fleet::ContestCommand),
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    match &options.command {
        Command::Plan(options) => plan::run(options, global).map(success),
        Command::Run(options) => run::run(options, global),
        Command::Resume(options) => run::resume(options, global),
        Command::Status(options) => status::run(options).map(success),
        Command::Report(options) => report::run(options, global).map(success),
        Command::Quick(options) => quick::run(options, global),
        Command::Fleet(command) => fleet::run_contest(command, global),
    }
}
