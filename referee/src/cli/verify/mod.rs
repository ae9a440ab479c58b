//! `verify`: whether transcripts are whole, untouched, and what the rules make of their actions.

mod contest;

use super::Global;
use super::bars::{advance, count_bar};
use super::output::{print, print_json, table};
use clap::Args;
use referee_match::transcript::Status;
use referee_process::Failure;
use referee_protocol::Outcome;
use referee_runner::checking::check;
use referee_runner::folder::Folder;
use referee_runner::verifying::{CheckedFile, find, verify_all};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// More files than these are only counted, but for those that are not ok.
const SHOWN_MAX: usize = 20;

/// Plays transcripts again by the rules and checks their seals.
///
/// Says of each: ok, torn, tampered, disagrees or unreadable. Of a contest's folder every game that
/// counts is checked, the schedule is made again from the contest file and the results, and the
/// store and the report are compared with what follows. Exit code 1 unless all are ok.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Transcripts, folders, whose transcripts are all taken, or contests' folders; `latest` is the
    /// newest transcript in ./matches
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
    let is_contest = |name: &&String| Folder::is_one(Path::new(name.as_str()));
    let (contests, names): (Vec<&String>, Vec<&String>) =
        options.files.iter().partition(is_contest);
    let names: Vec<String> = names.into_iter().cloned().collect();
    let files = find(&names)?;
    if files.is_empty() && contests.is_empty() {
        let places = names.join(", ");
        return Err(Failure::operation(format!("no transcript in {places}"))
            .help("a transcript's name ends with .jsonl or .jsonl.gz"));
    }
    let progress = !global.quiet && !options.json;
    let mut lines: Vec<Told> = Vec::new();
    if !files.is_empty() {
        let bar = count_bar("", progress);
        lines.extend(
            verify_all(&files, options.jobs, &|done, of| advance(&bar, done, of))
                .iter()
                .map(as_json),
        );
    }
    let mut contest_texts = String::new();
    for name in contests {
        let folder = Folder::open(Path::new(name))?;
        let bar = count_bar("", progress);
        let mut checked = check(&folder, options.jobs, &|done, of| advance(&bar, done, of))?;
        contest::compare_report(&folder, &mut checked);
        contest::lines(&checked, name, &mut lines);
        contest_texts.push_str(&contest::text(&checked, name));
    }
    if options.json {
        for line in &lines {
            print_json(line)?;
        }
    } else {
        print(&as_text(&lines, global.quiet))?;
        print(&contest_texts)?;
    }
    let ok = lines.iter().all(|line| line.status == Status::Ok.to_string());
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(Failure::OPERATION) })
}

/// A file as `verify --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    /// The file.
    pub(super) file: String,
    /// `ok`, `torn`, `tampered`, `disagrees` or `unreadable`.
    pub(super) status: String,
    /// How many turns could be played by the rules.
    pub(super) turns: u64,
    /// What the rules say after them; null while the game goes on.
    pub(super) outcome: Option<Outcome>,
    /// Where and how something differs, in words.
    pub(super) detail: String,
}

pub(super) fn as_json(checked: &CheckedFile) -> Told {
    Told {
        file: checked.file.display().to_string(),
        status: checked.status.to_string(),
        turns: checked.turns,
        outcome: checked.outcome.clone(),
        detail: checked.detail.clone(),
    }
}

fn as_text(all: &[Told], quiet: bool) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows = Vec::new();
    for told in all {
        *counts.entry(&told.status).or_default() += 1;
        if told.status != "ok" || (!quiet && all.len() <= SHOWN_MAX) {
            let turns = format!("{} turns", told.turns);
            let detail = if told.status == "ok" { turns } else { told.detail.clone() };
            rows.push(vec![told.status.clone(), told.file.clone(), detail]);
        }
    }
    let mut text = table(&rows);
    if all.len() > 1 {
        let counts: Vec<String> =
            counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
        writeln!(text, "{} checked: {}", all.len(), counts.join(", ")).ok();
    }
    text
}
