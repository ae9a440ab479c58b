//! Workers and coordinators as processes that are killed when dropped.

use crate::support::{RunResult, Running, TestDir};
use nix::sys::signal::Signal;
use std::process::Command;

/// A running worker or coordinator.
pub(crate) struct FleetProcess {
    running: Option<Running>,
}

impl FleetProcess {
    /// Starts the program with these arguments.
    pub(crate) fn start(dir: &TestDir, words: &[&str]) -> Self {
        Self::of(dir.command(words))
    }

    /// Starts a command.
    pub(crate) fn of(command: Command) -> Self {
        Self { running: Some(Running::start(command, None)) }
    }

    /// Starts a worker that connects to this address, with more arguments.
    pub(crate) fn worker(dir: &TestDir, url: &str, words: &[&str]) -> Self {
        Self::start(dir, &[&["worker", url], words].concat())
    }

    /// Starts a coordinator: `contest` with these arguments and `--on URL`.
    pub(crate) fn coordinator(dir: &TestDir, words: &[&str], url: &str) -> Self {
        Self::start(dir, &[&["contest"], words, &["--on", url]].concat())
    }

    pub(crate) fn running(&self) -> &Running {
        self.running.as_ref().unwrap()
    }

    pub(crate) fn send(&self, signal: Signal) {
        self.running().send(signal);
    }

    /// Sends SIGKILL and waits.
    pub(crate) fn kill(self) -> RunResult {
        self.send(Signal::SIGKILL);
        self.wait()
    }

    /// Sends SIGTERM and waits.
    pub(crate) fn terminate(self) -> RunResult {
        self.send(Signal::SIGTERM);
        self.wait()
    }

    /// Waits until it ends.
    pub(crate) fn wait(mut self) -> RunResult {
        self.running.take().unwrap().wait()
    }

    /// Like [`Self::wait`], for runs of many minutes.
    pub(crate) fn wait_long(mut self) -> RunResult {
        self.running.take().unwrap().wait_long()
    }

    /// Returns whether the process has exited.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.running.as_mut().unwrap().has_ended()
    }
}

impl Drop for FleetProcess {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.send(Signal::SIGKILL);
        }
    }
}
