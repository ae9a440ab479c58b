//! `contest report`: what the results say, for people, for documents and for programs.

use super::run::resume_command;
use crate::cli::Global;
use crate::cli::bars::spinner;
use crate::cli::output::{print, stdout_is_terminal};
use crate::cli::words::join;
use clap::{Args, ValueEnum};
use referee_contest::formats::Compare;
use referee_contest::report::{Command, Layout, Report};
use referee_contest::sprt::Summary;
use referee_contest::sprt::render::{Names, verdict};
use referee_contest::{Contest, FormatSettings, Record, Schedule};
use referee_process::Failure;
use referee_runner::checking::Checked;
use referee_runner::folder::Folder;
use referee_runner::store::{Kept, Store, VoidAttempt};
use referee_runner::{results, workers};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The page that a run leaves in the contest's folder.
const PAGE: &str = "report.html";
/// The same for programs.
const REPORT: &str = "report.json";
/// All that a run leaves.
const FILES: [(&str, Form); 5] = [
    (PAGE, Form::Html),
    ("report.md", Form::Markdown),
    (REPORT, Form::Json),
    ("standings.csv", Form::Csv),
    ("games.csv", Form::GamesCsv),
];

/// Tells the results of a contest: standings, ratings, cross table, faults, time use.
///
/// Also while it is played, and after an interruption. `contest run` writes the page and the tables
/// into the contest's folder when it ends.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    referee contest report contests/autumn\n  \
    referee contest report contests/autumn --output results.html")]
pub(super) struct Options {
    /// The contest's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// What to write; by --output's ending unless it is given, else text
    #[arg(long, value_enum)]
    format: Option<Form>,
    /// Writes to a file (.html, .md, .csv, .json, .txt) instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrites the file that --output names
    #[arg(long)]
    force: bool,
    /// Prints one JSON object
    #[arg(long, conflicts_with_all = ["format", "output"])]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For a terminal
    Text,
    /// For a document
    Markdown,
    /// The standings, for a spreadsheet
    Csv,
    /// The games, for a spreadsheet
    GamesCsv,
    /// Everything, for programs
    Json,
    /// One page with charts, which needs nothing else
    Html,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let folder = Folder::open(&options.folder)?;
    let form = options.form()?;
    let spinner = spinner("making the report", !global.quiet);
    let results = of_folder(&folder);
    spinner.finish_and_clear();
    let Results { report, comparison, contest } = results?;
    let Some(file) = &options.output else {
        if let (Form::Text, Some(summary)) = (form, comparison) {
            print(&verdict(&summary, names(&contest)))?;
        }
        return print(&form.render(&report, "")?);
    };
    if file.exists() && !options.force {
        return Err(Failure::usage(format!("--output {}: the file exists", file.display()))
            .help("--force overwrites it"));
    }
    let way = way_between(file, folder.root())?;
    write(file, &form.render(&report, &way)?)
}

impl Options {
    fn form(&self) -> Result<Form, Failure> {
        if self.json {
            return Ok(Form::Json);
        }
        if let Some(form) = self.format {
            return Ok(form);
        }
        let Some(file) = &self.output else { return Ok(Form::Text) };
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("html" | "htm") => Ok(Form::Html),
            Some("md") => Ok(Form::Markdown),
            Some("csv") => Ok(Form::Csv),
            Some("json") => Ok(Form::Json),
            Some("txt") => Ok(Form::Text),
            _ => Err(Failure::usage(format!("--output {}: what is to be in it?", file.display()))
                .help("end its name with .html, .md, .csv, .json or .txt, or give --format")),
        }
    }
}

impl Form {
    /// `way` leads from where it is written to the contest's folder.
    pub(super) fn render(self, report: &Report, way: &str) -> Result<String, Failure> {
        Ok(match self {
            Self::Text if stdout_is_terminal() => report.text(Layout::Aligned),
            Self::Text => report.text(Layout::Tabs),
            Self::Markdown => report.markdown(),
            Self::Csv => report.standings_csv(),
            Self::GamesCsv => report.games_csv(),
            Self::Html => report.html(way),
            Self::Json => serde_json::to_string(report)
                .map(|text| text + "\n")
                .map_err(|error| Failure::operation(format!("the report: {error}")))?,
        })
    }
}

/// What a contest's folder holds now.
pub(super) struct Results {
    pub(super) report: Report,
    /// What a comparison of two agents has found; none in other contests.
    pub(super) comparison: Option<Summary>,
    /// What was played.
    pub(super) contest: Arc<Contest>,
}

