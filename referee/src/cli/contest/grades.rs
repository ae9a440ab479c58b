//! `contest grades`: points and marks for the results, with reasons.

use super::report::of_folder;
use crate::cli::bars::spinner;
use crate::cli::global::Global;
use crate::cli::output::{cell, check_new, print, print_exact, print_json, table};
use clap::Args;
use referee_contest::file::{ContestFile, FileError};
use referee_contest::grades::{Grade, Grades};
use referee_contest::report::grades_csv;
use referee_games::Games;
use referee_process::Failure;
use referee_runner::course::{Teams, grades_by};
use referee_runner::folder::Folder;
use referee_runner::programs;
use referee_runner::{disk_failure, read_contest_file};
use std::path::PathBuf;

/// Show points and marks by the table [grades] of the contest file, with the reason for each
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest grades contests/autumn\n  \
    referee contest grades contests/autumn --file autumn.toml --out grades.csv\n  \
    referee contest grades final --teams course --out grades.csv")]
pub(super) struct Options {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Contest file with the table [grades] to use. Defaults to the contest's copy
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Folder of the contest in which teams handed in on the web: adds their ids
    #[arg(long, value_name = "DIR")]
    teams: Option<PathBuf>,
    /// CSV file to write, or - for stdout
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite the file named by --out
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long, conflicts_with = "out")]
    json: bool,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let folder = Folder::open(&options.folder)?;
    let (path, read): (_, fn(&str, &str, &str, &Games) -> _) = match &options.file {
        Some(file) => (file.clone(), ContestFile::read),
        None => (folder.file(), ContestFile::read_stored),
    };
    let text = match &options.file {
        Some(file) => read_contest_file(file),
        None => folder
            .read_file()
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display()))),
    }?;
    let games = programs::of_file(&folder, &text, &global.rules()?)?;
    let failed = |error: FileError| Failure::usage(error.to_string()).or_help(error.help);
    let file = read(&text, &path.to_string_lossy(), "contest", &games).map_err(failed)?;
    let spinner = spinner("computing the report", !global.quiet);
    let results = of_folder(&folder);
    spinner.finish_and_clear();
    let results = results?;
    let teams = options.teams.as_ref().map(|course| Teams::read(&Folder::open(course)?));
    let of = (&results.report, &*results.contest);
    let Grades { grades, over } = grades_by(&file, &path, of, teams.transpose()?.as_ref())?;
    if !over {
        global.note(["the contest is not over: grades may change".to_owned()]);
    }
    match &options.out {
        _ if options.json => print_json(&Grades { grades, over }),
        None => print(&table(&rows(&grades))),
        Some(file) if file.as_os_str() == "-" => print_exact(&grades_csv(&grades)),
        Some(file) => {
            check_new("--out", file, options.force)?;
            std::fs::write(file, grades_csv(&grades)).map_err(|error| disk_failure(file, &error))
        }
    }
}

/// Returns the table: a row for each agent.
fn rows(grades: &[Grade]) -> Vec<Vec<String>> {
    let has_ids = grades.iter().any(|own| own.id.is_some());
    let id = |text: &str| has_ids.then(|| text.to_owned());
    let first = std::iter::once("player".to_owned()).chain(id("id"));
    let head = first.chain(["mark", "points", "place", "%", "reason"].map(str::to_owned)).collect();
    let row = |own: &Grade| {
        let none = || "-".to_owned();
        let first = [Some(cell(&own.name)), id(&own.id.as_deref().map_or_else(none, cell))];
        let rest = [
            own.mark.clone().unwrap_or_else(none),
            own.points.to_string(),
            own.place.map_or_else(none, |place| place.to_string()),
            own.percent.map_or_else(none, |percent| format!("{percent:.1}")),
            cell(&own.reasons.join("; ")),
        ];
        first.into_iter().flatten().chain(rest).collect()
    };
    std::iter::once(head).chain(grades.iter().map(row)).collect()
}
