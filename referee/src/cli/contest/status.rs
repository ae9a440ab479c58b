//! `contest status`: how far a contest is, also while it is played.

use crate::cli::output::{aligned, print, print_json};
use crate::failure::Failure;
use crate::plain::tame;
use crate::shell::contest::folder::Folder;
pub(in crate::cli) use crate::shell::contest::results::Progress as Told;
use crate::shell::contest::results::progress;
use crate::shell::contest::store::Store;
use crate::shell::sandbox;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Tells how far a contest is.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The contest's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let folder = Folder::open(&options.folder)?;
    let told = progress(&folder, &Store::open(&folder)?)?;
    if options.json {
        print_json(&told)?;
        return Ok(ExitCode::SUCCESS);
    }
    let state = match (told.over, told.running) {
        (true, _) => "over",
        (false, true) => "running",
        (false, false) => "stopped",
    };
    let most = if told.games == told.games_most {
        told.games.to_string()
    } else {
        format!("{} to {}", told.games, told.games_most)
    };
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        row("contest", tame(&told.name)),
        row("format", format!("{}, {} players", told.format, told.players)),
        row("state", state.to_owned()),
        row("games", format!("{} of {most}", told.played)),
        row("faults", told.faults.to_string()),
        row("void", told.void.to_string()),
    ];
    if let Some(told) = &told.sandbox {
        rows.push(row("sandbox", tame(&sandbox::line(told))));
    }
    if !told.over && !told.running {
        rows.push(row("go on", super::run::resume_command(&folder)));
    }
    print(&aligned(&rows))?;
    Ok(ExitCode::SUCCESS)
}
