//! `contest run` and `contest resume`: from a contest file, or from where a run stopped, to the end.

use super::going::{Going, go_on};
use super::place::Place;
use super::written::prepare_built;
use crate::cli::Global;
use crate::cli::fleet::{FleetOptions, note_elsewhere};
use crate::cli::runtime::{machine, runtime};
use crate::cli::words::contest_command;
use clap::Args;
use referee_contest::Contest;
use referee_process::Failure;
use referee_process::sandbox::Wish;
use referee_protocol::plain::tame;
use referee_protocol::{Level, LevelChoice};
use referee_runner::folder::Folder;
use referee_runner::store::{Kept, Store};
use referee_runner::{Prepared, prepare_again};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The folder that contests go to unless they are sent elsewhere.
const DEFAULT_FOLDER: &str = "contests";

/// Plays a contest.
///
/// Everything goes to one folder: the store, a transcript a game, and at the end the report. Killed
/// at any moment, `contest resume` goes on with it. The first Ctrl-C starts nothing new and plays what
/// is under way to its end, the second stops at once. Enter or SIGUSR1 shows the standings.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    referee contest run contest.toml\n  \
    referee contest run contest.toml --out autumn --jobs 4\n  \
    referee contest run contest.toml --on nats://localhost")]
pub(super) struct RunOptions {
    /// The contest file
    file: PathBuf,
    /// The contest's folder; ./contests/NAME unless it is given
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    going: GoingOptions,
}

/// Goes on with a contest that was interrupted, however that came about.
#[derive(Debug, Args)]
pub(super) struct ResumeOptions {
    /// The contest's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    going: GoingOptions,
}

/// What every command takes that plays a contest.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct GoingOptions {
    /// How many matches may run at once; what the file says, or as many as there are cores
    #[arg(long, short, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) jobs: Option<u64>,
    /// Prints one JSON object at the end
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) fleet: FleetOptions,
}

pub(super) fn run(options: &RunOptions, global: &Global) -> Result<ExitCode, Failure> {
    let prepared = prepare_built(&options.file, global)?;
    begin(prepared, options.out.as_deref(), &options.going, global)
}

/// Begins a contest in a folder of its own.
pub(crate) fn begin(
    prepared: Prepared,
    out: Option<&Path>,
    options: &GoingOptions,
    global: &Global,
) -> Result<ExitCode, Failure> {
    // Before anything is written: a machine that doesn't give what the file demands leaves no trace.
    let wish = prepared.wish();
    let runtime = runtime()?;
    let place = Place::choose(&wish, &prepared, options, &runtime, global)?;
    let default = || Path::new(DEFAULT_FOLDER).join(file_name(&prepared.contest.name));
    let root = out.map_or_else(default, Path::to_owned);
    let folder = Folder::create(&root)?;
    let _lock = folder.lock()?;
    // Somebody else may have begun one since.
    let folder = Folder::create(folder.root())?;
    let kept = prepared.kept(jiff::Timestamp::now().to_string(), place.apart().cloned());
    std::fs::write(folder.file(), &kept.text).map_err(machine(folder.file().display()))?;
    let store = Store::create(&folder, &kept)?;
    global.note(prepared.remarks());
    place.tell(&wish, global);
    let (begun, options) = (kept.begun, options.clone());
    go_on(Going { prepared, folder, store, place, begun, runtime, options }, global)
}

/// A folder for a contest of this name where there is none yet.
pub(crate) fn free_folder(name: &str) -> Result<PathBuf, Failure> {
    let stem = Path::new(DEFAULT_FOLDER).join(file_name(name));
    let numbered =
        (2..10_000).map(|number| stem.with_file_name(format!("{}-{number}", file_name(name))));
    let mut folders = std::iter::once(stem.clone()).chain(numbered);
    folders.find(|folder| !folder.exists()).ok_or_else(|| {
        Failure::usage(format!("{}: there are too many of them", stem.display()))
            .help("--out names the folder")
    })
}

/// A contest's name as a folder's.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_start_matches('.').to_owned();
    if name.is_empty() { "contest".to_owned() } else { name }
}

pub(super) fn resume(options: &ResumeOptions, global: &Global) -> Result<ExitCode, Failure> {
    let folder = Folder::open(&options.folder)?;
    let _lock = folder.lock()?;
    let mut store = Store::open(&folder)?;
    let kept = store.kept()?;
    let prepared = prepare_again(&kept, &folder.file()).map_err(|failure| not_resumed(&failure))?;
    same(&kept.contest, &prepared.contest)?;
    let wish = wish_again(&kept, prepared.wish());
    let runtime = runtime()?;
    let place = Place::choose(&wish, &prepared, &options.going, &runtime, global)
        .map_err(|failure| not_resumed(&failure))?;
    if let Some(apart) = place.apart() {
        store.add_session(&jiff::Timestamp::now().to_string(), apart)?;
    }
    if matches!(place, Place::Here(_)) {
        note_elsewhere(&folder, global);
    }
    place.tell(&wish, global);
    let (begun, options) = (kept.begun, options.going.clone());
    go_on(Going { prepared, folder, store, place, begun, runtime, options }, global)
}

fn not_resumed(failure: &Failure) -> Failure {
    let text = format!("the contest can't be resumed: {failure}");
    let help = failure.help_text().map(str::to_owned);
    Failure::new(failure.code(), text).or_help(help)
}

/// What agents are to be started in now: games of one contest are played behind the same walls, or
/// higher ones.
fn wish_again(kept: &Kept, mut wish: Wish) -> Wish {
    let begun = kept.sandbox.as_ref().and_then(|told| told.level.parse::<Level>().ok());
    if let Some(begun) = begun.filter(|_| wish.level == LevelChoice::Auto) {
        wish.at_least = Some(wish.at_least.map_or(begun, |least| least.max(begun)));
    }
    wish
}

/// Whether the contest is still the one that was begun.
fn same(begun: &Contest, now: &Contest) -> Result<(), Failure> {
    if begun == now {
        return Ok(());
    }
    let mut changed = Vec::new();
    for player in &begun.players {
        let name = tame(&player.name);
        match now.players.iter().find(|other| other.name == player.name) {
            None => changed.push(format!("{name} is gone")),
            Some(other) if other.digest != player.digest => {
                changed.push(format!("{name} has changed"));
            }
            Some(_) => {}
        }
    }
    for player in &now.players {
        if begun.players.iter().all(|other| other.name != player.name) {
            changed.push(format!("{} is new", tame(&player.name)));
        }
    }
    if changed.is_empty() {
        changed.push("a file that it names has changed".to_owned());
    }
    Err(Failure::operation(format!(
        "the contest is no longer the one that was begun: {}",
        changed.join(", ")
    ))
    .help(
        "put back what was there, or begin a new contest: games of other agents don't belong in it",
    ))
}

/// The command that goes on with a contest; `where_to` says where its games are played.
pub(super) fn resume_command(folder: &Folder, where_to: &[String]) -> String {
    contest_command("resume", folder, where_to)
}
