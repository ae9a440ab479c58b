//! `contest status`: the progress of a contest, also while it runs.

use crate::cli::output::{print, print_json};
use crate::reading::report::aligned;
use clap::Args;
use referee_match::times::show_time;
use referee_process::{Failure, sandbox};
use referee_protocol::plain::sanitize;
use referee_runner::folder::Folder;
use referee_runner::results;
pub(crate) use referee_runner::results::Progress;
use referee_runner::store::Store;
use referee_runner::workers::{KnownWorker, read, since_last_seen};
use std::path::PathBuf;

/// Show the progress of a contest
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest status contests/autumn\n  \
    referee contest status contests/autumn --json")]
pub(super) struct Options {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let folder = Folder::open(&options.folder)?;
    let progress = results::progress(&folder, &Store::open_to_read(&folder)?)?;
    if options.json {
        return print_json(&progress);
    }
    let state = match (progress.over, progress.running) {
        (true, _) => "over",
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
        rows.push(row("resume", super::run::resume_command(&folder, &read(&folder).on)));
    }
    print(&aligned(&rows))?;
    if progress.workers.is_empty() {
        return Ok(());
    }
    print(&format!("\n{}", aligned(&workers(&progress))))
}

/// Returns the table of workers, of a contest on many machines.
fn workers(progress: &Progress) -> Vec<Vec<String>> {
    let head = ["worker", "class", "busy", "played", "speed", "sandbox"];
    let now = ["last seen", "state"];
    let dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let row = |worker: &KnownWorker| {
        let sandbox = worker.sandbox.as_ref().map(|sandbox| sanitize(&sandbox.level));
        let busy = if progress.running { worker.games.len() } else { 0 };
        let mut row = vec![
            dash(sanitize(&worker.name)),
            dash(sanitize(&worker.class)),
            format!("{busy} of {}", worker.slots),
            worker.played.to_string(),
            format!("{:.0}", worker.speed),
            dash(sandbox.unwrap_or_default()),
        ];
        if progress.running {
            row.extend([dash(last_seen(worker)), sanitize(&worker.state())]);
        }
        row
    };
    let now = now.iter().filter(|_| progress.running);
    let head = head.iter().chain(now).map(|&text| text.to_owned()).collect();
    std::iter::once(head).chain(progress.workers.iter().map(row)).collect()
}

/// Returns when a worker last reported; empty if not known.
fn last_seen(worker: &KnownWorker) -> String {
    match since_last_seen(worker).map(|it| it.as_secs()) {
        None => String::new(),
        Some(0) => "now".to_owned(),
        Some(seconds) => show_time(seconds * 1000) + " ago",
    }
}
