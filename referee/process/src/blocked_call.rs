//! What an agent does, and what it waits for.

/// What the processes of an agent do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Activity {
    /// All threads sleep, or it isn't known.
    Sleeps,
    /// A thread seems to wait for the disk, or a process has ended and its supervisor has not reported that yet. A
    /// program may find ways to look so for as long as it likes.
    Waits,
    /// A thread runs, or waits for a core.
    Runs,
}

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
