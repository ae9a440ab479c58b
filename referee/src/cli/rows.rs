//! Labelled rows of text, as `check` and `debug` tell what they found: words are wrapped where the
//! terminal ends, lines of agents are cut so that the caret under them stands where it should.

use referee_match::diagnosis::caret;
use referee_protocol::plain::tame;
use std::fmt::Write;

/// As wide as text is that no terminal bounds.
const WIDTH: usize = 100;
/// No narrower, whatever the terminal says.
const WIDTH_MIN: usize = 40;

/// Rows that are being written.
#[derive(Debug)]
pub(super) struct Rows {
    text: String,
    /// What stands before a label.
    indent: usize,
    /// What label and the space behind it take.
    label: usize,
    /// What is left for text.
    width: usize,
}

impl Rows {
    /// For stdout. Labels have up to `label` characters.
    pub(super) fn new(indent: usize, label: usize) -> Self {
        let terminal = terminal_size::terminal_size_of(std::io::stdout());
        let columns = terminal.map_or(WIDTH, |(width, _)| usize::from(width.0));
        Self::of(columns, indent, label)
    }

    fn of(columns: usize, indent: usize, label: usize) -> Self {
        let width = columns.max(WIDTH_MIN) - indent - label - 1;
        Self { text: String::new(), indent, label: label + 1, width }
    }

    /// A text as it is, however long: something to paste.
    pub(super) fn whole(&mut self, label: &str, text: &str) {
        let (indent, width) = (self.indent, self.label);
        writeln!(self.text, "{:indent$}{label:width$}{text}", "").ok();
    }

    /// Words, wrapped.
    pub(super) fn words(&mut self, label: &str, text: &str) {
        let mut label = label;
        for line in text.lines().chain(text.is_empty().then_some("")) {
            self.paragraph(label, &tame(line));
            label = "";
        }
    }

    fn paragraph(&mut self, label: &str, text: &str) {
        let mut label = label;
        let mut line = String::new();
        for word in text.split(' ') {
            let length = line.chars().count() + 1 + word.chars().count();
            if !line.is_empty() && length > self.width {
                self.whole(label, &line);
                label = "";
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.whole(label, &line);
    }

    /// A line of an agent or for one, cut to the width, with a caret under the byte `at_byte` (from
    /// 1) where one is given.
    pub(super) fn line(&mut self, label: &str, line: &[u8], at_byte: Option<usize>) {
        let (shown, column) = caret(line, at_byte, self.width);
        self.whole(label, &shown);
        if let Some(column) = column {
            self.whole("", &format!("{}^", " ".repeat(column)));
        }
    }

    /// The rows.
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
        rows.words("why", "a sentence of several words that does not fit into one row");
        rows.line("got", &[b'x'; 60], Some(50));
        rows.whole("again", &"y".repeat(60));
        let told = rows.finish();
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[0], "  why   a sentence of several words that");
        assert_eq!(lines[1], "        does not fit into one row");
        assert!(lines[2].starts_with("  got   ..xxx") && lines[2].len() <= 40, "{told}");
        assert_eq!(lines[3].trim(), "^", "{told}");
        assert_eq!(lines[4].len(), 8 + 60, "what is to be pasted stays whole");
        assert!(lines[..4].iter().all(|line| line.len() <= 40), "{told}");
    }
}
