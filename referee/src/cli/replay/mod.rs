//! `replay`: shows, exports and imports matches.

mod export;
mod notation;
mod import;

use super::global::{Global, success};
use super::output::{BoardOptions, print, stdout_has_colour};
use super::viewer;
use crate::reading::{self, TurnChoice};
use clap::{Args, Subcommand};
use referee_play::input_files::read_transcript;
use referee_process::Failure;
use std::process::ExitCode;

/// Step through a recorded match, or export or import one
///
/// Opens a viewer on a terminal (press ? for its keys). Without a terminal, or with --print, prints every
/// position. Follows a match that is still running.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee replay latest\n  \
    referee replay matches/x.jsonl --print --turn 12")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    shown: Shown,
}

/// The options that show a match.
#[derive(Debug, Args)]
struct Shown {
    /// Transcript; `latest` is the newest in ./matches, - is stdin
    #[arg(required = true)]
    file: Option<String>,
    /// Print every position and event instead of opening the viewer
    #[arg(long)]
    print: bool,
    /// Turn to print, or to open the viewer at, from 0, or `start`. Defaults to all, or the last one
    #[arg(long)]
    turn: Option<TurnChoice>,
    #[command(flatten)]
    board: BoardOptions,
}

#[derive(Debug, Subcommand)]
enum Command {
    Export(export::Options),
    Import(import::Options),
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    match &options.command {
        None => show(&options.shown),
        Some(Command::Export(options)) => export::run(options, global).map(success),
        Some(Command::Import(options)) => import::run(options, global).map(success),
    }
}

fn show(options: &Shown) -> Result<ExitCode, Failure> {
    // clap requires a file unless there is a subcommand.
    let file = options.file.as_deref().unwrap_or("latest");
    if !options.print && viewer::is_wanted(file) {
        return viewer::replay(file, options.turn, &options.board);
    }
    let bytes = read_transcript(file)?;
    let style = options.board.style(stdout_has_colour());
    reading::print(&bytes, file, options.turn, style.as_ref(), print).map(success)
}
