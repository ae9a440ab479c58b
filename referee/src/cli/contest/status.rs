//! `contest status`: the progress of a contest, also while it runs.

use crate::cli::fleet::{StatusServer, last_server};
use crate::cli::output::{print, print_json};
use crate::cli::worker_rows::worker_rows;
use crate::reading::report::aligned;
use clap::Args;
use referee_process::{Failure, sandbox};
use referee_protocol::sanitize::sanitize;
use referee_runner::course;
use referee_runner::folder::Folder;
pub(crate) use referee_runner::results::Progress;
use referee_runner::store::Store;
use std::path::PathBuf;

/// Show the progress of a contest, or all contests on a server
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest status contests/autumn\n  \
    referee contest status contests/autumn --json")]
pub(super) struct Options {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: StatusServer,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    if options.server.print(options.json)? {
        return Ok(());
    }
    let missing = || Failure::usage("no contest is given").help(StatusServer::WHAT_TO_GIVE);
    let folder = options.folder.as_ref().ok_or_else(missing)?;
    let folder = Folder::open(folder)?;
    let progress = course::progress(&folder, &Store::open_to_read(&folder)?)?;
    if options.json {
        return print_json(&progress);
    }
    let state = match (progress.over, progress.running) {
        (true, _) => "over",
        (false, true) if progress.played == progress.games_most => "waits for new agents",
        (false, true) => "running",
        (false, false) => "stopped",
    };
    let most = if progress.games == progress.games_most {
        progress.games.to_string()
    } else {
        format!("{} to {}", progress.games, progress.games_most)
    };
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        row("contest", sanitize(&progress.name)),
        row("format", format!("{}, {} players", progress.format, progress.players)),
        row("state", state.to_owned()),
        row("games", format!("{} of {most}", progress.played)),
        row("faults", progress.faults.to_string()),
        row("void", progress.void.to_string()),
    ];
    rows.extend(progress.void_caused.iter().map(|caused| row("", caused.text())));
    if let Some(progress) = &progress.sandbox {
        rows.push(row("sandbox", sanitize(&sandbox::line(progress))));
    }
    if !progress.over && !progress.running {
        rows.push(row("resume", super::run::resume_command(&folder, &last_server(&folder))));
    }
    print(&aligned(&rows))?;
    if progress.workers.is_empty() {
        return Ok(());
    }
    print(&format!("\n{}", aligned(&worker_rows(&progress.workers, progress.running))))
}
