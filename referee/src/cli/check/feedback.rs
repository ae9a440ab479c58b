//! The result of `check` as Markdown, for the author of the agent.

use super::report::explain;
use crate::cli::shell::join;
use referee_contest::report::escape_markdown;
use referee_play::archives::archive_stem;
use referee_play::check::{CheckReport, ProbeReport, Status};
use referee_protocol::sanitize::sanitize_lines;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

/// Returns the report on one agent.
pub(super) fn markdown(report: &CheckReport) -> String {
    let name = escape_markdown(report.shown_name());
    let result = if report.ok { "passed" } else { "failed" };
    let mut text = format!("# {name}: the check {result}\n\n{}\n\n", report.counts());
    for probe in &report.probes {
        failure(&mut text, probe, report);
    }
    if !report.ok {
        text.push_str("`again` is a command for the agent's own folder.\n\n");
    }
    text.push_str("## All probes\n\n| # | probe | result |\n| ---: | --- | --- |\n");
    for probe in &report.probes {
        let result = match probe.status {
            Status::Passed => "ok",
            Status::Failed => "**failed**",
            Status::Skipped => "skipped",
            Status::NotApplicable => "doesn't apply",
        };
        let note = probe.note.iter().map(|note| format!(" ({})", escape_markdown(note)));
        let note: String = note.collect();
        let title = escape_markdown(&probe.title);
        writeln!(text, "| {} | {title} | {result}{note} |", probe.number).ok();
    }
    text
}

/// Returns a text without the places of the agent's files on this machine, which mean nothing to its author.
pub(super) fn without_places(text: &str, report: &CheckReport) -> String {
    report.places.iter().fold(text.to_owned(), |text, place| {
        let is_folder = place.is_dir();
        let name =
            place.file_name().filter(|_| !is_folder).map_or(".".into(), OsStr::to_string_lossy);
        let place = place.display().to_string();
        text.replace(&format!("{place}/"), "").replace(&place, &name)
    })
}

/// Returns a command for the author of an agent, who has its folder but not the one in which it was handed in.
pub(super) fn for_author(command: &str, report: &CheckReport) -> String {
    let agent = &report.agent;
    let own = shlex::split(agent).filter(|words| words.len() > 1);
    let words = own.unwrap_or_else(|| vec![agent.clone()]);
    let words: Vec<String> = words.iter().map(|word| inside(word, report.shown_name())).collect();
    let given = join(&[agent]);
    command.replacen(&given, &join(&[words.join(" ")]), 1)
}

/// Returns the part of a path below the folder with this name, or an archive of it, which is then `.`.
fn inside(word: &str, folder: &str) -> String {
    let mut parts = Path::new(word).iter();
    let is_it = |part: &OsStr| {
        part == folder || archive_stem(Path::new(part)).is_some_and(|stem| stem == folder)
    };
    if !parts.any(is_it) {
        return word.to_owned();
    }
    let inner = parts.as_path();
    if inner.as_os_str().is_empty() { ".".to_owned() } else { inner.display().to_string() }
}

fn failure(text: &mut String, probe: &ProbeReport, report: &CheckReport) {
    let Some(failure) = &probe.failure else { return };
    let title = escape_markdown(&probe.title);
    if let Some(first) = probe.same_as {
        let what = escape_markdown(&failure.what);
        writeln!(text, "## Failed: {title}\n\nAs in probe {first}: {what}\n").ok();
        return;
    }
    let explained = explain(failure, &for_author(&probe.again, report));
    let explained = anstream::adapter::strip_str(&explained).to_string();
    let explained = sanitize_lines(&explained);
    // Longer than any in the text, so that an agent's output can't end the block.
    let fence = (3..=explained.len() + 3)
        .map(|length| "`".repeat(length))
        .find(|fence| !explained.contains(fence));
    let fence = fence.unwrap_or_default();
    writeln!(text, "## Failed: {title}\n\n{fence}text\n{explained}{fence}\n").ok();
}

#[cfg(test)]
mod tests {
    use super::{inside, without_places};
    use referee_play::check::CheckReport;

    #[test]
    fn authors_see_no_places_of_their_files() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().canonicalize().unwrap();
        let file = folder.join("bot.py");
        std::fs::write(&file, "").unwrap();
        let text = format!("File \"{}\", line 3; in {}", file.display(), folder.display());
        let mut report = CheckReport::new("x", None, &[], &[]);
        report.places = vec![file, folder];
        assert_eq!(without_places(&text, &report), "File \"bot.py\", line 3; in .");
    }

    #[test]
    fn commands_are_for_the_folder_of_the_agent() {
        for (word, shown) in [
            ("bots/cat", "."),
            ("./bots/cat/main.py", "main.py"),
            ("/tmp/referee-unpacked-0/ab12/cat/src/main.py", "src/main.py"),
            ("python3", "python3"),
            ("bots/dog", "bots/dog"),
        ] {
            assert_eq!(inside(word, "cat"), shown);
        }
    }
}
