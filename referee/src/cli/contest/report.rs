//! `contest report`: the results, as text, documents and data.

use super::replay_pages::write_pages;
use super::run::resume_command;
use crate::cli::bars::spinner;
use crate::cli::fleet::last_server;
use crate::cli::global::Global;
use crate::cli::output::{check_new, print_by, stdout_is_terminal};
use crate::cli::shell::join;
use clap::{Args, ValueEnum};
use referee_contest::report::{Command, Layout, Report};
use referee_contest::sprt::Summary;
use referee_contest::sprt::render::Names;
use referee_contest::summary::report;
use referee_contest::{Contest, PlayerInfo, Record, Schedule};
use referee_play::replace_file::replace_by;
use referee_process::Failure;
use referee_runner::course::is_awaiting_teams;
use referee_runner::folder::Folder;
use referee_runner::records::StoredRecords;
use referee_runner::results::{self, report_failure};
use referee_runner::store::{Store, StoredContest};
use referee_runner::sums;
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The page in the contest's folder.
const PAGE: &str = "report.html";
/// All report files in the contest's folder.
pub(in crate::cli) const FILES: [(&str, Form); 5] = [
    ("report.json", Form::Json),
    (PAGE, Form::Html),
    ("report.md", Form::Markdown),
    ("standings.csv", Form::Csv),
    ("games.csv", Form::GamesCsv),
];

/// Report standings, ratings, cross table, faults and time use
///
/// Works at any time, also while the contest runs. `contest run` writes the page and the tables to the
/// contest's folder when it ends.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest report contests/autumn\n  \
    referee contest report contests/autumn --out results.html\n  \
    referee contest report contests/autumn --out results.svg")]
pub(super) struct Options {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Format of the report. Defaults to the ending of --out, else text
    #[arg(long, value_enum)]
    format: Option<Form>,
    /// File to write: .html, .svg, .md, .csv, .json or .txt. Defaults to stdout
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite the file named by --out
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long, conflicts_with_all = ["format", "out"])]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Form {
    /// Text
    Text,
    /// Markdown
    Markdown,
    /// Standings as CSV
    Csv,
    /// Games as CSV
    GamesCsv,
    /// Everything as JSON
    Json,
    /// Self-contained page with charts
    Html,
    /// Ratings and cross table as a picture
    Svg,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let folder = Folder::open(&options.folder)?;
    let form = options.form()?;
    let spinner = spinner("computing the report", !global.quiet);
    let results = of_folder(&folder);
    spinner.finish_and_clear();
    let Results { report, .. } = results?;
    if form == Form::Svg && report.svg().is_none() {
        return Err(Failure::usage("there is nothing to draw: the contest has no ratings"));
    }
    let Some(file) = &options.out else {
        return print_by(|out| form.write(&report, "", out));
    };
    check_new("--out", file, options.force)?;
    let path = relative_path(file, folder.root())?;
    let written = File::create(file).map(BufWriter::new).and_then(|mut out| {
        form.write(&report, &path, &mut out)?;
        out.flush()
    });
    written.map_err(|error| report_failure(error, file))
}

impl Options {
    fn form(&self) -> Result<Form, Failure> {
        if self.json {
            return Ok(Form::Json);
        }
        if let Some(form) = self.format {
            return Ok(form);
        }
        let Some(file) = &self.out else { return Ok(Form::Text) };
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("html" | "htm") => Ok(Form::Html),
            Some("md") => Ok(Form::Markdown),
            Some("csv") => Ok(Form::Csv),
            Some("json") => Ok(Form::Json),
            Some("txt") => Ok(Form::Text),
            Some("svg") => Ok(Form::Svg),
            _ => Err(Failure::usage(format!("--out {}: unknown file ending", file.display()))
                .help("use .html, .svg, .md, .csv, .json or .txt, or add --format")),
        }
    }
}

impl Form {
    /// Writes the report in this format. `path` leads from its file to the contest's folder.
    pub(in crate::cli) fn write(
        self,
        report: &Report,
        path: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let text = match self {
            Self::Text => report.text(layout()),
            Self::Markdown => report.markdown(),
            Self::Csv => report.standings_csv(),
            Self::GamesCsv => return report.write_games_csv(out),
            Self::Html => report.html(path)?,
            Self::Svg => report.svg().unwrap_or_default(),
            Self::Json => {
                serde_json::to_writer(&mut *out, report)?;
                "\n".to_owned()
            }
        };
        out.write_all(text.as_bytes())
    }
}

/// The results in a contest's folder.
pub(super) struct Results {
    pub(super) report: Report,
    /// The contest.
    pub(super) contest: Arc<Contest>,
    schedule: Arc<Schedule>,
}

