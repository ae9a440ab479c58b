//! Contests that wait for workers: several at once, and without any worker.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::support::contest::{assert_whole, file};
use crate::support::{TestDir, eventually};
use nix::sys::signal::Signal;

/// Writes the file of a short contest.
fn contest(dir: &TestDir, name: &str) -> String {
    let text = file(&["@first", "@random"], "rounds = 3\n");
    dir.write(&format!("{name}.toml"), text.replace("autumn", name))
}

/// Streams per contest: orders, reports, objects. One more is shared by all contests.
const STREAMS: usize = 3;

#[test]
fn abandoned_contests_do_not_block_workers() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    let url = server.url();
    for (count, name) in [(1, "autumn"), (2, "winter")] {
        let file = contest(&dir, name);
        let coordinator = start_coordinator(&dir, &["run", &file, "--out", name], &url);
        assert!(eventually(|| server.streams().len() > count * STREAMS), "{:?}", server.streams());
        coordinator.wait_for_stderr("no worker has connected yet");
        coordinator.kill();
    }
    let worker = start_worker(&dir, &url, &["--jobs", "1"]);
    let file = contest(&dir, "spring");
    start_coordinator(&dir, &["run", &file, "--out", "spring"], &url).wait().code(0);
    assert_whole(&dir, "spring", 6);
    worker.terminate().code(143);
}

#[test]
fn an_interrupt_ends_a_contest_without_workers() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    let file = contest(&dir, "lonely");
    let coordinator = start_coordinator(&dir, &["run", &file, "--out", "d"], &server.url());
    coordinator.wait_for_stderr("no worker has connected yet");
    coordinator.send(Signal::SIGINT);
    coordinator.wait().code(130).stderr_has("contest resume d");
    // A later worker plays the resumed contest.
    let coordinator = start_coordinator(&dir, &["resume", "d"], &server.url());
    let worker = start_worker(&dir, &server.url(), &["--jobs", "1"]);
    coordinator.wait().code(0);
    assert_whole(&dir, "d", 6);
    worker.terminate().code(143);
}
