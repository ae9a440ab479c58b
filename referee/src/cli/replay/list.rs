//! The matches that `replay` lists, and the one that an agent lost.

use crate::cli::output::{print, print_json, row, table};
use referee_games::Games;
use referee_play::destination::DEFAULT_FOLDER;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use referee_web::{Row, transcripts};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Matches, as `replay --json` prints them without a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct MatchesReport {
    /// The folder.
    folder: String,
    /// The newest matches in it, the newest first.
    matches: Vec<ListedMatch>,
}

/// A match in [`MatchesReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct ListedMatch {
    /// Its number, from 1, the newest.
    number: usize,
    #[serde(flatten)]
    row: Row,
}

/// Prints the newest matches of a folder.
pub(super) fn list(folder: &Path, count: usize, json: bool) -> Result<(), Failure> {
    let path = |row: Row| Row { file: folder.join(&row.file).display().to_string(), ..row };
    let rows = rows(folder)?.take(count).map(path);
    let matches: Vec<ListedMatch> =
        (1..).zip(rows).map(|(number, row)| ListedMatch { number, row }).collect();
    if json {
        let folder = folder.display().to_string();
        return print_json(&MatchesReport { folder, matches });
    }
    if matches.is_empty() {
        return Err(none(folder));
    }
    let mut rows = vec![row(["#", "started", "game", "agents", "result", "open"])];
    rows.extend(matches.iter().map(|it| shown(&it.row, it.number)));
    print(&table(&rows))
}

/// Returns a row of the table.
fn shown(listed: &Row, number: usize) -> Vec<String> {
    let open = format!("referee replay {}", shlex::try_quote(&listed.file).unwrap_or_default());
    let result = match &listed.result {
        Some(result) => result,
        None if listed.live => "running",
        None => "unfinished",
    };
    // The time to the minute, without zone: UTC.
    let started = listed.started.get(..16).unwrap_or_default().replace('T', " ");
    let agents = listed.names.join(", ");
    let cells = [&started, &listed.game, &agents, result, &open].map(sanitize);
    std::iter::once(number.to_string()).chain(cells).collect()
}

/// Returns the transcript with this number in the default folder.
pub(super) fn numbered(number: usize) -> Result<PathBuf, Failure> {
    let folder = Path::new(DEFAULT_FOLDER);
    let mut rows = rows(folder)?;
    let found = rows.nth(number.saturating_sub(1)).filter(|_| number > 0);
    found.map(|row| folder.join(row.file)).ok_or_else(|| {
        Failure::operation(format!("there is no match {number} in ./{DEFAULT_FOLDER}"))
            .help("`referee replay` lists them, from 1, the newest")
    })
}

/// Returns the newest transcript of a folder in which this agent came behind another.
pub(super) fn lost(folder: &Path, agent: &str) -> Result<PathBuf, Failure> {
    let mut names = Vec::new();
    for row in rows(folder)? {
        if row.losers.iter().any(|loser| loser == agent) {
            return Ok(folder.join(row.file));
        }
        names.extend(row.names);
    }
    if names.is_empty() {
        return Err(none(folder));
    }
    names.sort();
    names.dedup();
    let names = sanitize(&names.join(", "));
    let folder = folder.display();
    Err(Failure::operation(format!("there is no match in {folder} that {agent} lost"))
        .help(format!("the agents there are {names}")))
}

fn rows(folder: &Path) -> Result<impl Iterator<Item = Row>, Failure> {
    transcripts(folder, &Games::default()).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => none(folder),
        _ => Failure::operation(format!("{}: {error}", folder.display())),
    })
}

fn none(folder: &Path) -> Failure {
    Failure::operation(format!("there is no transcript in {}", folder.display()))
        .help("`referee play` writes transcripts to ./matches; or name a file or a folder")
}
