//! Workers keep agents' processes between games, if the contest wants that.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::contest::reuse::{KEEPING, KEPT, assert_one, seen};
use crate::support::TestDir;
use crate::support::contest::{assert_whole, write};
use crate::support::lacks;

#[test]
fn a_worker_keeps_processes() {
    if lacks(KEEPING) {
        return;
    }
    let Some(server) = Server::start() else { return };
    let dir = TestDir::new();
    write(&dir, &["@first", "@random"], KEPT);
    let worker = start_worker(&dir, &server.url(), &["--jobs", "1"]);
    let coordinator = start_coordinator(&dir, &["run", "c.toml", "--out", "d"], &server.url());
    coordinator.wait().code(0);
    assert_whole(&dir, "d", 4);
    for player in ["@first", "@random"] {
        assert_one(&seen(&dir, player));
    }
    worker.terminate().code(143);
    dir.assert_tmp_is_empty();
}
