//! Output: text, JSON, and tables, which are aligned on a terminal and tab-separated in a pipe. All text that is not
//! drawn by the terminal viewer goes out here: names, files and words of others may have characters that a terminal
//! obeys, so nothing of that kind gets through except this program's own colours; nor do lines that are commands of the
//! service that runs this program.

use crate::reading::report::aligned;
use referee_contest::report::no_formula;
use referee_play::echo::may_be_commands;
use referee_process::Failure;
use referee_protocol::sanitize::{sanitize, sanitize_lines, without_commands};
use referee_render::{Charset, Style};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;

/// Whether colour may be used on stdout.
pub(super) fn stdout_has_colour() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Whether colour may be used on stderr.
pub(super) fn stderr_has_colour() -> bool {
    anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
}

/// Whether stdout is a terminal.
pub(super) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Prints text to stdout. Exits with code 0 if the reader has closed the pipe.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    if !print_if_read(text)? {
        std::process::exit(0);
    }
    Ok(())
}

/// Prints lines for a program, as they are unless a terminal shows them.
pub(super) fn print_exact(text: &str) -> Result<(), Failure> {
    print_by(|out| out.write_all(text.as_bytes()))
}

/// Prints what `write` writes to stdout, as it is unless a terminal shows it. Exits with code 0 if the reader has
/// closed the pipe.
pub(super) fn print_by(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let written = if stdout_is_terminal() {
        let mut shown = Vec::new();
        let written = write(&mut shown);
        let text = String::from_utf8_lossy(&shown);
        written.and_then(|()| anstream::stdout().write_all(harmless(&text).as_bytes()))
    } else {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out).and_then(|()| out.flush())
    };
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(error
            .downcast::<Failure>()
            .unwrap_or_else(|error| Failure::machine(format!("cannot write to stdout: {error}")))),
        Ok(()) => Ok(()),
    }
}

/// Prints text to stdout. Returns whether someone reads it, for commands whose exit code matters even
/// if the reader has closed the pipe.
pub(super) fn print_if_read(text: &str) -> Result<bool, Failure> {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(harmless(text).as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::machine(format!("cannot write to stdout: {error}"))),
        Ok(()) => Ok(true),
    }
}

/// Prints commands for a service, whose texts are escaped.
pub(super) fn print_commands(text: &str) -> Result<(), Failure> {
    anstream::stdout().write_all(text.as_bytes()).or_else(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(Failure::machine(format!("cannot write to stdout: {error}"))),
    })
}

/// The target of messages that are logged.
pub(super) const MESSAGES: &str = "messages";

static LOGS_MESSAGES: OnceLock<()> = OnceLock::new();

/// Writes all messages to the log from now on, which gives them a time and a level.
pub(super) fn log_messages() {
    LOGS_MESSAGES.get_or_init(|| ());
}

/// Prints a line to stderr.
pub(super) fn eprint_line(text: &str) {
    if LOGS_MESSAGES.get().is_none() {
        writeln!(anstream::stderr(), "{}", plain(text)).ok();
    } else if let Some(text) = text.strip_prefix("warning: ") {
        tracing::warn!(target: MESSAGES, "{text}");
    } else {
        tracing::info!(target: MESSAGES, "{text}");
    }
}

/// Prints an error to stderr, and what to do about it.
pub(super) fn eprint_failure(failure: &Failure) {
    if LOGS_MESSAGES.get().is_some() {
        let help = failure.help_text();
        return tracing::error!(target: MESSAGES, help, "{failure}");
    }
    let mut stderr = anstream::stderr();
    let (red, off) = ("\x1b[1;31m", "\x1b[0m");
    // A closed stderr is ignored.
    writeln!(stderr, "{red}error:{off} {}", plain(&failure.to_string())).ok();
    if let Some(help) = failure.help_text() {
        eprint_help(help);
    }
}

/// Prints what to do about an error to stderr.
pub(super) fn eprint_help(help: &str) {
    let (cyan, off) = ("\x1b[36m", "\x1b[0m");
    writeln!(anstream::stderr(), "{cyan}help:{off} {}", plain(help)).ok();
}

/// Returns text without what a terminal or a service would obey.
fn plain(text: &str) -> String {
    let text = sanitize_lines(text);
    if may_be_commands() { without_commands(&text) } else { text }
}

/// Returns the same with colours.
fn harmless(text: &str) -> Cow<'_, str> {
    let text = coloured(text);
    if may_be_commands() { without_commands(&text).into() } else { text }
}