/// Reads what a contest's folder holds now.
pub(super) fn of_folder(folder: &Folder) -> Result<Results, Failure> {
    let store = Store::open(folder)?;
    let kept = store.kept()?;
    let records = store.records()?;
    let contest = Arc::new(kept.contest.clone());
    let mut schedule = Schedule::new(contest.clone());
    for record in &records {
        schedule.record(record.number, &record.places);
    }
    let comparison = comparison(&contest, &schedule, &records);
    let report = assemble(folder, &kept, &schedule, records, &store.voids()?);
    Ok(Results { report, comparison, contest })
}

fn comparison(contest: &Contest, schedule: &Schedule, records: &[Record]) -> Option<Summary> {
    let FormatSettings::Compare(Compare { sprt }) = &contest.format else { return None };
    Some(Summary::of(sprt.as_ref(), schedule.met(), records))
}

/// The new agent and the old one.
pub(super) fn names(contest: &Contest) -> Names<'_> {
    let name = |index: usize| contest.players.get(index).map_or("", |player| player.name.as_str());
    Names { new: name(0), old: name(1) }
}

/// The report on these games of a contest.
pub(super) fn assemble(
    folder: &Folder,
    kept: &Kept,
    schedule: &Schedule,
    records: Vec<Record>,
    voids: &[VoidAttempt],
) -> Report {
    let root = folder.root().display().to_string();
    let check = join(&["referee", "verify", &root]);
    let command = |does: &str, line| Command { does: does.to_owned(), line };
    let mut commands = vec![command("To check all of this, game by game", check)];
    if !schedule.is_over() {
        let resume = resume_command(folder, &workers::read(folder).on);
        commands.push(command("To go on with the contest", resume));
    }
    results::assemble(kept, schedule, records, voids, commands)
}

/// Where the report that a run left differs from the one that follows from `checked`, and what is to
/// be noted of it. Figures may differ by as little as logarithms do between machines.
pub(in crate::cli) fn differences(
    folder: &Folder,
    checked: &Checked,
) -> (Vec<String>, Option<String>) {
    let Ok(text) = std::fs::read_to_string(folder.path(REPORT)) else { return (Vec::new(), None) };
    let Ok(left) = serde_json::from_str::<Value>(&text) else {
        return (vec![format!("{REPORT} is not JSON")], None);
    };
    let Checked { kept, schedule, records, voids, .. } = checked;
    let made = assemble(folder, kept, schedule, records.clone(), voids);
    let made = serde_json::to_value(made).unwrap_or(Value::Null);
    let (before, now) = (&left["progress"]["played"], &made["progress"]["played"]);
    if before.as_u64() > now.as_u64() {
        return (vec![format!("{REPORT} counts {before} games, and {now} are left")], None);
    }
    if !schedule.is_over() && before != now {
        return (Vec::new(), Some(format!("{REPORT} is of an earlier state")));
    }
    let mut found = Vec::new();
    for (key, value) in made.as_object().into_iter().flatten() {
        // Commands name the folder as it was called then.
        if key != "commands" {
            compare(key, &left[key.as_str()], value, &mut found);
        }
    }
    (found, None)
}

fn compare(path: &str, left: &Value, made: &Value, found: &mut Vec<String>) {
    match (left, made) {
        (Value::Object(_), Value::Object(fields)) => {
            for (key, value) in fields {
                compare(&format!("{path}.{key}"), &left[key.as_str()], value, found);
            }
        }
        (Value::Array(all), Value::Array(values)) if all.len() == values.len() => {
            for (index, (left, made)) in all.iter().zip(values).enumerate() {
                compare(&format!("{path}[{index}]"), left, made, found);
            }
        }
        (Value::Number(a), Value::Number(b)) if close(a.as_f64(), b.as_f64()) => {}
        _ if left == made => {}
        _ => found.push(format!("{REPORT} has {path} {left}, and {made} follows from the games")),
    }
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    a.zip(b).is_some_and(|(a, b)| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0))
}

/// Writes the page and the tables into the contest's folder. They are made anew each time: all that
/// they say is in the store.
pub(super) fn write_all(folder: &Folder, report: &Report) -> Result<PathBuf, Failure> {
    for (name, form) in FILES {
        replace(&folder.path(name), &form.render(report, "")?)?;
    }
    Ok(folder.path(PAGE))
}

/// Writes in the place of what was there, all of it or nothing: half a report would look forged.
fn replace(file: &Path, text: &str) -> Result<(), Failure> {
    referee_play::replacing::replace(file, text.as_bytes())
        .map_err(|error| referee_runner::disk_failure(file, &error))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| referee_runner::disk_failure(file, &error))
}

/// The relative way from a file's folder to another folder, with `/`.
fn way_between(file: &Path, folder: &Path) -> Result<String, Failure> {
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
