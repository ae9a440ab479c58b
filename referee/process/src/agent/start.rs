//! What is started, where, and what the machine may fail at.

use crate::launcher::{Bounds, Bytes, Reach, Step};
use nix::errno::Errno;
use std::fmt;

/// A program to start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The file of the program, resolved.
    pub file: std::path::PathBuf,
    /// Program and arguments, as they were given.
    pub command: Vec<String>,
    /// The working directory.
    pub folder: std::path::PathBuf,
}

/// Where a program is started.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Its whole environment.
    pub environment: Vec<Bytes>,
    /// What it may use.
    pub bounds: Bounds,
    /// What it may reach.
    pub reach: Reach,
    /// The core that it is to stay on, where it is to stay on one.
    pub core: Option<usize>,
}

/// How much of what a process writes is kept, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct OutputLimits {
    /// The longest line on stdout, without its end.
    pub line_bytes: u64,
    /// Of stderr, at its head and as much at its tail.
    pub stderr_bytes: u64,
}

/// What the machine could not do to start a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// At which step.
    pub step: Step,
    /// What the system said.
    pub errno: Errno,
    /// The program ran already.
    pub running: bool,
}

impl Trouble {
    /// The cause of the void match that follows.
    pub fn cause(self) -> &'static str {
        match self.step {
            Step::Begin => "machine",
            Step::Layer(_) => "sandbox",
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.step {
            _ if self.running => return f.write_str("its supervisor was lost"),
            Step::Begin => "supervisor".to_owned(),
            Step::Layer(layer) => format!("sandbox's {}", layer.name()),
        };
        write!(f, "can't be started: the {what} failed: {}", self.errno.desc())
    }
}
