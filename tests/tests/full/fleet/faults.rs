//! A failure of a worker is never an agent's loss: it is reported and retried.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::support::contest::{assert_whole, query, write};
use crate::support::{Running, TestDir, eventually, program};
use nix::sys::signal::Signal;
use std::time::Duration;

#[test]
fn a_build_that_fails_on_workers_is_reported_and_retried() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    dir.write("bots/made/agent.toml", "command = \"./run.sh\"\nbuild = \"sh make.sh\"\n");
    // A compiler that the coordinator has and the worker doesn't have yet.
    let program = program();
    let make = format!(
        "if [ -z \"$CC\" ]; then\n    echo begun\n    echo no tool to build with >&2\n    exit 3\nfi\n\
         printf '#!/bin/sh\\nexec {program} agent first\\n' > run.sh; chmod +x run.sh\n",
    );
    dir.write("bots/made/make.sh", make);
    write(&dir, &["bots/made", "@random"], "");
    let url = server.url();
    let worker = |name, compiler| {
        let mut worker = dir.command(&["worker", &url, "--jobs", "1", "--name", name]);
        worker.env("CC", compiler);
        Running::start(worker, None)
    };
    let ada = worker("ada", "");
    let words = ["contest", "run", "c.toml", "--out", "d", "--lease", "9s", "--on", &url];
    let mut coordinator = dir.command(&words);
    coordinator.env("CC", "cc");
    // There is no other worker.
    Running::start(coordinator, None)
        .wait_long()
        .code(4)
        .stderr_has("could not be played")
        .stderr_has("no tool to build with")
        .stderr_has("contest resume d");
    assert_eq!(query(&dir, "d", "select count(*) from games"), ["0"], "no agent has lost");
    ada.terminate().code(143);
    let worker = worker("dan", "cc");
    start_coordinator(&dir, &["resume", "d"], &url).wait().code(0);
    assert_whole(&dir, "d", 2);
    worker.terminate().code(143);
    dir.assert_tmp_is_empty();
}

#[test]
fn a_worker_paused_during_a_build_builds_once() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    dir.write("tool", "");
    dir.write("bots/made/agent.toml", "command = \"./run.sh\"\nbuild = \"sh make.sh\"\n");
    let at = |name| dir.path(name).display().to_string();
    // The coordinator has the tool. On the worker the build waits for the gate.
    let program = program();
    let make = format!(
        "if [ ! -e \"${{BUILD_TOOL:-/nowhere}}\" ]; then\n    mkdir {busy} || touch {busier}\n    \
         until [ -e {gate} ]; do sleep 0.05; done\n    rmdir {busy}\nfi\n\
         printf '#!/bin/sh\\nexec {program} agent first\\n' > run.sh; chmod +x run.sh\n",
        busy = at("busy"),
        busier = at("busier"),
        gate = at("gate"),
    );
    dir.write("bots/made/make.sh", make);
    // In a sandbox, the test and the build would not see each other's files.
    write(&dir, &["bots/made", "@random"], "sandbox.level = \"none\"\n");
    let url = server.url();
    let worker = start_worker(&dir, &url, &["--jobs", "1"]);
    let words = ["contest", "run", "c.toml", "--out", "d", "--lease", "9s", "--on", &url];
    let mut coordinator = dir.command(&words);
    coordinator.env("BUILD_TOOL", dir.path("tool"));
    let coordinator = Running::start(coordinator, None);
    assert!(eventually(|| dir.path("busy").exists()));
    // Longer than a third of the lease, so it gives its games back, but shorter than the lease.
    worker.send(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_secs(4));
    worker.send(Signal::SIGCONT);
    worker.wait_for_stderr("paused for");
    // Long enough for a second build, if builds did not wait for each other.
    std::thread::sleep(Duration::from_secs(4));
    dir.write("gate", "");
    let ran = coordinator.wait_long().code(0);
    assert!(!dir.path("busier").exists());
    assert!(!ran.stderr.contains("made: "), "{}", ran.stderr);
    assert_whole(&dir, "d", 2);
    worker.terminate().code(143);
    dir.assert_tmp_is_empty();
}
