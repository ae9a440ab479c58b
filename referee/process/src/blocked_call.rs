//! What an agent waits for.

/// The system call in which an agent waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedCall {
    /// Its name.
    pub name: &'static str,
    /// Whether it reads the agent's stdin.
    pub reads_stdin: bool,
    /// Whether it reads another pipe.
    pub reads_pipe: bool,
    /// Whether it waits without a time limit.
    pub is_unlimited: bool,
    /// The name of the process that is in it, or that is waited for, if that isn't the agent's own.
    pub process: Option<String>,
}
