//! `contest`: one file per subcommand.

mod change;
mod course;
pub(super) mod compare;
mod deadline;
mod ends_soon;
mod open;
mod running;
mod venue;
pub(super) mod plan;
mod quick;
mod grades;
mod last;
mod publish;
pub(super) mod teams;
mod replay_pages;
pub(super) mod ratings;
pub(super) mod report;
pub(super) mod run;
mod generated;
mod sources;
pub(super) mod status;

use super::global::{Global, success};
use super::{check, fleet};
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
    Open(Box<open::Options>),
    Teams(teams::Options),
    Invite(teams::InviteOptions),
    Pause(course::PauseOptions),
    Times(course::TimesOptions),
    Disqualify(course::DisqualifyOptions),
    Add(change::AddOptions),
    Replace(change::ReplaceOptions),
    Rerun(change::RerunOptions),
    Forfeit(change::ForfeitOptions),
    Drop(change::DropOptions),
    Status(status::Options),
    Report(report::Options),
    Ratings(ratings::Options),
    Final(last::Options),
    Grades(grades::Options),
    Publish(publish::Options),
    Quick(Box<quick::Options>),
    Check(check::ContestOptions),
    #[command(flatten)]
    Fleet(fleet::ContestCommand),
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    match &options.command {
        Command::Plan(options) => plan::run(options, global).map(success),
        Command::Run(options) => run::run(options, global),
        Command::Resume(options) => run::resume(options, global),
        Command::Open(options) => open::run(options, global),
        Command::Teams(options) => teams::run(options, global).map(success),
        Command::Invite(options) => teams::invite(options, global).map(success),
        Command::Pause(options) => course::pause(options, global).map(success),
        Command::Times(options) => course::times(options, global).map(success),
        Command::Disqualify(options) => course::disqualify(options, global).map(success),
        Command::Add(options) => change::add(options, global).map(success),
        Command::Replace(options) => change::replace(options, global).map(success),
        Command::Rerun(options) => change::rerun(options, global).map(success),
        Command::Forfeit(options) => change::forfeit(options, global).map(success),
        Command::Drop(options) => change::drop_player(options, global).map(success),
        Command::Status(options) => status::run(options).map(success),
        Command::Report(options) => report::run(options, global).map(success),
        Command::Ratings(options) => ratings::run(options, global).map(success),
        Command::Final(options) => last::run(options, global).map(success),
        Command::Grades(options) => grades::run(options, global).map(success),
        Command::Publish(options) => publish::run(options, global).map(success),
        Command::Quick(options) => quick::run(options, global),
        Command::Check(options) => check::run_contest(options, global),
        Command::Fleet(command) => fleet::run_contest(command, global),
    }
}
