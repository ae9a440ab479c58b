//! The failures of `check` as workflow commands of GitHub Actions, which show them beside the code. What else is
//! printed contains words of agents, which must not become commands.

use crate::cli::output::print_if_read;
use rand::TryRng;
use rand::rngs::SysRng;
use referee_play::check::CheckReport;
use referee_process::Failure;
use std::fmt::Write;
use std::path::Path;

/// The service ignores commands while this exists, except those of [`Self::annotate`]: it takes every line for one
/// that begins with `::`, also after spaces, or has `##[` anywhere.
#[derive(Debug)]
pub(super) struct StoppedCommands {
    /// What allows commands again; no agent can know it.
    token: String,
}

impl StoppedCommands {
    pub(super) fn begin() -> Result<Self, Failure> {
        let drawn = SysRng.try_next_u64().map_err(|error| {
            Failure::machine(format!("cannot get random bytes from the system: {error}"))
        })?;
        let stopped = Self { token: format!("referee-{drawn:016x}") };
        print_if_read(&stopped.stop())?;
        Ok(stopped)
    }

    fn stop(&self) -> String {
        format!("::stop-commands::{}\n", self.token)
    }

    fn resume(&self) -> String {
        format!("::{}::\n", self.token)
    }

    /// Prints the annotations of failures.
    pub(super) fn annotate(&self, reports: &[CheckReport], folder: &Path) -> Result<(), Failure> {
        let text = annotations(reports, folder);
        print_if_read(&format!("{}{text}{}", self.resume(), self.stop())).map(drop)
    }
}

impl Drop for StoppedCommands {
    fn drop(&mut self) {
        // What follows in the same step has its commands again.
        print_if_read(&self.resume()).ok();
    }
}

/// Returns a line for each failure. Files below `folder`, which is the repository, are named relative to it.
fn annotations(reports: &[CheckReport], folder: &Path) -> String {
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
