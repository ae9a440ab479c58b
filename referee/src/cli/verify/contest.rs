//! `verify` on a contest's folder.

use referee_match::transcript::Status;
use referee_protocol::plain::sanitize;
use referee_runner::checking::ContestCheck;
use referee_runner::log_checking::{Signature, SignatureStatus};
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
        signature: Some(checked.signature.clone()),
    }
}

/// Returns the result as text.
pub(crate) fn text(checked: &ContestCheck, folder: &str) -> String {
    let mut text = String::new();
    let schedule = &checked.schedule;
    let games = checked.games;
    let name = sanitize(&checked.stored.contest.name);
    writeln!(text, "contest {name} in {}: {games} games that count", sanitize(folder)).ok();
    writeln!(text, "  {}", sanitize(&signed(&checked.signature))).ok();
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

/// Says who signed a contest.
fn signed(signature: &Signature) -> String {
    let Signature { status, key, name, at, expected } = signature;
    let who = || {
        let (name, key) = (name.as_deref().unwrap_or("?"), key.as_deref().unwrap_or("?"));
        let known = if *expected { "the expected key" } else { "a key that is not pinned" };
        format!("{name}, {key}, {known}, at {}", at.as_deref().unwrap_or("?"))
    };
    match (status, key) {
        (SignatureStatus::Signed, _) => format!("signed by {}", who()),
        (SignatureStatus::Unsigned, _) => "unsigned: anyone may have changed it".to_owned(),
        (SignatureStatus::Broken, None) => "the signature is broken".to_owned(),
        (SignatureStatus::Broken, Some(_)) => format!("the signature is broken: {}", who()),
    }
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
