//! Why an agent stopped before the match was over.

use std::io;

/// Why an agent stopped before the match was over. The texts are fit to follow "error: ".
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// There is no built-in agent of this name, or its argument is out of range. The text says
    /// what there is.
    #[error("{0}")]
    Name(String),
    /// The referee said something that breaks the protocol or the rules as they are known here.
    #[error("{0}")]
    Referee(String),
    /// Reading or writing failed: mostly because the other side is gone.
    #[error("talking to the referee: {0}")]
    Stream(#[from] io::Error),
    /// What `crash` does at its first turn.
    #[error("crashing at turn {turn}, which is all that this agent is for")]
    Crashed {
        /// The turn that was asked for.
        turn: u64,
    },
}

impl AgentError {
    /// The referee said what it can't have.
    pub fn referee(text: impl Into<String>) -> Self {
        Self::Referee(text.into())
    }
}
