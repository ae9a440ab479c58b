//! The failures of `check` as workflow commands of GitHub Actions, which show them beside the code.

use referee_play::check::CheckReport;
use std::fmt::Write;
use std::path::Path;

/// Returns a line for each failure. Files below `folder`, which is the repository, are named relative to it.
pub(super) fn annotations(reports: &[CheckReport], folder: &Path) -> String {
    let mut text = String::new();
    for report in reports {
        for probe in &report.probes {
            let Some(failure) = &probe.failure else { continue };
            let place = place(&failure.stderr, folder).map_or(String::new(), |(file, line)| {
                format!("file={},line={line},", property(file))
            });
            let title = property(&format!("{}: {}", report.shown_name(), probe.name));
            let message = format!("{}\nfix: {}\nagain: {}", failure.what, failure.fix, probe.again);
            writeln!(text, "::error {place}title={title}::{}", data(&message)).ok();
        }
    }
    text
}

/// Returns the last place in the folder that a Python traceback names.
fn place<'a>(stderr: &'a str, folder: &Path) -> Option<(&'a str, u32)> {
    let place = |line: &'a str| {
        let (file, rest) = line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        let file = Path::new(file);
        let own = if file.is_absolute() { file.strip_prefix(folder).ok()? } else { file };
        Some((own.to_str()?, digits.parse().ok()?))
    };
    stderr.lines().rev().find_map(place)
}

/// Escapes the text of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, place, property};
    use std::path::Path;

    #[test]
    fn the_last_own_place_of_a_traceback_is_found() {
        let stderr = "Traceback (most recent call last):\n  File \"/repo/agent/bot.py\", line 7, in \
                      choose\n    x = 1 / 0\n  File \"/usr/lib/python3/fractions.py\", line 99, in f\n\
                      ZeroDivisionError: division by zero\n";
        assert_eq!(place(stderr, Path::new("/repo")), Some(("agent/bot.py", 7)));
        assert_eq!(place(stderr, Path::new("/other")), None);
        assert_eq!(place("no traceback", Path::new("/")), None);
    }

    #[test]
    fn no_text_ends_a_command() {
        assert_eq!(data("50%\r\n::error::x"), "50%25%0D%0A::error::x");
        assert_eq!(property("a:b,c\n"), "a%3Ab%2Cc%0A");
    }
}
