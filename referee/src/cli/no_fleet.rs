//! In the place of `fleet` in a program that is built without it: no commands, no options, and games
//! are played on this machine.

use super::Global;
use clap::{Args, Subcommand};
use referee_play::interrupts::Interrupts;
use referee_play::playing::Playing;
use referee_process::Failure;
use referee_runner::Prepared;
use referee_runner::folder::Folder;
use referee_runner::runner::{Ended, Runner, Spectator};
use std::process::ExitCode;
use tokio::runtime::Runtime;

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

/// There is nowhere else.
#[derive(Debug)]
pub(super) enum There {}

impl There {
    #[expect(
        clippy::unnecessary_wraps,
        clippy::trivially_copy_pass_by_ref,
        reason = "as where there are workers"
    )]
    pub(super) fn find(
        _: &FleetOptions,
        _: &Prepared,
        _: &Runtime,
        _: &Global,
    ) -> Result<Option<Self>, Failure> {
        Ok(None)
    }

    pub(super) fn tell(&self, _: &Global) {
        match *self {}
    }

    pub(super) fn words(&self) -> &[String] {
        match *self {}
    }

    #[expect(clippy::unused_async, reason = "where there are workers, they are waited for")]
    pub(super) async fn play(
        self,
        _: Runner,
        _: Playing,
        _: &str,
        _: &mut Interrupts,
        _: &mut impl Spectator,
    ) -> Result<Ended, Failure> {
        match self {}
    }
}

pub(super) fn note_elsewhere(_: &Folder, _: &Global) {}
