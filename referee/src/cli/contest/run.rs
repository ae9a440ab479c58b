//! `contest run` and `contest resume`.

use super::deadline::DeadlineOptions;
use super::generated::prepare_built;
use super::running::{ContestRun, play_contest};
use super::venue::Venue;
use crate::cli::bars::{advance, count_bar};
use crate::cli::fleet::{FleetOptions, note_elsewhere};
use crate::cli::global::Global;
use crate::cli::runtime::{machine, runtime};
use crate::cli::shell::contest_command;
use clap::Args;
use referee_process::Failure;
use referee_process::sandbox::SandboxRequest;
use referee_protocol::{Level, LevelChoice};
use referee_runner::course::is_course;
use referee_runner::folder::{Folder, GAMES_FOLDER, Lock};
use referee_runner::store::{Store, StoredContest};
use referee_runner::{Broken, Prepared, prepare_again, sandbox_request, sums};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::runtime::Runtime;

/// The default parent folder of contests.
const DEFAULT_FOLDER: &str = "contests";

/// Run a contest from a contest file
///
/// Everything is in one folder: the store, a transcript per game, and finally the report. `contest resume`
/// continues after any interruption. The first Ctrl-C finishes the running games, the second stops at
/// once. Enter or SIGUSR1 prints the standings.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 all games played, 2 usage error, 4 machine failure or games that could not be played, 130/143/129 interrupted by INT, \
    TERM, HUP\n\nExamples:\n  \
    referee contest run contest.toml\n  \
    referee contest run contest.toml --out autumn --jobs 4"
)]
pub(super) struct RunOptions {
    /// Contest file
    file: PathBuf,
    /// Folder to create for the contest. Defaults to ./contests/NAME
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    shared: SharedRunOptions,
}

/// Resume an interrupted contest
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest resume contests/autumn\n  \
    referee contest resume contests/autumn --jobs 4")]
pub(super) struct ResumeOptions {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    shared: SharedRunOptions,
}

/// The options of every command that runs a contest.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SharedRunOptions {
    /// Number of matches to run at once, 1 to 10000. Defaults to the contest file, else the number of
    /// cores
    #[arg(long, short, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) jobs: Option<u64>,
    /// Print one JSON object at the end
    #[arg(long)]
    pub(crate) json: bool,
    /// Serve metrics for Prometheus (/metrics) and a health check (/healthz) at this address, such as
    /// 127.0.0.1:9464. Anyone who reaches it can read them. Defaults to none
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) metrics: Option<String>,
    #[command(flatten)]
    pub(crate) deadline: DeadlineOptions,
    #[command(flatten)]
    pub(crate) fleet: FleetOptions,
}

pub(super) fn run(options: &RunOptions, global: &Global) -> Result<ExitCode, Failure> {
    let prepared = prepare_built(&options.file, Broken::AsWritten, global)?;
    begin(prepared, options.out.as_deref(), &options.shared, global)
}

/// Runs a contest in a new folder.
pub(crate) fn begin(
    prepared: Prepared,
    out: Option<&Path>,
    options: &SharedRunOptions,
    global: &Global,
) -> Result<ExitCode, Failure> {
    let runtime = runtime()?;
    let (run, _lock) = created(prepared, out, options, &runtime, global)?;
    play_contest(run, runtime, global)
}

/// Creates the folder of a new contest.
pub(super) fn created(
    mut prepared: Prepared,
    out: Option<&Path>,
    options: &SharedRunOptions,
    runtime: &Runtime,
    global: &Global,
) -> Result<(ContestRun, Lock), Failure> {
    // Nothing is written before the sandbox or the server is known to work.
    let request = sandbox_request(&prepared.contest.sandbox, prepared.base.clone());
    let mut venue = Venue::choose(&request, &mut prepared, options, runtime, global)?;
    let default = || Path::new(DEFAULT_FOLDER).join(file_name(&prepared.contest.name));
    let root = out.map_or_else(default, Path::to_owned);
    let folder = Folder::create(&root)?;
    let lock = folder.lock()?;
    // Another process may have created one since.
    let folder = Folder::create(folder.root())?;
    let bar = count_bar("copying the agents", !global.quiet);
    let games = folder.path(GAMES_FOLDER);
    std::fs::create_dir_all(&games).map_err(machine(games.display()))?;
    prepared.copy_games(&folder)?;
    prepared.copy_agents(&folder, &|done, of| advance(&bar, done, of))?;
    while !venue.has(&mut prepared, global)? {
        prepared.copy_agents(&folder, &|done, of| advance(&bar, done, of))?;
    }
    bar.finish_and_clear();
    let stored = prepared.to_stored(jiff::Timestamp::now().to_string(), venue.sandbox().cloned());
    std::fs::write(folder.file(), &stored.text).map_err(machine(folder.file().display()))?;
    let store = Store::create(&folder, &stored)?;
    sums::write(&folder, &store)?;
    global.note(prepared.remarks());
    venue.print(&request, global);
    let (begun, options) = (stored.begun, options.clone());
    Ok((ContestRun { prepared, folder, store, venue, begun, options }, lock))
}

