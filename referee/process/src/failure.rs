//! What went wrong at the command line, with what to do about it and the exit code that says so.

use std::io;

/// Why a command failed. Reads as `error: ..` and, where it is known what to do, `help: ..`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    code: u8,
    text: String,
    help: Option<String>,
    cause: Option<Cause>,
}

/// What a failure comes from, where a caller does something about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A program, or a file of it, isn't there.
    Missing,
    /// An `agent.toml` is there, but not right.
    Manifest,
}

impl Failure {
    /// The operation failed, or something didn't verify.
    pub const OPERATION: u8 = 1;
    /// The command can't be understood.
    pub const USAGE: u8 = 2;
    /// An agent was at fault, where that decides.
    pub const AGENT: u8 = 3;
    /// The machine failed.
    pub const MACHINE: u8 = 4;

    /// The operation failed.
    pub fn operation(text: impl Into<String>) -> Self {
        Self::new(Self::OPERATION, text)
    }

    /// The command can't be understood.
    pub fn usage(text: impl Into<String>) -> Self {
        Self::new(Self::USAGE, text)
    }

    /// The machine failed.
    pub fn machine(text: impl Into<String>) -> Self {
        Self::new(Self::MACHINE, text)
    }

    /// With an exit code of its own.
    pub fn new(code: u8, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), help: None, cause: None }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same with what to do about it, where that is known.
    #[must_use]
    pub fn or_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// The same with what it comes from.
    #[must_use]
    pub fn because(mut self, cause: Cause) -> Self {
        self.cause = Some(cause);
        self
    }

    /// The same, which comes from an error of the system.
    #[must_use]
    pub fn because_of(self, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { self.because(Cause::Missing) } else { self }
    }

    /// What it comes from, where that is known.
    pub fn cause(&self) -> Option<Cause> {
        self.cause
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// What to do about it.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }
}
