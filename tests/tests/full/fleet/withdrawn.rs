//! A contest that is withdrawn from its server and resumed elsewhere.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::support::contest::{assert_whole, file, query};
use crate::support::{TestDir, eventually};
use nix::sys::signal::Signal;

const ROUNDS: usize = 12;

#[test]
fn a_withdrawn_contest_resumes_elsewhere() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    let small = file(&["@minimax:2", "@random"], &format!("rounds = {ROUNDS}\n"));
    dir.write("c.toml", small.replace("size = 3", "size = 9"));
    let url = server.url();
    let withdraw = ["contest", "purge", "d", "--on", &url];
    dir.run(&withdraw).code(2).stderr_has("not a contest's folder");
    let coordinator = start_coordinator(&dir, &["run", "c.toml", "--out", "d"], &url);
    let worker = start_worker(&dir, &url, &["--jobs", "1"]);
    let games = || query(&dir, "d", "select count(*) from games")[0].parse::<usize>().unwrap();
    assert!(eventually(|| dir.path("d/contest.db").is_file() && games() > 0));
    dir.run(&withdraw).code(4).stderr_has("another referee is working on this contest");
    coordinator.send(Signal::SIGKILL);
    coordinator.wait();
    assert!(games() < 2 * ROUNDS, "the contest ended before the test");
    dir.run(&withdraw).code(0).stdout_has("removed from");
    dir.run(&withdraw).code(0).stdout_has("the contest is not on");
    assert!(eventually(|| server.streams() == ["KV_referee-contests"]), "{:?}", server.streams());
    // Resumed on a server that has nothing of it, then without a server.
    let coordinator = start_coordinator(&dir, &["resume", "d"], &url);
    let known = games();
    assert!(eventually(|| games() > known));
    coordinator.send(Signal::SIGKILL);
    coordinator.wait();
    let ran = dir.start(&["contest", "resume", "d"]).wait_long().code(0);
    ran.stderr_has(&format!("remove it with `referee contest purge d --on {url}`"));
    assert_whole(&dir, "d", 2 * ROUNDS);
    dir.run(&withdraw).code(0).stdout_has("removed from");
    assert!(eventually(|| server.streams() == ["KV_referee-contests"]), "{:?}", server.streams());
    worker.terminate().code(143);
}