/// A comparison, as `compare --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct ComparisonReport {
    #[serde(flatten)]
    summary: Summary,
    /// The agents: the new one, then the old one.
    agents: Vec<ComparedAgent>,
}

/// An agent in [`ComparisonReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct ComparedAgent {
    /// Its name.
    name: String,
    /// The agent as given.
    agent: String,
    /// SHA-256 of the agent, in hex.
    digest: String,
}

impl ComparisonReport {
    pub(super) fn new(summary: Summary, contest: &Contest) -> Self {
        let agent = |PlayerInfo { name, run, digest }| ComparedAgent { name, agent: run, digest };
        Self { summary, agents: contest.players.iter().cloned().map(agent).collect() }
    }
}

/// Reads the results in a contest's folder.
pub(super) fn of_folder(folder: &Folder) -> Result<Results, Failure> {
    let store = Store::open_to_read(folder)?;
    of_stored(folder, &store.contest()?, &store)
}

/// Returns the results of a contest, whose games are in this store.
pub(super) fn of_stored(
    folder: &Folder,
    kept: &StoredContest,
    store: &Store,
) -> Result<Results, Failure> {
    let contest = Arc::new(kept.contest.clone());
    let schedule = Arc::new(results::schedule(contest.clone(), store)?);
    let commands = commands(folder, folder, &schedule);
    let games = StoredRecords { folder: folder.clone(), open: Store::open_to_read };
    let mut report = results::assemble(kept, &schedule, games, &store.voids()?, commands)?;
    report.progress.over &= !is_awaiting_teams(folder, &kept.text);
    Ok(Results { report, contest, schedule })
}

/// Returns the results of a series that is stored nowhere.
pub(in crate::cli) fn series(contest: &Arc<Contest>, records: &[Record]) -> Report {
    let mut records = records.to_vec();
    records.sort_by_key(|record| record.number);
    let schedule = Arc::new(Schedule::after(contest.clone(), &records));
    report(&schedule, Arc::new(records), None).expect("records in memory can be read")
}

/// Returns how tables are printed on stdout.
pub(in crate::cli) fn layout() -> Layout {
    if stdout_is_terminal() { Layout::Aligned } else { Layout::Tabs }
}

/// Returns the names of the two agents of `compare`.
pub(super) fn names(contest: &Contest) -> Names<'_> {
    let name = |index: usize| contest.players.get(index).map_or("", |player| player.name.as_str());
    Names { new: name(0), old: name(1) }
}

/// Returns the commands to show, with the name `named` for the contest's folder.
fn commands(folder: &Folder, named: &Folder, schedule: &Schedule) -> Vec<Command> {
    let command = |does: &str, line| Command { does: does.to_owned(), line };
    let root = named.root().display().to_string();
    let mut commands = vec![command("verify", join(&["referee", "verify", &root]))];
    if !schedule.is_over() {
        commands.push(command("resume", resume_command(named, &last_server(folder))));
    }
    commands
}

/// The files of a report that was written.
#[derive(Debug)]
pub(super) struct WrittenReport {
    pub(super) page: PathBuf,
    /// The SHA-256 of `SHA256SUMS`.
    pub(super) sums: String,
}

/// Writes the report files to the contest's folder, replacing older ones, and lists them in `SHA256SUMS`.
pub(super) fn write_all(folder: &Folder, results: &Results) -> Result<WrittenReport, Failure> {
    let commands = commands(folder, &Folder::here(), &results.schedule);
    let report = Report { commands, ..results.report.clone() };
    for (name, form) in FILES {
        let file = folder.path(name);
        replace_by(&file, |out| form.write(&report, "", out))
            .map_err(|error| report_failure(error, &file))?;
    }
    write_pages(folder, &report, &results.contest)?;
    let sums = sums::write_whole(folder, &Store::open(folder)?)?;
    Ok(WrittenReport { page: folder.path(PAGE), sums })
}

/// Returns the relative path from a file's folder to another folder, with `/`.
fn relative_path(file: &Path, folder: &Path) -> Result<String, Failure> {
    let here = match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let whole = |path: &Path| {
        path.canonicalize().map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
    };
    let (here, there) = (whole(here)?, whole(folder)?);
    let shared = here.components().zip(there.components()).take_while(|(a, b)| a == b).count();
    let up = here.components().skip(shared).map(|_| "..".to_owned());
    let down = there.components().skip(shared);
    let down = down.map(|part| part.as_os_str().to_string_lossy().into_owned());
    Ok(up.chain(down).collect::<Vec<_>>().join("/"))
}
