//! `verify` on a contest's folder.

use referee_contest::wording::count;
use referee_match::transcript::Status;
use referee_protocol::sanitize::sanitize;
use referee_runner::checking::ContestCheck;
use referee_runner::verifying::CheckedFile;
use std::fmt::Write;

/// The number of differences that are listed; more are counted.
const SHOWN_MAX: usize = 20;

/// Returns the line of the contest.
pub(crate) fn line(checked: &ContestCheck, folder: &str) -> CheckedFile {
    let status = if checked.differences.is_empty() { Status::Ok } else { Status::Disagrees };
    CheckedFile {
        file: folder.to_owned(),
        status,
        turns: checked.turns,
        outcome: None,
        detail: findings(checked).join("; "),
    }
}

/// Returns the result as text.
pub(crate) fn text(checked: &ContestCheck, folder: &str) -> String {
    let mut text = String::new();
    let schedule = &checked.schedule;
    let games = checked.games;
    let name = sanitize(&checked.stored.contest.name);
    writeln!(text, "contest {name} in {}: {games} games that count", sanitize(folder)).ok();
    for line in findings(checked) {
        writeln!(text, "  {}", sanitize(&line)).ok();
    }
    if checked.differences.is_empty() {
        let state = if schedule.is_over() { "over" } else { "not over yet" };
        let listed = checked.listed.map_or_else(String::new, |files| {
            format!(" and {} match SHA256SUMS", count(files, "file"))
        });
        writeln!(
            text,
            "  ok: schedule and store match the transcripts{listed}; the contest is {state}"
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
