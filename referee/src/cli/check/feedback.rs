//! The result of `check` as Markdown, for the author of the agent.

use super::report::explain;
use referee_contest::report::escape_markdown;
use referee_play::check::{CheckReport, ProbeReport, Status};
use std::fmt::Write;

/// Returns the report on one agent.
pub(super) fn markdown(report: &CheckReport) -> String {
    let name = escape_markdown(report.shown_name());
    let result = if report.ok { "passed" } else { "failed" };
    let mut text = format!("# {name}: the check {result}\n\n{}\n\n", report.counts());
    for probe in &report.probes {
        failure(&mut text, probe);
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

fn failure(text: &mut String, probe: &ProbeReport) {
    let Some(failure) = &probe.failure else { return };
    let explained = anstream::adapter::strip_str(&explain(failure, &probe.again)).to_string();
    // Longer than any in the text, so that an agent's output can't end the block.
    let fence = (3..=explained.len() + 3)
        .map(|length| "`".repeat(length))
        .find(|fence| !explained.contains(fence));
    let fence = fence.unwrap_or_default();
    let title = escape_markdown(&probe.title);
    writeln!(text, "## Failed: {title}\n\n{fence}text\n{explained}{fence}\n").ok();
}
