//! Contests on one server share its workers in proportion to their priorities.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::contest::{assert_whole, count, file, query, status};
use crate::support::{Running, TestDir, eventually};
use nix::sys::signal::Signal;
use std::time::Duration;

/// Long enough for several turns of each worker.
const TIME: Duration = Duration::from_secs(60);
/// The least games of each contest.
const GAMES: usize = 60;

/// Starts a contest with this many rounds of two games.
fn start(dir: &TestDir, url: &str, name: &str, rounds: usize, more: &[&str]) -> Running {
    let text = file(&["@first", "@random"], &format!("rounds = {rounds}\n"));
    dir.write(&format!("{name}.toml"), text.replace("autumn", name));
    let toml = format!("{name}.toml");
    // Turns are as long as a lease.
    let words = [&["run", &toml, "--out", name, "--lease", "3s"], more].concat();
    start_coordinator(dir, &words, url)
}

#[test]
#[ignore = "takes a minute, on a machine that does nothing else"]
fn two_contests_progress_in_proportion_to_their_priorities() {
    let Some(server) = Server::start() else { return };
    let (dir, url) = (TestDir::new(), server.url());
    let workers: Vec<Running> =
        (0..4).map(|_| start_worker(&dir, &url, &["--slots", "1"])).collect();
    let contests = ["much", "little"];
    let coordinators = [
        start(&dir, &url, "much", 100_000, &["--priority", "300"]),
        start(&dir, &url, "little", 100_000, &[]),
    ];
    let played = || contests.map(|name| count(&dir, name));
    std::thread::sleep(TIME);
    assert!(eventually(|| played().iter().all(|&games| games >= GAMES)), "{:?}", played());
    let [much, little] = played();
    // Three to one, give or take a turn of each worker.
    assert!(much > little * 3 / 2 && much < little * 6, "{much} and {little} games");
    for (name, coordinator) in contests.iter().zip(&coordinators) {
        let known = status(&dir, name)["workers"].as_array().unwrap().len();
        assert_eq!(known, workers.len(), "{name}");
        coordinator.send(Signal::SIGINT);
    }
    for coordinator in coordinators {
        let ran = coordinator.wait_long().code(130);
        assert!(!ran.stderr.contains("has left"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("lost contact"), "{}", ran.stderr);
    }
    for name in contests {
        let twice = "select number from games group by number having count(*) > 1";
        assert!(query(&dir, name, twice).is_empty());
        dir.run(&["verify", name]).code(0);
    }
    for worker in workers {
        worker.terminate().code(143);
    }
}

#[test]
fn a_waiting_contest_says_why_and_gets_its_turn() {
    let Some(server) = Server::start() else { return };
    let (dir, url) = (TestDir::new(), server.url());
    let worker = start_worker(&dir, &url, &["--slots", "1", "--name", "ada"]);
    let long = start(&dir, &url, "long", 100_000, &["--priority", "10000"]);
    assert!(eventually(|| count(&dir, "long") > 0));
    let short = start(&dir, &url, "short", 3, &["--priority", "1"]);
    short.wait_for_stderr("waiting for workers: all of them play other contests now (long)");
    let state = || status(&dir, "short")["workers"][0]["elsewhere"].clone();
    assert!(eventually(|| state() == "long"), "{}", state());
    // The other one's workers are free now.
    long.send(Signal::SIGINT);
    long.wait_long().code(130).stderr_has("--priority 10000");
    short.wait_long().code(0);
    assert_whole(&dir, "short", 6);
    worker.terminate().code(143);
}
