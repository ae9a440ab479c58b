//! A contest on workers has the same results as on one machine, except for times.

use super::process::{start_coordinator, start_worker};
use super::proxy::Proxy;
use super::server::Server;
use crate::contest::same_results::{ROWS, report};
use crate::contest::{assert_whole, contest, file, query, write};
use crate::support::{TestDir, eventually};
use serde_json::Value;

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
            start_worker(&dir, &url, &["--slots", "1"]),
            start_worker(&dir, &url, &["--slots", "2"]),
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

/// Returns the number of messages in the contest's object store, and the last sequence number.
fn objects(server: &Server) -> (u64, u64) {
    let output = server.monitoring("/jsz?streams=true");
    let streams = output["account_details"][0]["stream_detail"].as_array().cloned();
    let is_bucket = |it: &Value| it["name"].as_str().unwrap().starts_with("OBJ_");
    let bucket = streams.unwrap_or_default().into_iter().find(is_bucket).unwrap_or_default();
    let number = |name: &str| bucket["state"][name].as_u64().unwrap_or(0);
    (number("messages"), number("last_seq"))
}

#[test]
fn large_transcripts_are_deleted_from_the_server() {
    let Some(server) = Server::start_with("max_payload: 6144") else { return };
    let dir = TestDir::new();
    let small = file(&["@first", "@random"], "rounds = 2000\n");
    dir.write("c.toml", small.replace("size = 3", "size = 7"));
    let words = ["run", "c.toml", "--out", "there"];
    let coordinator = start_coordinator(&dir, &words, &server.url());
    coordinator.wait_for_stderr("no worker has connected yet");
    let (messages, last) = objects(&server);
    let worker = start_worker(&dir, &server.url(), &["--slots", "1"]);
    assert!(eventually(|| objects(&server).1 > last));
    worker.terminate().code(143);
    assert!(eventually(|| objects(&server).0 == messages), "{:?}", objects(&server));
    let ran = coordinator.kill();
    assert!(!ran.stderr.contains("a transcript"), "{ran:?}");
}
