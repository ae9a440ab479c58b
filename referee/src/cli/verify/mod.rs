//! `verify`: whether transcripts are complete, unmodified and follow the rules.

mod contest;

use super::bars::{advance, count_bar};
use super::exit;
use super::global::Global;
use super::output::{print, print_json, table};
use super::play_options::at_least_one;
use clap::Args;
use referee_match::transcript::Status;
use referee_process::Failure;
use referee_runner::checking::check;
use referee_runner::folder::Folder;
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
/// contest file and the results, compares the store with it, and all files with SHA256SUMS. Exits with code 1
/// unless all are ok.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee verify latest\n  \
    referee verify matches contests/autumn")]
pub(super) struct Options {
    /// Transcripts, folders of transcripts, or contest folders; `latest` is the newest transcript in
    /// ./matches
    #[arg(required = true)]
    files: Vec<String>,
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
    let mut lines = Lines { json: options.json, ..Lines::default() };
    if !files.is_empty() {
        let bar = count_bar("", progress);
        let progress = |done, of| advance(&bar, done, of);
        let games = global.games_of_all(&files)?;
        verify_all(&files, &games, options.jobs, &progress, |line| lines.add(line))?;
    }
    let mut contest_texts = String::new();
    let given = global.rules()?;
    for name in contests {
        let folder = Folder::open(Path::new(name))?;
        let bar = count_bar("", progress);
        let progress = |done, of| advance(&bar, done, of);
        let checked = check(&folder, &given, options.jobs, &progress, &mut |line| lines.add(line))?;
        lines.add(contest::line(&checked, name))?;
        contest_texts.push_str(&contest::text(&checked, name));
    }
    if !options.json {
        print(&lines.text(global.quiet))?;
        print(&contest_texts)?;
    }
    Ok(exit::success_or(exit::OPERATION, lines.not_ok == 0))
}

/// The files that have been verified.
#[derive(Debug, Default)]
struct Lines {
    /// Prints them at once, as JSON.
    json: bool,
    counts: BTreeMap<String, usize>,
    all: usize,
    not_ok: usize,
    /// The rows to show, and whether each is ok.
    rows: Vec<(bool, Vec<String>)>,
}

impl Lines {
    fn add(&mut self, line: CheckedFile) -> Result<(), Failure> {
        let ok = line.status == Status::Ok;
        *self.counts.entry(line.status.to_string()).or_default() += 1;
        self.all += 1;
        self.not_ok += usize::from(!ok);
        if self.json {
            return print_json(&line);
        }
        if !ok || self.all <= SHOWN_MAX {
            // What could not be proved is said, too.
            let note = line.detail.split_once("; ").map(|(_, note)| format!("; {note}"));
            let detail = if ok {
                format!("{} turns{}", line.turns, note.unwrap_or_default())
            } else {
                line.detail
            };
            self.rows.push((ok, vec![line.status.to_string(), line.file, detail]));
        }
        Ok(())
    }

    fn text(&self, quiet: bool) -> String {
        let shows_ok = !quiet && self.all <= SHOWN_MAX;
        let rows = self.rows.iter().filter(|(ok, _)| !ok || shows_ok);
        let rows: Vec<Vec<String>> = rows.map(|(_, row)| row.clone()).collect();
        let mut text = table(&rows);
        if self.all > 1 {
            let counts = self.counts.iter().map(|(status, count)| format!("{count} {status}"));
            let counts: Vec<String> = counts.collect();
            writeln!(text, "{} checked: {}", self.all, counts.join(", ")).ok();
        }
        text
    }
}
