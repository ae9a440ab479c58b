//! `contest status`: how far a contest is, also while it is played.

use crate::cli::output::{aligned, print, print_json};
use crate::contest::Schedule;
use crate::failure::Failure;
use crate::plain::tame;
use crate::shell::contest::folder::Folder;
use crate::shell::contest::store::Store;
use crate::shell::sandbox;
use clap::Args;
use referee_protocol::Sandbox;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

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

/// A contest as `contest status --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct Told {
    /// The contest's name.
    name: String,
    /// The format's name.
    format: String,
    /// How many play.
    players: u64,
    /// How many games the contest has: exactly when it is over and in formats where that doesn't
    /// depend on results, else at least.
    games: u64,
    /// At most.
    games_most: u64,
    /// Games that count.
    played: u64,
    /// Attempts that don't count; their games were or will be played again.
    void: u64,
    /// Faults, over all agents.
    faults: u64,
    /// What kept agents apart when it was begun; null where an earlier version began it.
    sandbox: Option<Sandbox>,
    /// Everything is played.
    over: bool,
    /// A referee is working on it now.
    running: bool,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let folder = Folder::open(&options.folder)?;
    let told = look(&folder)?;
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

/// How far it is.
pub(super) fn look(folder: &Folder) -> Result<Told, Failure> {
    let running = folder.is_locked();
    let store = Store::open(folder)?;
    let kept = store.kept()?;
    let contest = Arc::new(kept.contest);
    let mut schedule = Schedule::new(contest.clone());
    store.each_result(|number, places| {
        schedule.record(number, places);
    })?;
    let (least, most) = schedule.size();
    let (over, played) = (schedule.is_over(), schedule.played());
    let exact = over.then(|| schedule.counted());
    Ok(Told {
        name: contest.name.clone(),
        format: contest.format.name().to_owned(),
        players: contest.players.len() as u64,
        games: exact.unwrap_or_else(|| least.max(schedule.known().min(most))),
        games_most: exact.unwrap_or(most),
        played: played.min(exact.unwrap_or(u64::MAX)),
        void: store.voids()?.len() as u64,
        faults: store.faults()?,
        sandbox: kept.sandbox,
        over,
        running,
    })
}
