//! Workers without the programs that agents need, and workers that leave.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::support::contest::{assert_whole, write};
use crate::support::{Running, TestDir, eventually};

/// Starts a worker whose PATH is empty.
fn broken(dir: &TestDir, url: &str) -> Running {
    let mut command = dir.command(&["worker", url, "--name", "bare", "--jobs", "2"]);
    command.env("PATH", "/nonexistent");
    Running::start(command, None)
}

/// Writes a contest with an agent whose program is looked up in PATH.
fn contest(dir: &TestDir, rounds: usize) {
    let echo = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)\n";
    dir.write("echo/echo.py", echo);
    dir.write("echo/agent.toml", "command = [\"python3\", \"echo.py\"]");
    let more = format!("rounds = {rounds}\nsandbox.level = \"none\"\n");
    write(dir, &["echo", "@first"], &more);
}

#[test]
fn a_good_worker_plays_the_games_of_a_broken_one() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    contest(&dir, 18);
    let url = server.url();
    let bare = broken(&dir, &url);
    let coordinator = start_coordinator(&dir, &["run", "c.toml", "--out", "there"], &url);
    // It has failed in every order before the other worker starts.
    coordinator.wait_for_stderr("worker bare: ");
    let good = start_worker(&dir, &url, &["--name", "good", "--jobs", "1"]);
    let ran = coordinator.wait().code(0);
    assert!(!ran.stderr.contains("could not be played"), "{}", ran.stderr);
    assert_whole(&dir, "there", 36);
    // It may leave before it counts the last reported games; the other has played none.
    good.terminate().code(143).stderr_has("exiting; played 3");
    bare.terminate().code(143).stderr_has("played 0 games");
}

#[test]
fn an_idle_worker_exits_without_a_server() {
    let Some(mut server) = Server::start() else { return };
    let dir = TestDir::new();
    let worker = start_worker(&dir, &server.url(), &["--idle", "10s"]);
    assert!(eventually(|| server.monitoring("/varz")["connections"] == 1));
    server.kill();
    let words = "the server can't be reached; played 0 games";
    worker.wait().code(0).stderr_has(words);
    // The server was never reachable.
    let worker = start_worker(&dir, &server.url(), &["--idle", "1s"]);
    worker.wait().code(0).stderr_has(words);
    dir.assert_tmp_is_empty();
}
