//! Replaces `fleet` in a build without that feature: no commands, no options, and no remote games. What
//! is missing is unknown to clap, so that help, completions and manuals don't have it.

use super::global::Global;
use clap::error::{ContextKind, ContextValue};
use clap::{Args, Subcommand};
use referee_games::Games;
use referee_play::interrupts::Interrupts;
use referee_play::running_matches::RunningMatches;
use referee_process::Failure;
use referee_runner::Prepared;
use referee_runner::folder::Folder;
use referee_runner::runner::{Observer, RunResult, Runner};
use std::process::ExitCode;
use tokio::runtime::Runtime;

/// Options of `contest` that only the feature has.
const OPTIONS: [&str; 9] = [
    "--on",
    "--lease",
    "--priority",
    "--user",
    "--creds",
    "--nkey",
    "--tls-ca",
    "--tls-cert",
    "--tls-key",
];

/// Returns how to get an unknown command or option that only the feature has.
pub(super) fn missing_feature(error: &clap::Error) -> Option<Failure> {
    let unknown = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => word.as_str(),
        _ => "",
    };
    let in_contest = std::env::args().any(|word| word == "contest");
    let (command, option) =
        (unknown(ContextKind::InvalidSubcommand), unknown(ContextKind::InvalidArg));
    let word = match in_contest {
        true if OPTIONS.contains(&option) => option,
        true if command == "purge" => "contest purge",
        false if command == "worker" => command,
        _ => return None,
    };
    let what =
        format!("`{word}` needs many machines, which this build of Referee does not support");
    let help = "install one that does: `cargo install --path referee --features fleet`";
    Some(Failure::usage(what).help(help))
}

/// No commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {}

/// No commands.
#[derive(Debug, Subcommand)]
pub(super) enum ContestCommand {}

pub(super) fn run(command: &Command, _: &Global) -> Result<ExitCode, Failure> {
    match *command {}
}

pub(super) fn run_contest(command: &ContestCommand, _: &Global) -> Result<ExitCode, Failure> {
    match *command {}
}

/// No options.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct FleetOptions {}

/// No options.
#[derive(Debug, Args)]
pub(super) struct StatusServer {}

impl StatusServer {
    pub(super) const WHAT_TO_GIVE: &str =
        "give a contest's folder, for example: referee contest status contests/autumn";

    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "the signature of the feature `fleet`"
    )]
    pub(super) fn print(&self, _: bool) -> Result<bool, Failure> {
        Ok(false)
    }
}

/// Games are never played elsewhere.
#[derive(Debug)]
pub(super) enum FleetVenue {}

impl FleetVenue {
    #[expect(
        clippy::unnecessary_wraps,
        clippy::trivially_copy_pass_by_ref,
        reason = "the signature of the feature `fleet`"
    )]
    pub(super) fn find(
        _: &FleetOptions,
        _: &mut Prepared,
        _: &Runtime,
        _: &Global,
    ) -> Result<Option<Self>, Failure> {
        Ok(None)
    }

    #[expect(
        clippy::unnecessary_wraps,
        clippy::trivially_copy_pass_by_ref,
        reason = "the signature of the feature `fleet`"
    )]
    pub(super) fn check(_: &FleetOptions, _: &Prepared) -> Result<(), Failure> {
        Ok(())
    }

    pub(super) fn has_packed(&mut self, _: &mut Prepared, _: &Global) -> Result<bool, Failure> {
        match *self {}
    }

    pub(super) fn print_notes(&self, _: &Global) {
        match *self {}
    }

    pub(super) fn is_connected(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        match *self {}
    }

    pub(super) fn resume_args(&self) -> &[String] {
        match *self {}
    }

    #[expect(clippy::unused_async, reason = "the signature of the feature `fleet`")]
    pub(super) async fn play(
        self,
        _: Runner,
        _: (Folder, Games, RunningMatches),
        _: &str,
        _: &mut Interrupts,
        _: &mut impl Observer,
    ) -> Result<RunResult, Failure> {
        match self {}
    }
}

pub(super) fn last_server(_: &Folder) -> Vec<String> {
    Vec::new()
}

pub(super) fn note_elsewhere(_: &Folder, _: &Global) {}
