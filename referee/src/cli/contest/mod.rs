//! `contest`: one file per subcommand.

pub(super) mod compare;
pub(super) mod key;
mod running;
mod venue;
pub(super) mod plan;
mod quick;
pub(super) mod report;
pub(super) mod run;
mod generated;
pub(super) mod status;

use super::fleet;
use super::global::{Global, success};
use clap::{Args, Subcommand};
use referee_process::Failure;
use std::process::ExitCode;

/// Plan, run, resume and report contests
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest quick --game hex @random @greedy ./mybot --games 60\n  \
    referee contest run contest.toml")]
pub(super) struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Plan(plan::Options),
    Run(Box<run::RunOptions>),
    Resume(run::ResumeOptions),
    Status(status::Options),
    Report(report::Options),
    Key(key::Options),
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
        Command::Key(options) => key::run(options).map(success),
        Command::Quick(options) => quick::run(options, global),
        Command::Fleet(command) => fleet::run_contest(command, global),
    }
}
