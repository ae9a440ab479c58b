//! What becomes of a worker's games when it is told to leave, is paused, or the contest is stopped.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::support::contest::{assert_whole, count, status, write};
use crate::support::{Running, TestDir, eventually, program};
use nix::sys::signal::Signal;
use std::time::Duration;

/// Writes a contest of two games, in which an agent is ready once the file `gate` exists.
fn gated_contest() -> TestDir {
    let dir = TestDir::new();
    let gate = dir.path("gate").display().to_string();
    let waits = format!("until [ -e '{gate}' ]; do sleep 0.05; done");
    dir.write("gated/agent.toml", "command = [\"./gated\"]");
    dir.program("gated/gated", &format!("#!/bin/sh\n{waits}\nexec '{}' agent first\n", program()));
    // In a sandbox the agent would not see the gate.
    write(&dir, &["gated", "@random"], "sandbox.level = \"none\"\n");
    dir
}

/// Waits until the worker of this name plays a game.
fn wait_until_it_plays(dir: &TestDir, name: &str) {
    let plays = || {
        let workers = status(dir, "d")["workers"].as_array().cloned().unwrap_or_default();
        let own = workers.into_iter().find(|worker| worker["name"] == name);
        own.is_some_and(|worker| worker["games"].as_array().is_some_and(|games| !games.is_empty()))
    };
    assert!(eventually(|| dir.path("d/contest.db").exists()));
    assert!(eventually(plays), "{}", status(dir, "d"));
}

/// Starts a coordinator with this lease.
fn coordinator(dir: &TestDir, server: &Server, lease: &str) -> Running {
    let words = ["run", "c.toml", "--out", "d", "--lease", lease];
    start_coordinator(dir, &words, &server.url())
}

#[test]
fn an_interrupted_worker_finishes_its_games() {
    let Some(server) = Server::start() else { return };
    let dir = gated_contest();
    let coordinator = coordinator(&dir, &server, "30s");
    let worker = start_worker(&dir, &server.url(), &["--jobs", "1", "--name", "ada"]);
    wait_until_it_plays(&dir, "ada");
    worker.send(Signal::SIGINT);
    worker.wait_for_stderr("finishing 1 order");
    dir.write("gate", "");
    worker.wait().code(130);
    // There was no other worker.
    coordinator.wait().code(0);
    assert_whole(&dir, "d", 2);
    dir.assert_tmp_is_empty();
}

/// Long before its lease ends.
#[test]
fn a_worker_that_may_not_finish_returns_its_orders_at_once() {
    let Some(server) = Server::start() else { return };
    let dir = gated_contest();
    let coordinator = coordinator(&dir, &server, "1h");
    let start = |name, more: &[&str]| {
        let words = [&["--jobs", "1", "--name", name], more].concat();
        start_worker(&dir, &server.url(), &words)
    };
    let hasty = start("hasty", &["--drain", "100ms"]);
    wait_until_it_plays(&dir, "hasty");
    hasty.terminate().code(143);
    let asked_twice = start("twice", &[]);
    wait_until_it_plays(&dir, "twice");
    asked_twice.send(Signal::SIGINT);
    asked_twice.wait_for_stderr("finishing 1 order");
    asked_twice.send(Signal::SIGTERM);
    asked_twice.wait().code(130);
    dir.write("gate", "");
    let last = start("last", &[]);
    coordinator.wait().code(0);
    assert_whole(&dir, "d", 2);
    last.terminate().code(143);
    dir.assert_tmp_is_empty();
}

#[test]
fn a_paused_worker_plays_its_games_again() {
    let Some(server) = Server::start() else { return };
    let dir = gated_contest();
    let coordinator = coordinator(&dir, &server, "3s");
    let worker = start_worker(&dir, &server.url(), &["--jobs", "1", "--name", "ada"]);
    wait_until_it_plays(&dir, "ada");
    worker.send(Signal::SIGSTOP);
    // More than a third of the lease.
    std::thread::sleep(Duration::from_millis(1500));
    worker.send(Signal::SIGCONT);
    worker.wait_for_stderr("paused for");
    dir.write("gate", "");
    coordinator.wait().code(0);
    assert_whole(&dir, "d", 2);
    worker.terminate().code(143);
}

#[test]
fn a_stopped_contest_stops_its_workers() {
    let Some(server) = Server::start() else { return };
    let dir = gated_contest();
    let coordinator = coordinator(&dir, &server, "30s");
    let worker = start_worker(&dir, &server.url(), &["--jobs", "1", "--name", "ada"]);
    wait_until_it_plays(&dir, "ada");
    coordinator.send(Signal::SIGINT);
    coordinator.wait_for_stderr("finishing");
    coordinator.send(Signal::SIGTERM);
    coordinator.wait().code(130);
    worker.wait_for_stderr("the coordinator has stopped the contest");
    assert_eq!(count(&dir, "d"), 0);
    worker.terminate().code(143);
    dir.assert_tmp_is_empty();
}
