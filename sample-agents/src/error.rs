//! Errors of the built-in agents.

use std::io;

/// Why an agent stopped before the match was over. The text can follow "error: ".
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// There is no built-in agent with this name, or its argument is out of range. The text has the
    /// choices.
    #[error("{0}")]
    Name(String),
    /// The referee broke the protocol or the rules.
    #[error("{0}")]
    Referee(String),
    /// Reading or writing failed, usually because the other side exited.
    #[error("can't communicate with the referee: {0}")]
    Stream(#[from] io::Error),
    /// The deliberate crash of `crash`.
    #[error("crashing at turn {turn}, as this agent always does")]
    Crashed { turn: u64 },
}

impl AgentError {
    /// Creates an error for a broken protocol or rule.
    pub fn referee(text: impl Into<String>) -> Self {
        Self::Referee(text.into())
    }
}
