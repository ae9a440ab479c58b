//! `contest report`: the results, as text, documents and data.

use super::run::resume_command;
use crate::cli::bars::spinner;
use crate::cli::global::Global;
use crate::cli::output::{check_new, print, stdout_is_terminal};
use crate::cli::shell::join;
use clap::{Args, ValueEnum};
use referee_contest::formats::Comparison;
use referee_contest::report::{Command, Layout, Report};
use referee_contest::sprt::Summary;
use referee_contest::sprt::render::{Names, verdict};
use referee_contest::summary::report;
use referee_contest::{Contest, PlayerInfo, Record, Schedule};
use referee_process::Failure;
use referee_runner::checking::ContestCheck;
use referee_runner::folder::Folder;
use referee_runner::store::{Store, StoredContest, VoidAttempt};
use referee_runner::{results, workers};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The page in the contest's folder.
const PAGE: &str = "report.html";
/// The report in the contest's folder.
const REPORT: &str = "report.json";
/// The fields of the report that are made of sentences, which change between versions, or that name the
/// folder.
const SENTENCES: [&str; 7] =
    ["anchor", "commands", "notes", "prior", "ranked_by", "settings", "text"];
/// All report files in the contest's folder.
const FILES: [(&str, Form); 5] = [
    (PAGE, Form::Html),
    ("report.md", Form::Markdown),
    (REPORT, Form::Json),
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
    referee contest report contests/autumn --output results.html")]
pub(super) struct Options {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Format of the report. Defaults to the ending of --output, else text
    #[arg(long, value_enum)]
    format: Option<Form>,
    /// File to write: .html, .md, .csv, .json or .txt. Defaults to stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file named by --output
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long, conflicts_with_all = ["format", "output"])]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
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
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let folder = Folder::open(&options.folder)?;
    let form = options.form()?;
    let spinner = spinner("computing the report", !global.quiet);
    let results = of_folder(&folder);
    spinner.finish_and_clear();
    let Results { report, comparison, contest } = results?;
    let Some(file) = &options.output else {
        if let (Form::Text, Some(summary)) = (form, comparison) {
            print(&verdict(&summary, names(&contest)))?;
        }
        return print(&form.render(&report, "")?);
    };
    check_new("--output", file, options.force)?;
    let path = relative_path(file, folder.root())?;
    write(file, &form.render(&report, &path)?)
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
            _ => Err(Failure::usage(format!("--output {}: unknown file ending", file.display()))
                .help("use .html, .md, .csv, .json or .txt, or add --format")),
        }
    }
}

impl Form {
    /// Returns the report in this format. `path` leads from its file to the contest's folder.
    pub(super) fn render(self, report: &Report, path: &str) -> Result<String, Failure> {
        Ok(match self {
            Self::Text => report.text(layout()),
            Self::Markdown => report.markdown(),
            Self::Csv => report.standings_csv(),
            Self::GamesCsv => report.games_csv(),
            Self::Html => report.html(path),
            Self::Json => {
                serde_json::to_string(report).map(|text| text + "\n").map_err(|error| {
                    Failure::operation(format!("cannot write the report as JSON: {error}"))
                })?
            }
        })
    }
}

/// The results in a contest's folder.
pub(super) struct Results {
    pub(super) report: Report,
    /// The result of `compare`; `None` for other contests.
    pub(super) comparison: Option<Summary>,
    /// The contest.
    pub(super) contest: Arc<Contest>,
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
    let kept = store.contest()?;
    let records = store.records()?;
    let contest = Arc::new(kept.contest.clone());
    let schedule = Schedule::after(contest.clone(), &records);
    let comparison = comparison(&contest, &schedule, &records);
    let report = assemble(folder, &kept, &schedule, records, &store.voids()?);
    Ok(Results { report, comparison, contest })
}

/// Returns the standings of a series that is stored nowhere.
pub(in crate::cli) fn series(contest: &Arc<Contest>, records: &[Record]) -> String {
    let schedule = Schedule::after(contest.clone(), records);
    report(contest, &schedule, records.to_vec(), None).players(layout())
}

/// Returns how tables are printed on stdout.
fn layout() -> Layout {
    if stdout_is_terminal() { Layout::Aligned } else { Layout::Tabs }
}

fn comparison(contest: &Contest, schedule: &Schedule, records: &[Record]) -> Option<Summary> {
    let Comparison { sprt } = contest.format.comparison()?;
    Some(Summary::of(sprt.as_ref(), schedule.results(), records))
}

