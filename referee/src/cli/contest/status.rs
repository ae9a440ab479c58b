//! `contest status`: how far a contest is, also while it is played.

use crate::cli::output::{print, print_json};
use crate::reading::report::aligned;
use clap::Args;
use referee_match::times::show_time;
use referee_process::{Failure, sandbox};
use referee_protocol::plain::tame;
use referee_runner::folder::Folder;
pub(crate) use referee_runner::results::Progress as Told;
use referee_runner::results::progress;
use referee_runner::store::Store;
use referee_runner::workers::{WorkerTold, read, silence};
use std::path::PathBuf;

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

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let folder = Folder::open(&options.folder)?;
    let told = progress(&folder, &Store::open(&folder)?)?;
    if options.json {
        return print_json(&told);
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
        rows.push(row("go on", super::run::resume_command(&folder, &read(&folder).on)));
    }
    print(&aligned(&rows))?;
    if told.workers.is_empty() {
        return Ok(());
    }
    print(&format!("\n{}", aligned(&workers(&told))))
}

/// Who plays it, where that is on many machines; who has played it, where nobody does.
fn workers(told: &Told) -> Vec<Vec<String>> {
    let head = ["worker", "class", "busy", "played", "speed", "sandbox"];
    let now = ["heard of", "state"];
    let dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let row = |worker: &WorkerTold| {
        let sandbox = worker.sandbox.as_ref().map(|sandbox| tame(&sandbox.level));
        let busy = if told.running { worker.games.len() } else { 0 };
        let mut row = vec![
            dash(tame(&worker.name)),
            dash(tame(&worker.class)),
            format!("{busy} of {}", worker.slots),
            worker.played.to_string(),
            format!("{:.0}", worker.speed),
            dash(sandbox.unwrap_or_default()),
        ];
        if told.running {
            row.extend([dash(silent(worker)), tame(&worker.state())]);
        }
        row
    };
    let now = now.iter().filter(|_| told.running);
    let head = head.iter().chain(now).map(|&text| text.to_owned()).collect();
    std::iter::once(head).chain(told.workers.iter().map(row)).collect()
}

/// For how long nothing was heard of a worker; empty where that isn't known.
fn silent(worker: &WorkerTold) -> String {
    match silence(worker).map(|it| it.as_secs()) {
        None => String::new(),
        Some(0) => "now".to_owned(),
        Some(seconds) => show_time(seconds * 1000) + " ago",
    }
}
