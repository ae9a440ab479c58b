//! `verify` on a contest's folder.

use crate::cli::contest::report;
use referee_match::transcript::Status;
use referee_protocol::plain::sanitize;
use referee_runner::checking::ContestCheck;
use referee_runner::folder::Folder;
use referee_runner::verifying::CheckedFile;
use std::fmt::Write;

/// The number of differences that are listed; more are counted.
const SHOWN_MAX: usize = 20;

/// Compares the report in the folder with the one computed from the games.
pub(crate) fn compare_report(folder: &Folder, checked: &mut ContestCheck) {
    let (differences, note) = report::differences(folder, checked);
    checked.differences.extend(differences);
    checked.notes.extend(note);
}

/// Adds one report per game that counts, and one for the contest.
pub(crate) fn lines(checked: &ContestCheck, folder: &str, lines: &mut Vec<CheckedFile>) {
    lines.extend(checked.games.iter().cloned());
    let status = if checked.differences.is_empty() { Status::Ok } else { Status::Disagrees };
    lines.push(CheckedFile {
        file: folder.to_owned(),
        status,
        turns: checked.games.iter().map(|game| game.turns).sum(),
        outcome: None,
        detail: findings(checked).join("; "),
    });
}

/// Returns the result as text.
pub(crate) fn text(checked: &ContestCheck, folder: &str) -> String {
    let mut text = String::new();
    let schedule = &checked.schedule;
    let games = checked.records.iter().filter(|record| schedule.counts(record.number)).count();
    let name = sanitize(&checked.stored.contest.name);
    writeln!(text, "contest {name} in {}: {games} games that count", sanitize(folder)).ok();
    for line in findings(checked) {
        writeln!(text, "  {}", sanitize(&line)).ok();
    }
    if checked.differences.is_empty() {
        let state = if schedule.is_over() { "over" } else { "not over yet" };
        writeln!(
            text,
            "  ok: schedule, store, standings and ratings match the transcripts; the contest is \
             {state}"
        )
        .ok();
    }
    text
}

/// Returns the differences and notes, one per line.
fn findings(checked: &ContestCheck) -> Vec<String> {
    let count = checked.differences.len();
    let mut lines: Vec<String> = checked.differences.iter().take(SHOWN_MAX).cloned().collect();
    if count > SHOWN_MAX {
        lines.push(format!("and {} more differences", count - SHOWN_MAX));
    }
    lines.extend(checked.notes.iter().map(|note| format!("note: {note}")));
    lines
}
