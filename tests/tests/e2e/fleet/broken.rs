//! Workers that lack what agents need, and workers that leave.

use super::people::Member;
use super::server::Server;
use crate::contest::{assert_whole, write};
use crate::support::{Place, eventually};

/// A worker on whose machine nothing is installed.
fn broken(place: &Place, url: &str) -> Member {
    let mut command = place.command(&["worker", url, "--name", "bare", "--slots", "2"]);
    command.env("PATH", "/nonexistent");
    Member::of(command)
}

/// A contest of so many games, of an agent whose program is looked for in PATH.
fn contest(place: &Place, rounds: usize) {
    let echo = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)\n";
    place.write("echo/echo.py", echo);
    place.write("echo/agent.toml", "command = [\"python3\", \"echo.py\"]");
    let more = format!("rounds = {rounds}\nsandbox.level = \"none\"\n");
    write(place, &["echo", "@first"], &more);
}

#[test]
fn a_good_worker_plays_what_a_broken_one_cannot() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    contest(&place, 18);
    let url = server.url();
    let bare = broken(&place, &url);
    let coordinator = Member::coordinator(&place, &["run", "c.toml", "--out", "there"], &url);
    // It has failed at everything that is out before the other comes.
    coordinator.running().complained("worker bare: ");
    let good = Member::worker(&place, &url, &["--name", "good", "--slots", "1"]);
    let ran = coordinator.wait().code(0);
    assert!(!ran.stderr.contains("could not be played"), "{}", ran.stderr);
    assert_whole(&place, "there", 36);
    // It may have left before it counted the last that it reported; the other has played none.
    good.dismiss().code(143).complains("left; 3");
    bare.dismiss().code(143).complains("left; 0 games played");
}

#[test]
fn what_the_only_worker_cannot_play_is_given_up_before_long() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    contest(&place, 1);
    let bare = broken(&place, &server.url());
    // It is given up after two leases.
    let words = ["run", "c.toml", "--out", "there", "--lease", "9s"];
    let coordinator = Member::coordinator(&place, &words, &server.url());
    let ran = coordinator.wait_for_long().code(4);
    let ran = ran.complains("games 0 and 1 could not be played: ").complains("(bare)");
    assert!(!ran.stderr.contains("AGENT"), "{}", ran.stderr);
    bare.dismiss().code(143);
}

#[test]
fn a_worker_that_leaves_is_told_as_such() {
    let Some(server) = Server::start() else { return };
    let place = Place::new();
    contest(&place, 1);
    let coordinator =
        Member::coordinator(&place, &["run", "c.toml", "--out", "there"], &server.url());
    let bare = broken(&place, &server.url());
    coordinator.running().complained("worker bare: ");
    bare.dismiss().code(143);
    let told = coordinator.running().complained("worker bare has left");
    assert!(!told.contains("not heard of"), "{told}");
    let good = Member::worker(&place, &server.url(), &["--slots", "1"]);
    coordinator.wait().code(0);
    assert_whole(&place, "there", 2);
    good.dismiss().code(143);
}

#[test]
fn an_idle_worker_ends_without_a_server_too() {
    let Some(mut server) = Server::start() else { return };
    let place = Place::new();
    let worker = Member::worker(&place, &server.url(), &["--idle", "10s"]);
    assert!(eventually(|| server.tells("/varz")["connections"] == 1));
    server.kill();
    let words = "the server can't be reached; left; 0 games played";
    worker.wait().code(0).complains(words);
    // It never was there.
    let worker = Member::worker(&place, &server.url(), &["--idle", "1s"]);
    worker.wait().code(0).complains(words);
    place.assert_tidy();
}
