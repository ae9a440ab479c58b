//! What an agent waits for.

/// The system call in which an agent waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedCall {
    /// Its name.
    pub name: &'static str,
    /// Whether it reads the agent's stdin.
    pub reads_stdin: bool,
    /// Whether it waits without a time limit.
    pub is_unlimited: bool,
}
