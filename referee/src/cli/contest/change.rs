//! `contest add`, `replace`, `drop`, `rerun` and `forfeit`: changes of a contest that has begun.

use super::report::{of_folder, write_all};
use super::run::resume_command;
use crate::cli::bars::{advance, count_bar};
use crate::cli::fleet::last_server;
use crate::cli::global::Global;
use crate::cli::output::eprint_line;
use clap::Args;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize_line;
use referee_runner::changing::{Changing, GamesOf};
use referee_runner::folder::Folder;
use std::path::PathBuf;

/// Add a late player to a contest
///
/// Its games are added after the known ones; no other game changes. `contest resume` plays them.
/// Formats that fix their players at the start, such as knockouts, refuse it.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest add contests/autumn late/team7 --reason \"handed in with an extension\"")]
pub(super) struct AddOptions {
    #[command(flatten)]
    change: ChangeOptions,
    /// Submission: a folder or a file
    path: PathBuf,
    /// Name of the player. Defaults to that of the folder or file
    #[arg(long)]
    name: Option<String>,
}

/// Replace an agent of a contest with a new version
///
/// Removes the results of its games, and `contest resume` plays them again. In formats whose
/// pairings depend on results, this concerns only the last round.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest replace contests/autumn team7 fixed/team7 --reason \"wrong file handed in\"")]
pub(super) struct ReplaceOptions {
    #[command(flatten)]
    change: ChangeOptions,
    /// Player
    name: String,
    /// New submission: a folder or a file
    path: PathBuf,
}

/// Let a player leave a contest
///
/// Its results stay. It forfeits all games that were not played. With --back it returns and also plays the games that
/// it forfeited, unless later pairings depend on them.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest drop contests/autumn team7 --reason \"left the course\"\n  \
    referee contest drop contests/autumn team7 --back --reason \"is in the course again\"")]
pub(super) struct DropOptions {
    #[command(flatten)]
    change: ChangeOptions,
    /// Player
    name: String,
    /// Let the player come back instead
    #[arg(long)]
    back: bool,
}

/// Mark games of a contest to be played again
///
/// Removes their results, and `contest resume` plays them again. Takes back a forfeit.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest rerun contests/autumn 17 18 --reason \"the machine was overloaded\"\n  \
    referee contest rerun contests/autumn --agent team7 --reason \"its data file was missing\"")]
pub(super) struct RerunOptions {
    #[command(flatten)]
    change: ChangeOptions,
    /// Numbers of games
    #[arg(value_name = "GAME", required_unless_present = "agent")]
    games: Vec<u64>,
    /// All games of this player
    #[arg(long, value_name = "NAME", conflicts_with = "games")]
    agent: Option<String>,
}

/// Decide that a player loses a game
///
/// The game is not played, and any result that it has is removed. Ratings leave it out.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest forfeit contests/autumn 17 --loser team7 --reason \"copied its opponent\"")]
pub(super) struct ForfeitOptions {
    #[command(flatten)]
    change: ChangeOptions,
    /// Number of the game
    game: u64,
    /// Player who loses
    #[arg(long, value_name = "NAME")]
    loser: String,
}

/// The options that all changes need.
#[derive(Debug, Args)]
struct ChangeOptions {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Reason, which the report shows
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    reason: String,
}

/// Reads a reason: one line, not empty.
fn reason(text: &str) -> Result<String, String> {
    let line = sanitize_line(text.trim());
    if line.is_empty() { Err("give a reason".to_owned()) } else { Ok(line) }
}

impl ChangeOptions {
    /// Changes the contest, and writes its report again.
    fn apply(
        &self,
        change: impl FnOnce(Changing) -> Result<String, Failure>,
        global: &Global,
    ) -> Result<(), Failure> {
        let folder = Folder::open(&self.folder)?;
        let _lock = folder.lock()?;
        let done = change(Changing::open(&folder, &self.reason)?)?;
        let results = of_folder(&folder)?;
        write_all(&folder, &results)?;
        if !global.quiet {
            eprint_line(&done);
            if !results.report.progress.over {
                let command = resume_command(&folder, &last_server(&folder));
                eprint_line(&format!("play what is missing: {command}"));
            }
        }
        Ok(())
    }
}

pub(super) fn add(options: &AddOptions, global: &Global) -> Result<(), Failure> {
    let AddOptions { change, path, name } = options;
    let bar = count_bar("building", !global.quiet);
    let progress = |done, of| advance(&bar, done, of);
    change.apply(|contest| contest.add(path, name.as_deref(), &progress), global)
}

pub(super) fn replace(options: &ReplaceOptions, global: &Global) -> Result<(), Failure> {
    let ReplaceOptions { change, name, path } = options;
    let bar = count_bar("building", !global.quiet);
    let progress = |done, of| advance(&bar, done, of);
    change.apply(|contest| contest.replace(name, path, &progress), global)
}

pub(super) fn drop_player(options: &DropOptions, global: &Global) -> Result<(), Failure> {
    let change = if options.back { Changing::come_back } else { Changing::withdraw };
    options.change.apply(|contest| change(contest, &options.name), global)
}

pub(super) fn rerun(options: &RerunOptions, global: &Global) -> Result<(), Failure> {
    let numbers = || GamesOf::Numbers(options.games.clone());
    let games = options.agent.clone().map_or_else(numbers, GamesOf::Player);
    options.change.apply(|contest| contest.replay(&games), global)
}

pub(super) fn forfeit(options: &ForfeitOptions, global: &Global) -> Result<(), Failure> {
    options.change.apply(|contest| contest.forfeit(options.game, &options.loser), global)
}
