//! `contest grades`: points and marks for the results, with reasons.

use super::report::of_folder;
use crate::cli::bars::spinner;
use crate::cli::global::Global;
use crate::cli::output::{check_new, print, print_exact, print_json, table};
use clap::Args;
use referee_contest::file::{ContestFile, FileError};
use referee_contest::grades::{Grade, Grades, grades};
use referee_contest::report::grades_csv;
use referee_games::Games;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use referee_runner::folder::Folder;
use referee_runner::programs;
use referee_runner::{disk_failure, read_contest_file};
use std::path::PathBuf;

/// Show points and marks by the table [grades] of the contest file, with the reason for each
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest grades contests/autumn\n  \
    referee contest grades contests/autumn --file autumn.toml --out grades.csv")]
pub(super) struct Options {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Contest file with the table [grades] to use. Defaults to the contest's copy
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
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
    let text = read_contest_file(&path)?;
    let games = programs::of_file(&folder, &text)?;
    let failed = |error: FileError| Failure::usage(error.to_string()).or_help(error.help);
    let file = read(&text, &path.to_string_lossy(), "contest", &games).map_err(failed)?;
    let spinner = spinner("computing the report", !global.quiet);
    let results = of_folder(&folder);
    spinner.finish_and_clear();
    let results = results?;
    let Some(settings) = file.grades(&results.contest).map_err(failed)? else {
        let text = format!("{}: there is no table [grades]", path.display());
        return Err(Failure::usage(text).help(
            "add it to a copy of the contest file, and give that: --file FILE; see `[grades]` in \
             docs/contest-file.md",
        ));
    };
    let Grades { grades, over } = grades(&results.report, settings);
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
    let head = ["player", "mark", "points", "place", "%", "reason"].map(str::to_owned).to_vec();
    let row = |own: &Grade| {
        let none = || "-".to_owned();
        vec![
            sanitize(&own.name),
            own.mark.clone().unwrap_or_else(none),
            own.points.to_string(),
            own.place.map_or_else(none, |place| place.to_string()),
            own.percent.map_or_else(none, |percent| format!("{percent:.1}")),
            sanitize(&own.reasons.join("; ")),
        ]
    };
    std::iter::once(head).chain(grades.iter().map(row)).collect()
}
