//! What an operator sees of a server, and does to its workers.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::contest::{count, write};
use crate::support::{TestDir, eventually};

#[test]
fn contests_are_listed_and_workers_drained_and_banned() {
    let Some(server) = Server::start() else { return };
    let (dir, url) = (TestDir::new(), server.url());
    dir.run(&["contest", "status"]).code(2).stderr_has("--on");
    dir.run(&["contest", "status", "--on", &url]).code(0).stdout_has("no contest is on");
    write(&dir, &["@first", "@random"], "rounds = 100000\n");
    let worker = |name| start_worker(&dir, &url, &["--slots", "1", "--name", name]);
    let [ada, bob] = ["ada", "bob"].map(worker);
    let words = ["run", "c.toml", "--out", "d", "--priority", "7"];
    let coordinator = start_coordinator(&dir, &words, &url);
    assert!(eventually(|| count(&dir, "d") > 0));
    let mut found = dir.run(&["contest", "status", "--on", &url, "--json"]).code(0).json();
    assert!(
        eventually(|| {
            found = dir.run(&["contest", "status", "--on", &url, "--json"]).code(0).json();
            found[0]["workers"].as_array().is_some_and(|workers| workers.len() == 2)
        }),
        "{found}"
    );
    assert_eq!((&found[0]["name"], &found[0]["priority"]), (&"autumn".into(), &7.into()));
    dir.run(&["contest", "status", "--on", &url]).code(0).stdout_has("autumn").stdout_has("ada");
    let order = |what, name| {
        let words = ["contest", "worker", what, name, "--on", &url, "--reason", "it smokes"];
        dir.run(&words)
    };
    order("drain", "eve").code(2).stderr_has("the workers are: ");
    order("drain", "ada").code(0).stdout_has("drained ada");
    ada.wait_long().code(0).stderr_has("drained by an operator: it smokes");
    order("ban", "bob").code(0).stdout_has("banned bob");
    bob.wait_long().code(4).stderr_has("banned by an operator: it smokes");
    coordinator.wait_for_stderr("worker bob is banned: it smokes");
    // Also if it is started again.
    worker("bob").wait_long().code(4).stderr_has("banned by an operator");
    let known = count(&dir, "d");
    let cat = worker("cat");
    assert!(eventually(|| count(&dir, "d") > known));
    coordinator.kill();
    cat.terminate().code(143);
}
