//! What a worker can't do is never an agent's loss: it is told, and tried again.

use super::people::Member;
use super::server::Server;
use crate::contest::{assert_whole, query, write};
use crate::support::{PROGRAM, Place, eventually};
use nix::sys::signal::Signal;
use std::time::Duration;

#[test]
fn a_build_that_fails_on_the_workers_is_told_and_tried_again() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    place.write("tool", "");
    let everywhere = place.path("everywhere");
    place.write("bots/made/agent.toml", "command = \"./run.sh\"\nbuild = \"sh make.sh\"\n");
    let program = format!("#!/bin/sh\\nexec {PROGRAM} agent first\\n");
    // What the coordinator has, and workers haven't yet.
    let make = format!(
        "if [ ! -e $HERE ] && [ ! -e {} ]; then\n    echo begun\n    \
         echo no tool to build with >&2\n    exit 3\nfi\n\
         printf '{program}' > run.sh; chmod +x run.sh\n",
        everywhere.display()
    );
    place.write("bots/made/make.sh", make.replace("$HERE", "\"${BUILD_TOOL:-/nowhere}\""));
    write(&place, &["bots/made", "@random"], "");
    let url = server.url();
    let worker = |name| Member::worker(&place, &url, &["--slots", "1", "--name", name]);
    let ada = worker("ada");
    let words = ["contest", "run", "c.toml", "--out", "d", "--lease", "9s", "--on", &url];
    let mut coordinator = place.command(&words);
    coordinator.env("BUILD_TOOL", place.path("tool"));
    // Nobody else is there, nor comes.
    Member::of(coordinator)
        .wait_for_long()
        .code(4)
        .complains("could not be played")
        .complains("no tool to build with")
        .complains("contest resume d");
    assert_eq!(query(&place, "d", "select count(*) from games"), ["0"], "nobody has lost");
    ada.dismiss().code(143);
    place.write("everywhere", "");
    let worker = worker("dan");
    Member::coordinator(&place, &["resume", "d"], &url).wait().code(0);
    assert_whole(&place, "d", 2);
    worker.dismiss().code(143);
    place.assert_tidy();
}

#[test]
fn a_worker_that_stood_still_while_it_built_builds_again_when_that_is_over() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    place.write("tool", "");
    place.write("bots/made/agent.toml", "command = \"./run.sh\"\nbuild = \"sh make.sh\"\n");
    let at = |name| place.path(name).display().to_string();
    // The coordinator has the tool. On the worker it takes until somebody opens the gate.
    let make = format!(
        "if [ ! -e \"${{BUILD_TOOL:-/nowhere}}\" ]; then\n    mkdir {busy} || touch {crowded}\n    \
         until [ -e {gate} ]; do sleep 0.05; done\n    rmdir {busy}\nfi\n\
         printf '#!/bin/sh\\nexec {PROGRAM} agent first\\n' > run.sh; chmod +x run.sh\n",
        busy = at("busy"),
        crowded = at("crowded"),
        gate = at("gate"),
    );
    place.write("bots/made/make.sh", make);
    write(&place, &["bots/made", "@random"], "");
    let url = server.url();
    let worker = Member::worker(&place, &url, &["--slots", "1"]);
    let words = ["contest", "run", "c.toml", "--out", "d", "--lease", "9s", "--on", &url];
    let mut coordinator = place.command(&words);
    coordinator.env("BUILD_TOOL", place.path("tool"));
    let coordinator = Member::of(coordinator);
    assert!(eventually(|| place.path("busy").exists()));
    // A third of the lease is too long for it, and not long enough to be taken for dead.
    worker.send(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_secs(4));
    worker.send(Signal::SIGCONT);
    worker.running().complained("stood still for");
    // Long enough to begin again, were it not for its turn.
    std::thread::sleep(Duration::from_secs(4));
    place.write("gate", "");
    let ran = coordinator.wait_for_long().code(0);
    assert!(!place.path("crowded").exists());
    assert!(!ran.stderr.contains("made: "), "{}", ran.stderr);
    assert_whole(&place, "d", 2);
    worker.dismiss().code(143);
    place.assert_tidy();
}
