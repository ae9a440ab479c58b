//! Those who take part in a contest on many machines. Each ends with its owner.

use crate::support::{Place, Ran, Running};
use nix::sys::signal::Signal;
use std::process::Command;

/// The program while it takes part: a worker or a coordinator.
pub(crate) struct Member {
    running: Option<Running>,
}

impl Member {
    /// The program with these words.
    pub(crate) fn start(place: &Place, words: &[&str]) -> Self {
        Self::of(place.command(words))
    }

    /// Whoever this command starts.
    pub(crate) fn of(command: Command) -> Self {
        Self { running: Some(Running::start(command, None)) }
    }

    /// A worker that connects to this address, with more words.
    pub(crate) fn worker(place: &Place, url: &str, words: &[&str]) -> Self {
        Self::start(place, &[&["worker", url], words].concat())
    }

    /// A coordinator: `contest` with these words, on the server at this address.
    pub(crate) fn coordinator(place: &Place, words: &[&str], url: &str) -> Self {
        Self::start(place, &[&["contest"], words, &["--on", url]].concat())
    }

    pub(crate) fn running(&self) -> &Running {
        self.running.as_ref().unwrap()
    }

    pub(crate) fn send(&self, signal: Signal) {
        self.running().send(signal);
    }

    /// SIGKILL, and what it has said before.
    pub(crate) fn kill(self) -> Ran {
        self.send(Signal::SIGKILL);
        self.wait()
    }

    /// SIGTERM, and what it came to.
    pub(crate) fn dismiss(self) -> Ran {
        self.send(Signal::SIGTERM);
        self.wait()
    }

    /// Waits until it ends.
    pub(crate) fn wait(mut self) -> Ran {
        self.running.take().unwrap().wait()
    }

    /// The same for what takes many minutes.
    pub(crate) fn wait_for_long(mut self) -> Ran {
        self.running.take().unwrap().wait_for_long()
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.running.as_mut().unwrap().has_ended()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.send(Signal::SIGKILL);
        }
    }
}
