//! Labelled rows, as `check` and `debug` print them: text is wrapped at the width of the terminal, lines
//! of agents are cut so that the caret below them fits.

use referee_match::diagnosis::caret;
use referee_protocol::sanitize::sanitize;
use std::fmt::Write;

/// The width of text if stdout is not a terminal.
const WIDTH: usize = 100;
/// The minimum width of text.
const WIDTH_MIN: usize = 40;

/// Builds rows.
#[derive(Debug)]
pub(super) struct Rows {
    text: String,
    /// Spaces before a label.
    indent: usize,
    /// Columns of a label and the space after it.
    label: usize,
    /// Columns of the text.
    width: usize,
}

impl Rows {
    /// Returns rows for stdout, with labels of up to `label` characters.
    pub(super) fn new(indent: usize, label: usize) -> Self {
        let terminal = terminal_size::terminal_size_of(std::io::stdout());
        let columns = terminal.map_or(WIDTH, |(width, _)| usize::from(width.0));
        Self::of(columns, indent, label)
    }

    fn of(columns: usize, indent: usize, label: usize) -> Self {
        let width = columns.max(WIDTH_MIN) - indent - label - 1;
        Self { text: String::new(), indent, label: label + 1, width }
    }

    /// Adds text without wrapping it, such as a command to paste.
    pub(super) fn verbatim(&mut self, label: &str, text: &str) {
        let (indent, width) = (self.indent, self.label);
        writeln!(self.text, "{:indent$}{label:width$}{text}", "").ok();
    }

    /// Adds text, wrapped.
    pub(super) fn wrapped(&mut self, label: &str, text: &str) {
        let mut label = label;
        for line in text.lines().chain(text.is_empty().then_some("")) {
            self.paragraph(label, &sanitize(line));
            label = "";
        }
    }

    fn paragraph(&mut self, label: &str, text: &str) {
        let mut label = label;
        let mut line = String::new();
        for word in text.split(' ') {
            let length = line.chars().count() + 1 + word.chars().count();
            if !line.is_empty() && length > self.width {
                self.verbatim(label, &line);
                label = "";
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.verbatim(label, &line);
    }

    /// Adds a line sent or received, cut to the width, with a caret below byte `at_byte` (from 1).
    pub(super) fn line(&mut self, label: &str, line: &[u8], at_byte: Option<usize>) {
        let (shown, column) = caret(line, at_byte, self.width);
        self.verbatim(label, &shown);
        if let Some(column) = column {
            self.verbatim("", &format!("{}^", " ".repeat(column)));
        }
    }

    /// Returns the rows.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    fn words_are_wrapped_and_lines_are_cut() {
        let mut rows = Rows::of(40, 2, 5);
        rows.wrapped("why", "a sentence of several words that does not fit into one row");
        rows.line("got", &[b'x'; 60], Some(50));
        rows.verbatim("again", &"y".repeat(60));
        let text = rows.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "  why   a sentence of several words that");
        assert_eq!(lines[1], "        does not fit into one row");
        assert!(lines[2].starts_with("  got   ..xxx") && lines[2].len() <= 40, "{text}");
        assert_eq!(lines[3].trim(), "^", "{text}");
        assert_eq!(lines[4].len(), 8 + 60, "verbatim text is not cut");
        assert!(lines[..4].iter().all(|line| line.len() <= 40), "{text}");
    }
}
