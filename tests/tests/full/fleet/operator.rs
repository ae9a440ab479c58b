//! What an operator sees of a server.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::support::contest::{count, write};
use crate::support::{TestDir, eventually};

#[test]
fn contests_and_workers_are_listed() {
    let Some(server) = Server::start() else { return };
    let (dir, url) = (TestDir::new(), server.url());
    dir.run(&["contest", "status"]).code(2).stderr_has("--on");
    let listed = || dir.run(&["contest", "status", "--on", &url, "--json"]).code(0).json();
    assert_eq!(listed(), serde_json::json!([]));
    write(&dir, &["@first", "@random"], "rounds = 100000\n");
    let worker = start_worker(&dir, &url, &["--jobs", "1", "--name", "ada"]);
    let words = ["run", "c.toml", "--out", "d", "--priority", "7"];
    let coordinator = start_coordinator(&dir, &words, &url);
    assert!(eventually(|| count(&dir, "d") > 0));
    let mut found = listed();
    assert!(
        eventually(|| {
            found = listed();
            found[0]["workers"][0]["name"] == "ada"
        }),
        "{found}"
    );
    assert_eq!((&found[0]["name"], &found[0]["priority"]), (&"autumn".into(), &7.into()));
    dir.run(&["contest", "status", "--on", &url]).code(0).stdout_has("autumn").stdout_has("ada");
    coordinator.kill();
    worker.terminate().code(143);
}
