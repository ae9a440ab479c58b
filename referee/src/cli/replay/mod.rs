//! `replay`: shows, exports and imports matches.

mod export;
mod list;
mod notation;
mod video;
mod import;

use super::global::{Global, success};
use super::output::{BoardOptions, print, print_json, stdout_has_colour};
use super::viewer;
use crate::reading::{self, TurnChoice};
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
pub(super) use list::MatchesReport;
use referee_games::Games;
use referee_match::transcript::{Viewable, viewable};
use referee_play::destination::DEFAULT_FOLDER;
use referee_play::input_files::read_transcript;
use referee_process::Failure;
use referee_protocol::Seat;
use std::path::Path;
use std::process::ExitCode;

/// Step through a recorded match, list the newest ones, or export or import one
///
/// Without a file, lists the matches in ./matches. With one, opens a viewer on a terminal (press ? for its
/// keys). Without a terminal, or with --print, prints every position. Follows a match that is still running.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee replay\n  \
    referee replay latest --lost mybot\n  \
    referee replay matches/x.jsonl --print --turn 12")]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    shown: Shown,
}

/// The options that show a match.
#[derive(Debug, Args)]
struct Shown {
    /// Transcript; `latest` is the newest in ./matches, a number is that of the list, - is stdin. A
    /// folder is listed. Defaults to a list of ./matches
    file: Option<String>,
    /// Show the newest match that this agent lost (its name or AGENT), in ./matches or the folder FILE
    #[arg(long, value_name = "AGENT")]
    lost: Option<String>,
    /// Number of matches to list
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "lost")]
    count: usize,
    /// Print every position and event instead of opening the viewer
    #[arg(long)]
    print: bool,
    /// Turn to print, or to open the viewer at, from 0, or `start`. Defaults to all, or the last one
    #[arg(long)]
    turn: Option<TurnChoice>,
    /// Show a game with hidden information as this seat saw it, instead of everything
    #[arg(long, value_name = "SEAT", value_parser = clap::value_parser!(u8).map(Seat))]
    seen_by: Option<Seat>,
    /// Print one JSON object: the match with its plies, or the list
    #[arg(long, conflicts_with_all = ["print", "turn", "seen_by"])]
    json: bool,
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
        None => show(&options.shown, global),
        Some(Command::Export(options)) => export::run(options, global).map(success),
        Some(Command::Import(options)) => import::run(options, global).map(success),
    }
}

fn show(options: &Shown, global: &Global) -> Result<ExitCode, Failure> {
    let file = match &options.file {
        Some(file) if file != "latest" && !Path::new(file).is_dir() => {
            if options.lost.is_some() {
                let text = format!("--lost needs a folder or `latest`, not {file}");
                return Err(Failure::usage(text));
            }
            let number = file.parse().ok().filter(|_| !Path::new(file).exists());
            number.map_or_else(|| Ok(file.into()), list::numbered)?
        }
        folder => {
            let named = folder.as_deref().filter(|name| Path::new(name).is_dir());
            let place = Path::new(named.unwrap_or(DEFAULT_FOLDER));
            match &options.lost {
                Some(agent) => list::lost(place, agent)?,
                None if named.is_none() && folder.is_some() => "latest".into(),
                None => return list::list(place, options.count, options.json).map(success),
            }
        }
    };
    let games = global.games(&file)?.seen_by(options.seen_by);
    let file = &file.to_string_lossy();
    if options.json {
        let bytes = read_transcript(file)?;
        let shown = shown_by(&bytes, &games, global);
        return print_json(&reading::match_report(&bytes, &shown.games, file)?).map(success);
    }
    if !options.print && viewer::is_wanted(file) {
        return viewer::replay(file, &games, options.turn, &options.board);
    }
    let bytes = read_transcript(file)?;
    let Viewable { games, missing } = shown_by(&bytes, &games, global);
    let style = options.board.style(stdout_has_colour()).filter(|_| missing.is_none());
    reading::print(&bytes, &games, file, options.turn, style.as_ref(), print).map(success)
}

/// Returns the games by which a match can be shown, and says what can't be shown without its rules.
fn shown_by(bytes: &[u8], games: &Games, global: &Global) -> Viewable {
    let shown = viewable(bytes, games);
    let missing = shown.missing.iter();
    global.note(missing.map(|missing| format!("{missing}; showing what needs no rules")));
    shown
}
