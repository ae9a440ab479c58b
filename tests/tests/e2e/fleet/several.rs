//! Contests that wait for somebody: beside each other, and when nobody comes.

use super::people::Member;
use super::server::Server;
use crate::contest::{assert_whole, file};
use crate::support::{Place, eventually};
use nix::sys::signal::Signal;

/// A short contest's file.
fn contest(place: &Place, name: &str) -> String {
    let text = file(&["@first", "@random"], "rounds = 3\n");
    place.write(&format!("{name}.toml"), text.replace("autumn", name))
}

/// Streams of a contest: orders, reports, objects. One is there for all.
const STREAMS: usize = 3;

#[test]
fn what_others_have_left_at_the_server_keeps_nobody_waiting() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    let url = server.url();
    for (count, name) in [(1, "autumn"), (2, "winter")] {
        let file = contest(&place, name);
        let coordinator = Member::coordinator(&place, &["run", &file, "--out", name], &url);
        assert!(eventually(|| server.streams().len() > count * STREAMS), "{:?}", server.streams());
        coordinator.running().complained("no worker is there yet");
        coordinator.kill();
    }
    let worker = Member::worker(&place, &url, &["--slots", "1"]);
    let file = contest(&place, "spring");
    Member::coordinator(&place, &["run", &file, "--out", "spring"], &url).wait().code(0);
    assert_whole(&place, "spring", 6);
    worker.dismiss().code(143);
}

#[test]
fn an_interrupt_ends_a_contest_that_nobody_plays() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    let file = contest(&place, "lonely");
    let coordinator = Member::coordinator(&place, &["run", &file, "--out", "d"], &server.url());
    coordinator.running().complained("no worker is there yet");
    coordinator.send(Signal::SIGINT);
    coordinator.wait().code(130).complains("contest resume d");
    // It is no news to those who come later, and goes on with them.
    let coordinator = Member::coordinator(&place, &["resume", "d"], &server.url());
    let worker = Member::worker(&place, &server.url(), &["--slots", "1"]);
    coordinator.wait().code(0);
    assert_whole(&place, "d", 6);
    worker.dismiss().code(143);
}
