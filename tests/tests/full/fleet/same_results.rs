//! A contest on workers has the same results as on one machine, except for times.

use super::process::{start_coordinator, start_worker};
use super::proxy::Proxy;
use super::server::Server;
use crate::support::TestDir;
use crate::support::contest::{ROWS, report};
use crate::support::contest::{assert_whole, contest, file, query, write};

/// Deterministic agents.
const AGENTS: [&str; 5] = ["@random", "@first", "@greedy", "@minimax:1", "b=@random"];

#[test]
fn results_do_not_depend_on_workers() {
    let Some(server) = Server::start() else { return };
    // A format with a fixed schedule, and one whose rounds depend on results.
    for (format, rounds, games) in [("round-robin", 1, 20), ("swiss", 3, 12)] {
        let dir = TestDir::new();
        write(&dir, &AGENTS, &format!("format = \"{format}\"\nrounds = {rounds}\n"));
        contest(&dir, &["run", "c.toml", "--out", "here"]).code(0);
        let url = server.url();
        let workers = [
            start_worker(&dir, &url, &["--jobs", "1"]),
            start_worker(&dir, &url, &["--jobs", "2"]),
        ];
        start_coordinator(&dir, &["run", "c.toml", "--out", "there"], &url).wait().code(0);
        assert_whole(&dir, "there", games);
        for rows in ROWS {
            assert_eq!(query(&dir, "here", rows), query(&dir, "there", rows), "{format}");
        }
        assert_eq!(report(&dir, "here"), report(&dir, "there"), "{format}");
        for worker in workers {
            worker.terminate().code(143);
        }
        dir.assert_tmp_is_empty();
    }
}

#[test]
fn a_worker_may_start_before_the_server() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    write(&dir, &["@first", "@random"], "");
    let proxy = Proxy::start(server.port);
    proxy.cut();
    let worker = start_worker(&dir, &proxy.url(), &[]);
    worker.wait_for_stderr("retrying");
    let words = ["run", "c.toml", "--out", "there"];
    let coordinator = start_coordinator(&dir, &words, &server.url());
    coordinator.wait_for_stderr("no worker has connected yet");
    proxy.restore();
    coordinator.wait().code(0);
    assert_whole(&dir, "there", 2);
    worker.terminate().code(143);
    dir.assert_tmp_is_empty();
}

#[test]
fn reports_longer_than_a_message_arrive() {
    let Some(server) = Server::start_with("max_payload: 6144") else { return };
    let dir = TestDir::new();
    let small = file(&["@first", "@random"], "rounds = 2\n");
    dir.write("c.toml", small.replace("size = 3", "size = 7"));
    let worker = start_worker(&dir, &server.url(), &["--jobs", "1"]);
    let words = ["run", "c.toml", "--out", "there"];
    start_coordinator(&dir, &words, &server.url()).wait().code(0);
    assert_whole(&dir, "there", 4);
    worker.terminate().code(143);
    // The objects are gone with the contest.
    assert_eq!(server.stream_sizes(), [("KV_referee-contests".to_owned(), 0)]);
}
