//! Contests on one server share its workers.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::support::contest::{assert_whole, count, file, status};
use crate::support::{Running, TestDir, eventually};
use nix::sys::signal::Signal;

/// Starts a contest with this many rounds of two games.
fn start(dir: &TestDir, url: &str, name: &str, rounds: usize, more: &[&str]) -> Running {
    let text = file(&["@first", "@random"], &format!("rounds = {rounds}\n"));
    dir.write(&format!("{name}.toml"), text.replace("autumn", name));
    let toml = format!("{name}.toml");
    let words = [&["run", &toml, "--out", name], more].concat();
    start_coordinator(dir, &words, url)
}

#[test]
fn a_waiting_contest_says_why_and_gets_its_turn() {
    let Some(server) = Server::start() else { return };
    let (dir, url) = (TestDir::new(), server.url());
    let worker = start_worker(&dir, &url, &["--jobs", "1", "--name", "ada"]);
    // Turns are as long as a lease.
    let long = start(&dir, &url, "long", 100_000, &["--priority", "10000", "--lease", "1h"]);
    assert!(eventually(|| count(&dir, "long") > 0));
    let short = start(&dir, &url, "short", 3, &["--priority", "1"]);
    short.wait_for_stderr("waiting for workers: all of them play other contests now (long)");
    let state = || status(&dir, "short")["workers"][0]["elsewhere"].clone();
    assert!(eventually(|| state() == "long"), "{}", state());
    // The other one's workers are free now.
    long.send(Signal::SIGINT);
    long.wait_long().code(130).stderr_has("--priority 10000");
    short.wait_long().code(0);
    assert_whole(&dir, "short", 6);
    worker.terminate().code(143);
}
