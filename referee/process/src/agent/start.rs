//! What is started, how, and how the machine may fail at it.

use crate::launcher::Step;
use crate::sandbox::Layer;
use nix::errno::Errno;
use std::fmt;

/// A program to start.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The program's file, resolved.
    pub file: std::path::PathBuf,
    /// Program and arguments, as given.
    pub command: Vec<String>,
    /// The working directory.
    pub folder: std::path::PathBuf,
    /// Variables, as `NAME=VALUE`, that are added to its environment.
    pub env: Vec<String>,
}

/// Why the machine could not start or keep a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartFailure {
    /// The step that failed.
    pub step: Step,
    /// The system's error.
    pub errno: Errno,
    /// The program was already running.
    pub running: bool,
}

impl StartFailure {
    /// Whether a layer of the sandbox could not be applied.
    pub fn is_of_layer(self) -> bool {
        matches!(self.step, Step::Layer(_)) && !self.running
    }

    /// Returns the cause of the void match that follows.
    pub fn cause(self) -> &'static str {
        match self.step {
            Step::Begin => "machine",
            Step::Layer(_) => "sandbox",
        }
    }

    /// Returns the system's reason.
    pub fn reason(self) -> &'static str {
        match (self.step, self.errno) {
            (Step::Layer(Layer::Seccomp), Errno::ENOMEM) => {
                "the kernel's memory for filters (sysctl net.core.bpf_jit_limit) is used up"
            }
            _ => self.errno.desc(),
        }
    }
}

/// Whether an error of exec means that a program, or the interpreter that it names, is damaged.
pub fn is_damaged(errno: Errno) -> bool {
    #[cfg(target_os = "linux")]
    if errno == Errno::ELIBBAD {
        return true;
    }
    errno == Errno::EIO
}

impl fmt::Display for StartFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.step {
            _ if self.running => return f.write_str("its supervisor ended unexpectedly"),
            Step::Begin => "supervisor".to_owned(),
            Step::Layer(layer) => format!("sandbox's {}", layer.name()),
        };
        write!(f, "can't be started: the {what} failed: {}", self.reason())
    }
}

#[cfg(test)]
mod tests {
    use super::{Errno, StartFailure, Step};
    use crate::sandbox::Layer;

    #[test]
    fn a_full_memory_for_filters_is_named() {
        let step = Step::Layer(Layer::Seccomp);
        let text = StartFailure { step, errno: Errno::ENOMEM, running: false }.to_string();
        assert!(text.contains("net.core.bpf_jit_limit"), "{text}");
    }
}
