//! Why an operation failed, and what to do about it.

use std::io;

/// Why an operation failed. Printed as `error: ..` and, if a remedy is known, `help: ..`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    kind: FailureKind,
    text: String,
    help: Option<String>,
    cause: Option<Cause>,
}

/// Whose a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The operation failed, or something didn't verify.
    Operation,
    /// What was asked for is invalid.
    Usage,
    /// The machine failed.
    Machine,
}

/// What caused a failure, where callers react to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A program, or a file of it, is missing.
    Missing,
    /// An `agent.toml` exists but is invalid.
    Manifest,
    /// The disk is full.
    DiskFull,
    /// There is no room for what is only needed for a moment.
    NoTemporaryRoom,
}

impl Failure {
    /// The operation failed.
    pub fn operation(text: impl Into<String>) -> Self {
        Self::new(FailureKind::Operation, text)
    }

    /// What was asked for is invalid.
    pub fn usage(text: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, text)
    }

    /// The machine failed.
    pub fn machine(text: impl Into<String>) -> Self {
        Self::new(FailureKind::Machine, text)
    }

    /// A failure of this kind. Leaves out the system's error numbers, `(os error 2)`.
    pub fn new(kind: FailureKind, text: impl Into<String>) -> Self {
        let mut text = text.into();
        while let Some(start) = text.find(" (os error ")
            && let Some(length) = text[start..].find(')')
        {
            text.replace_range(start..=start + length, "");
        }
        Self { kind, text, help: None, cause: None }
    }

    /// Names what failed, before the text.
    #[must_use]
    pub fn of(mut self, what: &str) -> Self {
        self.text = format!("{what}: {}", self.text);
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what to do about it, if known.
    #[must_use]
    pub fn or_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, cause: Cause) -> Self {
        self.cause = Some(cause);
        self
    }

    /// Adds the cause [`Cause::Missing`] for an error of that kind.
    #[must_use]
    pub fn because_of(self, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { self.because(Cause::Missing) } else { self }
    }

    /// Returns the cause, if known.
    pub fn cause(&self) -> Option<Cause> {
        self.cause
    }

    /// Returns whose it is.
    pub fn kind(&self) -> FailureKind {
        self.kind
    }

    /// Returns what to do about it, if known.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }
}
/// Where something that writes fails otherwise too. [`io::Error::downcast`] returns it.
impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        Self::other(failure)
    }
}
