//! `verify`: whether transcripts are complete, unmodified and follow the rules.

mod contest;
mod report_files;

use super::bars::{advance, count_bar};
use super::contest::key::parse_key;
use super::global::Global;
use super::output::{print, print_json, table};
use super::play_options::at_least_one;
use clap::Args;
use referee_match::transcript::Status;
use referee_process::Failure;
use referee_runner::checking::check;
use referee_runner::folder::Folder;
use referee_runner::signing::Pins;
use referee_runner::verifying::{CheckedFile, find, verify_all};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// With more files than this, only those that are not ok are listed.
const SHOWN_MAX: usize = 20;

/// Verify transcripts or a whole contest
///
/// Replays each transcript by the rules, checks its times and its seal, and prints ok, torn, tampered,
/// disagrees or unreadable. In a contest's folder, verifies every game, rebuilds the schedule from the
/// contest file and the results, compares the store, the report and the signed log with it, and prints who
/// signed it. Exits with code 1 unless all are ok; a contest without a signature may be ok.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee verify latest\n  \
    referee verify matches contests/autumn")]
pub(super) struct Options {
    /// Transcripts, folders of transcripts, or contest folders; `latest` is the newest transcript in
    /// ./matches
    #[arg(required = true)]
    files: Vec<String>,
    /// Expect contests to be signed with this key: a public key, or a file with one. Defaults to the
    /// pinned key of each contest
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Print one JSON object per file
    #[arg(long)]
    json: bool,
    /// Number of cores to use, 1 or more. Defaults to all
    #[arg(long, short, value_parser = at_least_one())]
    jobs: Option<usize>,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let is_contest = |name: &&String| Folder::has_contest(Path::new(name.as_str()));
    let (contests, names): (Vec<&String>, Vec<&String>) =
        options.files.iter().partition(is_contest);
    let names: Vec<String> = names.into_iter().cloned().collect();
    let files = find(&names)?;
    if files.is_empty() && contests.is_empty() {
        let places = names.join(", ");
        return Err(Failure::operation(format!("no transcripts found in {places}"))
            .help("the name of a transcript ends with .jsonl or .jsonl.gz"));
    }
    let progress = !global.quiet && !options.json;
    let mut lines = Vec::new();
    if !files.is_empty() {
        let bar = count_bar("", progress);
        lines = verify_all(&files, options.jobs, &|done, of| advance(&bar, done, of));
    }
    let key = options.key.as_deref().map(parse_key).transpose()?;
    let pins = if contests.is_empty() { Pins::default() } else { Pins::read()? };
    let mut contest_texts = String::new();
    for name in contests {
        let folder = Folder::open(Path::new(name))?;
        let bar = count_bar("", progress);
        let key = key.or_else(|| pins.of(folder.root()));
        let mut checked = check(&folder, options.jobs, key, &|done, of| advance(&bar, done, of))?;
        report_files::compare(&folder, &mut checked)?;
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
    let ok = lines.iter().all(|line| line.status == Status::Ok);
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(Failure::OPERATION) })
}

fn as_text(all: &[CheckedFile], quiet: bool) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut rows = Vec::new();
    for report in all {
        let status = report.status.to_string();
        *counts.entry(status.clone()).or_default() += 1;
        if report.status != Status::Ok {
            rows.push(vec![status, report.file.clone(), report.detail.clone()]);
        } else if !quiet && all.len() <= SHOWN_MAX {
            rows.push(vec![status, report.file.clone(), format!("{} turns", report.turns)]);
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
