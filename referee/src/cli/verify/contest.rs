//! What `verify` says of a contest's folder.

use super::{Told, as_json};
use crate::cli::contest::report;
use referee_match::transcript::Status;
use referee_protocol::plain::tame;
use referee_runner::checking::Checked;
use referee_runner::folder::Folder;
use std::fmt::Write;

/// More differences than these are only counted.
const SHOWN_MAX: usize = 20;

/// Compares the report that a run left in the folder with the one that follows from the games.
pub(crate) fn compare_report(folder: &Folder, checked: &mut Checked) {
    let (differences, note) = report::differences(folder, checked);
    checked.differences.extend(differences);
    checked.notes.extend(note);
}

/// One line a game that counts, and one for the contest itself.
pub(crate) fn lines(checked: &Checked, folder: &str, lines: &mut Vec<Told>) {
    lines.extend(checked.games.iter().map(as_json));
    let status = if checked.differences.is_empty() { Status::Ok } else { Status::Disagrees };
    lines.push(Told {
        file: folder.to_owned(),
        status: status.to_string(),
        turns: checked.games.iter().map(|game| game.turns).sum(),
        outcome: None,
        detail: told(checked).join("; "),
    });
}

/// The same for people.
pub(crate) fn text(checked: &Checked, folder: &str) -> String {
    let mut text = String::new();
    let schedule = &checked.schedule;
    let games = checked.records.iter().filter(|record| schedule.counts(record.number)).count();
    let name = tame(&checked.kept.contest.name);
    writeln!(text, "contest {name} in {}: {games} games that count", tame(folder)).ok();
    for line in told(checked) {
        writeln!(text, "  {}", tame(&line)).ok();
    }
    if checked.differences.is_empty() {
        let state = if schedule.is_over() { "over" } else { "not over" };
        writeln!(
            text,
            "  ok: the schedule, the store, the table and the ratings follow from the transcripts; \
             the contest is {state}"
        )
        .ok();
    }
    text
}

fn told(checked: &Checked) -> Vec<String> {
    let count = checked.differences.len();
    let mut told: Vec<String> = checked.differences.iter().take(SHOWN_MAX).cloned().collect();
    if count > SHOWN_MAX {
        told.push(format!("and {} more differences", count - SHOWN_MAX));
    }
    told.extend(checked.notes.iter().map(|note| format!("note: {note}")));
    told
}
