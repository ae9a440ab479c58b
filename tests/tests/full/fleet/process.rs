//! Workers and coordinators.

use crate::support::{Running, TestDir};

/// Starts a worker that connects to this address, with more arguments.
pub(crate) fn start_worker(dir: &TestDir, url: &str, words: &[&str]) -> Running {
    dir.start(&[&["worker", url], words].concat())
}

/// Starts a coordinator: `contest` with these arguments and `--on URL`.
pub(crate) fn start_coordinator(dir: &TestDir, words: &[&str], url: &str) -> Running {
    dir.start(&[&["contest"], words, &["--on", url]].concat())
}
