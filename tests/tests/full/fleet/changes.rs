//! A contest that changes while it is played by workers.

use super::process::{start_coordinator, start_worker};
use super::server::Server;
use crate::support::contest::{AMPLE, contest, query};
use crate::support::{TestDir, eventually};

/// Writes an agent that plays the legal action with this index.
fn agent(dir: &TestDir, folder: &str, index: &str) {
    let bot = "import json, sys\nfor line in sys.stdin:\n    message = json.loads(line)\n    if \
               message['type'] == 'hello':\n        print(json.dumps({'type': 'ready', 'want': \
               ['actions']}), flush=True)\n    elif message['type'] == 'turn':\n        \
               print(json.dumps({'type': 'action', 'turn': message['turn'], 'action': \
               message['actions'][INDEX]}), flush=True)\n";
    dir.write(&format!("{folder}/agent.toml"), "command = [\"python3\", \"bot.py\"]\n");
    dir.write(&format!("{folder}/bot.py"), bot.replace("INDEX", index));
}

/// Writes a contest of four players.
fn write(dir: &TestDir) {
    agent(dir, "bots/amy", "0");
    agent(dir, "bots/bob", "-1");
    agent(dir, "late/zoe", "1");
    agent(dir, "fixed/bob", "-2");
    dir.write(
        "c.toml",
        format!(
            "name = \"autumn\"\nseed = 7\nagents = [\"@random\"]\n{AMPLE}submissions = \"bots\"\n\
             [openings]\nplies = 1\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
        ),
    );
}

fn change(dir: &TestDir, folder: &str, words: &[&str]) {
    let words = [&[words[0], folder], &words[1..], &["--reason", "because"]].concat();
    contest(dir, &words).code(0);
}

#[test]
fn orders_from_before_a_change_are_not_played() {
    let Some(server) = Server::start() else { return };
    let (dir, url) = (TestDir::new(), server.url());
    write(&dir);
    let coordinator = start_coordinator(&dir, &["run", "c.toml", "--out", "d"], &url);
    coordinator.wait_for_stderr("no worker has connected yet");
    coordinator.kill();
    let streams = server.streams();
    // Its reports are of the replaced agent.
    let worker = start_worker(&dir, &url, &["--jobs", "1"]);
    let reports = |(name, messages): &(String, u64)| name.ends_with("-reports") && *messages > 0;
    assert!(eventually(|| server.stream_sizes().iter().any(reports)), "{streams:?}");
    change(&dir, "d", &["replace", "bob", "fixed/bob"]);
    change(&dir, "d", &["add", "late/zoe"]);
    start_coordinator(&dir, &["resume", "d"], &url).wait_long().code(0);
    dir.run(&["verify", "d"]).code(0);
    assert_eq!(query(&dir, "d", "select count(*) from games"), ["12"]);
    assert!(eventually(|| server.streams() == ["KV_referee-contests"]), "{:?}", server.streams());
    worker.terminate().code(143);
}