/// Returns the names of the two agents of `compare`.
pub(super) fn names(contest: &Contest) -> Names<'_> {
    let name = |index: usize| contest.players.get(index).map_or("", |player| player.name.as_str());
    Names { new: name(0), old: name(1) }
}

/// Returns the report on these games of a contest.
pub(super) fn assemble(
    folder: &Folder,
    kept: &StoredContest,
    schedule: &Schedule,
    records: Vec<Record>,
    voids: &[VoidAttempt],
) -> Report {
    let root = folder.root().display().to_string();
    let check = join(&["referee", "verify", &root]);
    let command = |does: &str, line| Command { does: does.to_owned(), line };
    let mut commands = vec![command("verify", check)];
    if !schedule.is_over() {
        let resume = resume_command(folder, &workers::read(folder).on);
        commands.push(command("resume", resume));
    }
    results::assemble(kept, schedule, records, voids, commands)
}

/// Compares the report in the folder with the one computed from `checked`, except its sentences. Returns
/// the differences and a note. Numbers may differ by rounding, since logarithms differ between machines.
pub(in crate::cli) fn differences(
    folder: &Folder,
    checked: &ContestCheck,
) -> (Vec<String>, Option<String>) {
    let Ok(text) = std::fs::read_to_string(folder.path(REPORT)) else { return (Vec::new(), None) };
    let Ok(left) = serde_json::from_str::<Value>(&text) else {
        return (vec![format!("{REPORT} is not JSON")], None);
    };
    let ContestCheck { stored: kept, schedule, records, voids, .. } = checked;
    let made = assemble(folder, kept, schedule, records.clone(), voids);
    let made = serde_json::to_value(made).unwrap_or(Value::Null);
    let (before, now) = (&left["progress"]["played"], &made["progress"]["played"]);
    if before.as_u64() > now.as_u64() {
        return (vec![format!("{REPORT} counts {before} games, but there are only {now}")], None);
    }
    if !schedule.is_over() && before != now {
        return (Vec::new(), Some(format!("{REPORT} is older than the latest games")));
    }
    let mut found = Vec::new();
    compare("", &left, &made, &mut found);
    (found, None)
}

fn compare(path: &str, left: &Value, made: &Value, found: &mut Vec<String>) {
    match (left, made) {
        (Value::Object(_), Value::Object(fields)) => {
            for (key, value) in fields.iter().filter(|(key, _)| !SENTENCES.contains(&key.as_str()))
            {
                // A report of an earlier version lacks newer fields.
                if let Some(left) = left.get(key) {
                    compare(&format!("{path}.{key}"), left, value, found);
                }
            }
        }
        (Value::Array(all), Value::Array(values)) if all.len() == values.len() => {
            for (index, (left, made)) in all.iter().zip(values).enumerate() {
                compare(&format!("{path}[{index}]"), left, made, found);
            }
        }
        (Value::Number(a), Value::Number(b)) if close(a.as_f64(), b.as_f64()) => {}
        _ if left == made => {}
        _ => {
            let path = path.trim_start_matches('.');
            found.push(format!("{REPORT} has {path} = {left}, but the games give {made}"));
        }
    }
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    a.zip(b).is_some_and(|(a, b)| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0))
}

/// Writes the report files to the contest's folder, replacing older ones.
pub(super) fn write_all(folder: &Folder, report: &Report) -> Result<PathBuf, Failure> {
    for (name, form) in FILES {
        replace(&folder.path(name), &form.render(report, "")?)?;
    }
    Ok(folder.path(PAGE))
}

/// Replaces a file atomically: half a report would look forged.
fn replace(file: &Path, text: &str) -> Result<(), Failure> {
    referee_play::replace_file::replace(file, text.as_bytes())
        .map_err(|error| referee_runner::disk_failure(file, &error))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| referee_runner::disk_failure(file, &error))
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

#[cfg(test)]
mod tests {
    use super::compare;
    use serde_json::json;

    #[test]
    fn reports_are_compared_without_their_sentences() {
        let report = |notes: &str, elo: f64, reason: &str| {
            json!({"settings": [notes], "ratings": {"notes": [notes], "players": [{"elo": elo}]},
                   "games": [{"reason": reason}]})
        };
        let made = report("plain words", 12.5, "late");
        let differences = |left| {
            let mut found = Vec::new();
            compare("", &left, &made, &mut found);
            found
        };
        assert!(differences(report("older words", 12.5 + 1e-9, "late")).is_empty());
        assert_eq!(
            differences(report("plain words", 13.0, "gone")),
            [
                r#"report.json has games[0].reason = "gone", but the games give "late""#,
                "report.json has ratings.players[0].elo = 13.0, but the games give 12.5",
            ]
        );
    }
}