/// Returns text without what a terminal would obey, except colours.
fn coloured(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) || byte == b'\n' || byte == b'\t';
    if text.bytes().all(is_plain) {
        return text.into();
    }
    let mut parts = text.split('\x1b');
    let mut shown = sanitize_lines(parts.next().unwrap_or_default());
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c == '[' || c == ';' || c.is_ascii_digit());
        let is_colour = part.starts_with('[') && rest.starts_with('m');
        shown.push(if is_colour { '\x1b' } else { char::REPLACEMENT_CHARACTER });
        shown.push_str(&sanitize_lines(part));
    }
    shown.into()
}

/// Fails if a file named by this option exists, unless it may be overwritten.
pub(super) fn check_new(option: &str, file: &Path, force: bool) -> Result<(), Failure> {
    if !file.exists() || force {
        return Ok(());
    }
    Err(Failure::usage(format!("{option} {}: the file already exists", file.display()))
        .help("add --force to overwrite it"))
}

/// Prints a value as one line of JSON.
pub(super) fn print_json<T: Serialize>(value: &T) -> Result<(), Failure> {
    print_exact(&to_json(value)?)
}

/// Returns a value as one line of JSON.
pub(super) fn to_json<T: Serialize>(value: &T) -> Result<String, Failure> {
    // A service takes a line for a command that has this, which only texts can have.
    let hidden = |text: String| {
        if may_be_commands() { text.replace("##[", "#\\u0023[") } else { text }
    };
    serde_json::to_string(value)
        .map(|text| hidden(text) + "\n")
        .map_err(|error| Failure::operation(format!("cannot write the result as JSON: {error}")))
}

/// Returns a row of a table.
pub(super) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// Returns text of others as a cell of a table. What is in a pipe may be read by a spreadsheet.
pub(super) fn cell(text: &str) -> String {
    if stdout_is_terminal() { sanitize(text) } else { no_formula(text) }
}

/// Formats a table: columns aligned on a terminal, tab-separated in a pipe.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    if stdout_is_terminal() {
        return aligned(rows);
    }
    let line = |row: &Vec<String>| {
        row.iter().map(|cell| sanitize(cell)).collect::<Vec<_>>().join("\t") + "\n"
    };
    rows.iter().map(line).collect()
}

/// The values of --board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum BoardChoice {
    /// Unicode if the locale is UTF-8, else ASCII
    #[default]
    Auto,
    /// No board
    None,
    /// ASCII only
    Ascii,
    /// Unicode
    Unicode,
}

/// The options of every command that shows boards.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Display")]
pub(super) struct BoardOptions {
    /// How to draw boards
    #[arg(long, value_enum, default_value_t, env = "REFEREE_BOARD")]
    pub(super) board: BoardChoice,
    /// Show coordinates on two sides
    #[arg(short = 'k', long)]
    pub(super) coords: bool,
    /// Rotate the board by 180 degrees
    #[arg(long)]
    pub(super) flip: bool,
}

impl BoardOptions {
    /// Returns the style to draw with; `None` for no board.
    pub(super) fn style(&self, colour: bool) -> Option<Style> {
        let charset = match self.board {
            BoardChoice::None => return None,
            BoardChoice::Unicode => Charset::Unicode,
            BoardChoice::Auto if locale_has_unicode() => Charset::Unicode,
            BoardChoice::Ascii | BoardChoice::Auto => Charset::Ascii,
        };
        let (coordinates, flip) = (self.coords, self.flip);
        Some(Style { charset, colour, coordinates, flip, ..Style::default() })
    }
}

/// Whether the locale is UTF-8.
pub(super) fn locale_has_unicode() -> bool {
    let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let name = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(set);
    let value = name.and_then(|name| std::env::var(name).ok()).unwrap_or_default();
    let value = value.to_ascii_lowercase();
    value.contains("utf-8") || value.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::coloured;

    #[test]
    fn only_colours_get_through() {
        for (text, shown) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\x1b[1;31mred\x1b[0m \u{2b21}", "\x1b[1;31mred\x1b[0m \u{2b21}"),
            ("\x1b]52;c;eA==\x07", "\u{FFFD}]52;c;eA==\u{FFFD}"),
            ("\x1b[2J\x1b[31", "\u{FFFD}[2J\u{FFFD}[31"),
            ("\x1b\x1b[0m\x1bc", "\u{FFFD}\x1b[0m\u{FFFD}c"),
            ("a\u{9b}2J\u{202e}b\rc", "a\u{FFFD}2J\u{FFFD}b\u{FFFD}c"),
        ] {
            assert_eq!(coloured(text), shown, "{text:?}");
        }
    }
}
