//! A contest on workers is the contest that it is on one machine, but for times.

use super::people::Member;
use super::proxy::Proxy;
use super::server::Server;
use crate::contest::sameness::{ROWS, report};
use crate::contest::{assert_whole, contest, file, query, write};
use crate::support::{Place, eventually};
use serde_json::Value;

/// Agents that play the same in the same match.
const AGENTS: [&str; 5] = ["@random", "@first", "@greedy", "@minimax:1", "b=@random"];

#[test]
fn workers_change_nothing_but_times() {
    let Some(server) = Server::start() else { return };
    // One whose schedule is known, and one whose rounds follow from results.
    for (format, rounds, games) in [("round-robin", 1, 20), ("swiss", 3, 12)] {
        let place = Place::new();
        write(&place, &AGENTS, &format!("format = \"{format}\"\nrounds = {rounds}\n"));
        contest(&place, &["run", "c.toml", "--out", "here"]).code(0);
        let url = server.url();
        let workers = [
            Member::worker(&place, &url, &["--slots", "1"]),
            Member::worker(&place, &url, &["--slots", "2"]),
        ];
        Member::coordinator(&place, &["run", "c.toml", "--out", "there"], &url).wait().code(0);
        assert_whole(&place, "there", games);
        for rows in ROWS {
            assert_eq!(query(&place, "here", rows), query(&place, "there", rows), "{format}");
        }
        assert_eq!(report(&place, "here"), report(&place, "there"), "{format}");
        for worker in workers {
            worker.dismiss().code(143);
        }
        place.assert_tidy();
    }
}

#[test]
fn a_worker_may_be_there_before_the_server() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    write(&place, &["@first", "@random"], "");
    let proxy = Proxy::before(server.port);
    proxy.cut();
    let worker = Member::worker(&place, &proxy.url(), &[]);
    worker.running().complained("trying on");
    let words = ["run", "c.toml", "--out", "there"];
    let coordinator = Member::coordinator(&place, &words, &server.url());
    coordinator.running().complained("no worker is there yet");
    proxy.mend();
    coordinator.wait().code(0);
    assert_whole(&place, "there", 2);
    worker.dismiss().code(143);
    place.assert_tidy();
}

/// What a contest has as objects: messages that are there, and the number of the last.
fn objects(server: &Server) -> (u64, u64) {
    let told = server.tells("/jsz?streams=true");
    let streams = told["account_details"][0]["stream_detail"].as_array().cloned();
    let is_bucket = |it: &Value| it["name"].as_str().unwrap().starts_with("OBJ_");
    let bucket = streams.unwrap_or_default().into_iter().find(is_bucket).unwrap_or_default();
    let number = |name: &str| bucket["state"][name].as_u64().unwrap_or(0);
    (number("messages"), number("last_seq"))
}

#[test]
fn transcripts_that_no_message_holds_do_not_stay_at_the_server() {
    let Some(server) = Server::start_with("max_payload: 6144") else { return };
    let place = Place::new();
    let small = file(&["@first", "@random"], "rounds = 2000\n");
    place.write("c.toml", small.replace("size = 3", "size = 7"));
    let words = ["run", "c.toml", "--out", "there"];
    let coordinator = Member::coordinator(&place, &words, &server.url());
    coordinator.running().complained("no worker is there yet");
    let (messages, last) = objects(&server);
    let worker = Member::worker(&place, &server.url(), &["--slots", "1"]);
    assert!(eventually(|| objects(&server).1 > last));
    worker.dismiss().code(143);
    assert!(eventually(|| objects(&server).0 == messages), "{:?}", objects(&server));
    let ran = coordinator.kill();
    assert!(!ran.stderr.contains("a transcript"), "{ran:?}");
}
