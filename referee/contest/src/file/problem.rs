//! Errors in a contest file: the message with file, line and column, and the line with carets.

use referee_games::nearest;
use referee_protocol::sanitize::sanitize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::ops::Range;

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

    /// Returns an error of the TOML reader.
    fn toml_error(&self, error: &toml::de::Error) -> FileError {
        let message = sanitize(error.message());
        let help = near(&message);
        let message = user_message(&message);
        match error.span() {
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

    /// Suggests the known name that is nearest to this one, if one is near.
    #[must_use]
    pub(crate) fn or_near<'a>(self, name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        self.or_help(nearest(name, known).map(|near| format!("did you mean `{near}`?")))
    }
}
