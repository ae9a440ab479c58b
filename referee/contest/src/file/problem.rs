//! Errors in a contest file: the message with file, line and column, and the line with carets.

use crate::forms::OUT_OF_RANGE;
use crate::settings::Mistake;
use referee_games::nearest;
use referee_protocol::sanitize::sanitize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The longest part of a line that is shown, in characters.
const SHOWN_CHARACTERS_MAX: usize = 100;
/// The longest message, in characters; it may quote the file.
const MESSAGE_CHARACTERS_MAX: usize = 1000;

/// A text and what it is called, for errors that point into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file, as errors name it. Empty for a generated text: its lines mean nothing to the user, so
    /// errors are the message alone.
    pub file: String,
    /// The whole text.
    pub text: String,
}

/// What is wrong with a contest file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct FileError {
    text: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Source {
    /// Returns an error at this part of the text, in bytes.
    pub fn error(&self, span: Range<usize>, message: impl fmt::Display) -> FileError {
        let start = self.boundary(span.start);
        let end = self.boundary(span.end.max(start));
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let number = self.line(start);
        let column = self.text[line_start..start].chars().count();
        let line = self.text[line_start..].lines().next().unwrap_or_default();
        let marked = self.text[start..end].lines().next().unwrap_or_default().chars().count();
        // A long line is shown from somewhat before what is wrong in it.
        let skipped = if column < SHOWN_CHARACTERS_MAX / 2 { 0 } else { column - 20 };
        let shown: String = line.chars().skip(skipped).take(SHOWN_CHARACTERS_MAX).collect();
        let shown = sanitize(&shown.replace('\t', " "));
        let carets = "^".repeat(marked.clamp(1, SHOWN_CHARACTERS_MAX - (column - skipped)));
        let message: String = message.to_string().chars().take(MESSAGE_CHARACTERS_MAX).collect();
        if self.file.is_empty() {
            return FileError { text: message, help: None };
        }
        let (file, gap) = (&self.file, " ".repeat(column - skipped));
        let gutter = " ".repeat(number.to_string().len());
        let column = column + 1;
        let text = format!(
            "{file}:{number}:{column}: {message}\n{gutter} |\n{number} | {shown}\n{gutter} | \
             {gap}{carets}"
        );
        FileError { text, help: None }
    }

    /// Returns an error about the whole file.
    pub fn error_of_all(&self, message: impl fmt::Display) -> FileError {
        let file = if self.file.is_empty() { String::new() } else { format!("{}: ", self.file) };
        FileError { text: format!("{file}{message}"), help: None }
    }

    /// Reads the text as TOML; an error has its place, and the nearest name for an unknown one.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, FileError> {
        toml::from_str(&self.text).map_err(|error| self.toml_error(&error))
    }

    /// Returns the line of a place, from 1.
    pub fn line(&self, at: usize) -> usize {
        self.text[..self.boundary(at)].matches('\n').count() + 1
    }

    fn tree(&self) -> Option<DeValue<'_>> {
        Some(DeValue::Table(DeTable::parse(&self.text).ok()?.into_inner()))
    }

    /// Returns where a key is and where its value is. The key has those of the tables and the numbers of the
    /// lists around it before it, such as `grades.marks.2.elo`.
    fn lookup(&self, key: &str) -> Option<[Range<usize>; 2]> {
        let tree = self.tree()?;
        let (mut value, mut found) = (&tree, [0..0, 0..0]);
        for part in key.split('.') {
            let next = match value {
                DeValue::Table(table) => {
                    let (key, next) = table.get_key_value(part)?;
                    found[0] = key.span();
                    next
                }
                DeValue::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
            found[1] = next.span();
            value = next.get_ref();
        }
        Some(found)
    }

    /// Returns where the items of a list are; of a table the first of `keys` that it has.
    pub(super) fn places(&self, list: &str, keys: &[&str]) -> Vec<Range<usize>> {
        let Some(DeValue::Table(table)) = self.tree() else { return Vec::new() };
        let items = table.get(list).map(Spanned::get_ref);
        let place = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
            DeValue::Table(table) => {
                keys.iter().find_map(|key| table.get(*key)).unwrap_or(item).span()
            }
            _ => item.span(),
        };
        match items {
            Some(DeValue::Array(items)) => items.iter().map(place).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns where the value of a key is, if the text has it.
    pub(super) fn place(&self, key: &str) -> Option<Range<usize>> {
        self.lookup(key).map(|[_, value]| value)
    }

    /// Returns the error of a mistake.
    pub(super) fn mistake(&self, mistake: Mistake) -> FileError {
        let Mistake { key, message, help, is_unknown } = mistake;
        let error = match self.lookup(&key) {
            Some([name, _]) if is_unknown => self.error(name, message),
            Some([_, value]) => self.error(value, message),
            None => self.error_of_all(message),
        };
        error.or_help(help)
    }

    /// Returns an error of the TOML reader.
    fn toml_error(&self, error: &toml::de::Error) -> FileError {
        let message = sanitize(error.message());
        let help = near(&message);
        let message = user_message(&message);
        match error.span() {
            Some(span) if message.starts_with(OUT_OF_RANGE) => {
                let before =
                    self.text[..self.boundary(span.start)].trim_end_matches([' ', '=', '\t']);
                let key = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
                let message = format!("`{}` {message}", key.unwrap_or_default());
                self.error(span, message)
            }
            Some(span) => self.error(span, message),
            None => self.error_of_all(message),
        }
        .or_help(help)
    }

    /// Returns the nearest place before `at` that is not inside a character.
    fn boundary(&self, at: usize) -> usize {
        let at = at.min(self.text.len());
        (0..=at).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0)
    }
}

/// Returns the TOML reader's message in terms of TOML, without types of Rust.
fn user_message(message: &str) -> String {
    let mut message = message
        .replace(", expected literal string", "")
        .replace("invalid key-value pair, expected key", "expected KEY = VALUE");
    for (begin, words) in [
        ("unknown field", "unknown key"),
        ("unknown variant", "unknown value"),
        ("missing field", "missing key"),
    ] {
        if let Some(rest) = message.strip_prefix(begin) {
            message = format!("{words}{rest}");
        }
    }
    let mismatch = ["invalid type: ", "invalid value: "];
    let mismatch = mismatch.iter().find_map(|begin| message.strip_prefix(begin));
    let Some((found, expected)) = mismatch.and_then(|rest| rest.split_once(", expected ")) else {
        return message;
    };
    let expected = match expected {
        "u32" | "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a map" => "a table",
        "a sequence" => "a list",
        expected if expected.starts_with("struct ") => "a table",
        expected => expected,
    };
    let found = match found.split_once(' ') {
        Some(("string", text)) => format!("the string {text}"),
        Some((_, number)) if number.ends_with('`') => {
            number.rsplit('`').nth(1).unwrap_or(number).to_owned()
        }
        _ => found.replace("sequence", "a list").replace("map", "a table"),
    };
    format!("expected {expected}, not {found}")
}

/// Returns a suggestion for an unknown name from the TOML reader's message, which has the name and
/// then the known ones between backticks.
fn near(message: &str) -> Option<String> {
    let mut quoted = message.strip_prefix("unknown ")?.split('`').skip(1).step_by(2);
    let given = quoted.next()?;
    nearest(given, quoted).map(|near| format!("did you mean `{near}`?"))
}

impl FileError {
    /// Adds what to do about it.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        self.or_help(Some(help.into()))
    }

    /// Adds what to do about it, if that is known.
    #[must_use]
    pub fn or_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }
}
