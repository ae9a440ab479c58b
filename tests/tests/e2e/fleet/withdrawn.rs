//! A contest that is taken away from its server, and goes on elsewhere.

use super::people::Member;
use super::server::Server;
use crate::contest::{assert_whole, file, query};
use crate::support::{Place, eventually};
use nix::sys::signal::Signal;

const ROUNDS: usize = 12;

#[test]
fn a_contest_that_is_taken_away_goes_on_elsewhere() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    let small = file(&["@minimax:2", "@random"], &format!("rounds = {ROUNDS}\n"));
    place.write("c.toml", small.replace("size = 3", "size = 9"));
    let url = server.url();
    let withdraw = ["contest", "withdraw", "d", "--on", &url];
    place.run(&withdraw).code(2).complains("no contest is in it");
    let coordinator = Member::coordinator(&place, &["run", "c.toml", "--out", "d"], &url);
    let worker = Member::worker(&place, &url, &["--slots", "1"]);
    let games = || query(&place, "d", "select count(*) from games")[0].parse::<usize>().unwrap();
    assert!(eventually(|| place.path("d/contest.db").is_file() && games() > 0));
    place.run(&withdraw).code(4).complains("another referee is working on this contest");
    coordinator.send(Signal::SIGKILL);
    coordinator.wait();
    assert!(games() < 2 * ROUNDS, "the games are over before the test is");
    place.run(&withdraw).code(0).prints("taken away from");
    place.run(&withdraw).code(0).prints("nothing of it is at");
    assert!(eventually(|| server.streams() == ["KV_referee-contests"]), "{:?}", server.streams());
    // On a server that knows nothing of it any more, and then on no server.
    let coordinator = Member::coordinator(&place, &["resume", "d"], &url);
    let known = games();
    assert!(eventually(|| games() > known));
    coordinator.send(Signal::SIGKILL);
    coordinator.wait();
    let ran = Member::start(&place, &["contest", "resume", "d"]).wait_for_long().code(0);
    ran.complains(&format!("`referee contest withdraw d --on {url}` takes it away"));
    assert_whole(&place, "d", 2 * ROUNDS);
    place.run(&withdraw).code(0).prints("taken away from");
    assert!(eventually(|| server.streams() == ["KV_referee-contests"]), "{:?}", server.streams());
    worker.dismiss().code(143);
}
