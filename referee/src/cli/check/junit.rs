//! The results of `check` for continuous integration: the XML of `JUnit`, one suite per agent.

use referee_play::check::{CheckReport, ProbeReport, Status};
use referee_protocol::sanitize::sanitize_lines;
use std::fmt::Write;

/// Returns the file for these reports. `again` is the command that repeats a probe.
pub(super) fn junit(
    reports: &[CheckReport],
    again: impl Fn(&ProbeReport, &CheckReport) -> String,
) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for report in reports {
        let count = |status| report.probes.iter().filter(|it| it.status == status).count();
        let (failed, skipped) =
            (count(Status::Failed), count(Status::Skipped) + count(Status::NotApplicable));
        let suite = escaped(report.shown_name());
        let tests = report.probes.len();
        writeln!(
            text,
            " <testsuite name=\"{suite}\" tests=\"{tests}\" failures=\"{failed}\" skipped=\"{skipped}\">"
        )
        .ok();
        for probe in &report.probes {
            write!(text, "  <testcase classname=\"{suite}\" name=\"{}\"", escaped(&probe.name))
                .ok();
            match (&probe.failure, &probe.status) {
                (Some(failure), _) => {
                    let message = escaped(&failure.what);
                    let rest =
                        escaped(&format!("fix: {}\nagain: {}", failure.fix, again(probe, report)));
                    let stderr = escaped(&failure.stderr);
                    writeln!(
                        text,
                        "><failure message=\"{message}\">{rest}</failure><system-err>{stderr}</system-err></testcase>"
                    )
                    .ok();
                }
                (None, Status::Skipped | Status::NotApplicable) => {
                    text.push_str("><skipped/></testcase>\n");
                }
                (None, _) => text.push_str("/>\n"),
            }
        }
        text.push_str(" </testsuite>\n");
    }
    text + "</testsuites>\n"
}

/// Escapes text for XML, without characters that XML can't contain or that nobody sees.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in sanitize_lines(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_and_control_characters_are_escaped() {
        assert_eq!(
            escaped("<a b=\"1\">&\u{1b}[1m\n\u{fffe}\u{202e}\u{9b}"),
            "&lt;a b=&quot;1&quot;&gt;&amp;\u{fffd}[1m\n\u{fffd}\u{fffd}\u{fffd}"
        );
    }
}
