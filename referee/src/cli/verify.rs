//! `verify`: whether transcripts are whole, untouched, and what the rules make of their actions.

use super::Global;
use super::output::{print, print_json, table};
use crate::failure::Failure;
use crate::shell::verifying::{Checked, Problem, find, verify_all};
use crate::transcript::Status;
use clap::Args;
use referee_protocol::Outcome;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Plays transcripts again by the rules and checks their seals.
///
/// Says of each: ok, torn, tampered, disagrees or unreadable. Exit code 1 unless all are ok.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Transcripts, or folders, whose transcripts are all taken; `latest` is the newest in ./matches
    #[arg(required = true)]
    files: Vec<String>,
    /// Prints one JSON object for each file
    #[arg(long)]
    json: bool,
    /// How many cores to use
    #[arg(long, short)]
    jobs: Option<usize>,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let files = find(&options.files)?;
    if files.is_empty() {
        let named = options.files.join(", ");
        return Err(Failure::operation(format!("no transcript in {named}"))
            .help("a transcript's name ends with .jsonl or .jsonl.gz"));
    }
    let checked = verify_all(files, options.jobs, !global.quiet && !options.json)?;
    if options.json {
        for checked in &checked {
            print_json(&as_json(checked))?;
        }
    } else {
        print(&as_text(&checked, global.quiet))?;
    }
    let ok =
        |checked: &Checked| matches!(&checked.result, Ok(report) if report.status == Status::Ok);
    Ok(if checked.iter().all(ok) { ExitCode::SUCCESS } else { ExitCode::from(Failure::OPERATION) })
}

/// A file as `verify --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    /// The file.
    file: String,
    /// `ok`, `torn`, `tampered`, `disagrees` or `unreadable`.
    status: String,
    /// How many turns could be played by the rules.
    turns: u64,
    /// What the rules say after them; null while the game goes on.
    outcome: Option<Outcome>,
    /// Where and how something differs, in words.
    detail: String,
}

fn as_json(checked: &Checked) -> Told {
    let file = checked.file.display().to_string();
    match &checked.result {
        Ok(report) => Told {
            file,
            status: report.status.to_string(),
            turns: report.turns,
            outcome: report.outcome.clone(),
            detail: report.detail.clone(),
        },
        Err(Problem(text)) => {
            let (status, detail) = (Status::Unreadable.to_string(), text.clone());
            Told { file, status, turns: 0, outcome: None, detail }
        }
    }
}

fn as_text(all: &[Checked], quiet: bool) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut rows = Vec::new();
    for checked in all {
        let name = |file: &PathBuf| file.display().to_string();
        let (status, detail) = match &checked.result {
            Ok(report) if report.status == Status::Ok => {
                (report.status.to_string(), format!("{} turns", report.turns))
            }
            Ok(report) => (report.status.to_string(), report.detail.clone()),
            Err(Problem(text)) => ("unreadable".to_owned(), text.clone()),
        };
        *counts.entry(status.clone()).or_default() += 1;
        if status != "ok" || (!quiet && all.len() <= 20) {
            rows.push(vec![status, name(&checked.file), detail]);
        }
    }
    let mut text = table(&rows);
    if all.len() > 1 {
        let counts: Vec<String> =
            counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
        writeln!(text, "{} transcripts: {}", all.len(), counts.join(", "))
            .expect("text takes text");
    }
    text
}