/// Returns an unused folder for a contest of this name.
pub(crate) fn free_folder(name: &str) -> Result<PathBuf, Failure> {
    let stem = Path::new(DEFAULT_FOLDER).join(file_name(name));
    let numbered =
        (2..10_000).map(|number| stem.with_file_name(format!("{}-{number}", file_name(name))));
    let mut folders = std::iter::once(stem.clone()).chain(numbered);
    folders.find(|folder| !folder.exists()).ok_or_else(|| {
        Failure::usage(format!("{}: too many contests have this name", stem.display()))
            .help("name the folder with --out")
    })
}

/// Returns a contest's name as a folder name.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_start_matches('.').to_owned();
    if name.is_empty() { "contest".to_owned() } else { name }
}

pub(super) fn resume(options: &ResumeOptions, global: &Global) -> Result<ExitCode, Failure> {
    let folder = Folder::open(&options.folder)?;
    let _lock = folder.lock()?;
    let runtime = runtime()?;
    let run = reopened(folder, &options.shared, &runtime, global)?;
    play_contest(run, runtime, global)
}

/// Opens a contest's folder, which is locked, to play what is missing.
pub(super) fn reopened(
    folder: Folder,
    options: &SharedRunOptions,
    runtime: &Runtime,
    global: &Global,
) -> Result<ContestRun, Failure> {
    let mut store = Store::open(&folder)?;
    let stored = store.contest()?;
    let mut prepared =
        prepare_again(&stored, &folder).map_err(|failure| cannot_resume(&failure))?;
    let request =
        resumed_request(&stored, sandbox_request(&prepared.contest.sandbox, prepared.base.clone()));
    let venue = Venue::choose(&request, &mut prepared, options, runtime, global)
        .map_err(|failure| cannot_resume(&failure))?;
    // Without the report, which is written anew.
    sums::write(&folder, &store).map_err(|failure| cannot_resume(&failure))?;
    if let Some(sandbox) = venue.sandbox() {
        store.add_session(&jiff::Timestamp::now().to_string(), sandbox)?;
    }
    if matches!(venue, Venue::Local(_)) {
        note_elsewhere(&folder, global);
    }
    venue.print(&request, global);
    let (begun, options) = (stored.begun, options.clone());
    Ok(ContestRun { prepared, folder, store, venue, begun, options })
}

fn cannot_resume(failure: &Failure) -> Failure {
    let text = format!("cannot resume the contest: {failure}");
    let help = failure.help_text().map(str::to_owned);
    Failure::new(failure.kind(), text).or_help(help)
}

/// Returns the sandbox to request when a contest is resumed: at least as strong as before.
fn resumed_request(stored: &StoredContest, mut request: SandboxRequest) -> SandboxRequest {
    let begun = stored.sandbox.as_ref().and_then(|sandbox| sandbox.level.parse::<Level>().ok());
    if let Some(begun) = begun.filter(|_| request.level == LevelChoice::Auto) {
        request.at_least = Some(request.at_least.map_or(begun, |least| least.max(begun)));
    }
    request
}

/// Returns the command that resumes a contest. `venue` are the arguments that choose the server.
pub(super) fn resume_command(folder: &Folder, venue: &[String]) -> String {
    if is_course(folder) {
        // Its teams hand in again, too.
        return contest_command("open", folder, &["--web".to_owned()]);
    }
    contest_command("resume", folder, venue)
}
