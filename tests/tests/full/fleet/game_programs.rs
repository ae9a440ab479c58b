//! Games whose rules are programs, on workers.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::support::TestDir;
use crate::support::contest::{ROWS, assert_whole, contest, query};
use crate::support::game_programs::sample;
use std::fs;

/// Writes a contest file of two games.
fn write(dir: &TestDir) -> bool {
    if sample(dir, "tic-tac-toe", "games/ttt").is_none() {
        return false;
    }
    sample(dir, "pig", "games/pig");
    dir.write(
        "c.toml",
        "name = \"c\"\nagents = [\"@random\", \"@first\"]\nseed = 5\nrounds = 2\n\
         clock = { bank = \"1h\", start = \"10m\" }\nsandbox.level = \"none\"\n\
         [[games]]\ngame = \"./games/ttt\"\n[[games]]\ngame = \"./games/pig\"\nsetup = { target = 20 }\n",
    );
    true
}

#[test]
fn workers_play_and_results_do_not_depend_on_them() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    if !write(&dir) {
        return;
    }
    contest(&dir, &["run", "c.toml", "--out", "here"]).code(0);
    let url = server.url();
    let workers =
        [start_worker(&dir, &url, &["--jobs", "1"]), start_worker(&dir, &url, &["--jobs", "2"])];
    start_coordinator(&dir, &["run", "c.toml", "--out", "there"], &url).wait().code(0);
    assert_whole(&dir, "there", 8);
    for rows in ROWS {
        assert_eq!(query(&dir, "here", rows), query(&dir, "there", rows));
    }
    // A second contest of the same rules, from its own copy of them.
    fs::remove_dir_all(dir.path("games")).unwrap();
    contest(&dir, &["rerun", "there", "0", "--reason", "again"]).code(0);
    start_coordinator(&dir, &["resume", "there"], &url).wait().code(0);
    assert_whole(&dir, "there", 8);
    for worker in workers {
        worker.terminate().code(143);
    }
    dir.assert_tmp_is_empty();
}

#[test]
fn a_worker_lends_what_rules_read_elsewhere() {
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    if !write(&dir) {
        return;
    }
    dir.write("elsewhere/data.txt", "");
    let elsewhere = dir.path("elsewhere").canonicalize().unwrap();
    let manifest = fs::read_to_string(dir.path("games/ttt/game.toml")).unwrap();
    let read = |path: &str| format!("{manifest}\n[sandbox]\nread = [{path:?}]\n");
    dir.write("games/ttt/game.toml", read("../../elsewhere"));
    let words = ["run", "c.toml", "--out", "there"];
    let refused = start_coordinator(&dir, &words, &server.url()).wait().code(2);
    refused.stderr_has("`read` of [sandbox] names ../../elsewhere, which is not sent");
    dir.write("games/ttt/game.toml", read(elsewhere.to_str().unwrap()));
    let mean = start_worker(&dir, &server.url(), &["--jobs", "1", "--name", "mean"]);
    let coordinator = start_coordinator(&dir, &words, &server.url());
    let lend = format!("--lend {}", elsewhere.display());
    coordinator.wait_for_stderr(&lend);
    let words = ["--jobs", "1", "--lend", elsewhere.to_str().unwrap()];
    let kind = start_worker(&dir, &server.url(), &words);
    coordinator.wait().code(0);
    assert_whole(&dir, "there", 8);
    for worker in [mean, kind] {
        worker.terminate().code(143);
    }
}
