//! `replay`: a recorded match, shown here, written as a file of another kind, or read from one.

mod export;
mod notation;
mod import;

use super::output::{BoardOptions, print, stdout_has_colour};
use super::{Global, success, viewer};
use crate::reading;
use clap::{Args, Subcommand};
use referee_play::input_files::read_transcript;
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
    shown: Shown,
}

/// What is shown of a recorded match, and how.
#[derive(Debug, Args)]
struct Shown {
    /// The transcript; `latest` is the newest in ./matches, `-` is stdin
    #[arg(required = true)]
    file: Option<String>,
    /// Prints every position and what happened, one below the other
    #[arg(long)]
    print: bool,
    /// Only this turn; the viewer opens at it
    #[arg(long)]
    turn: Option<u64>,
    #[command(flatten)]
    board: BoardOptions,
}

/// What each says of itself stands at its options.
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
    // Only a subcommand needs no file, and then nothing is shown here.
    let file = options.file.as_deref().unwrap_or("latest");
    if !options.print && viewer::is_wanted(file) {
        return viewer::replay(file, options.turn, &options.board);
    }
    let bytes = read_transcript(file)?;
    let style = options.board.style(stdout_has_colour());
    reading::print(&bytes, file, options.turn, style.as_ref(), print).map(success)
}
