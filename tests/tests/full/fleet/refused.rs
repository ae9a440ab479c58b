//! Agents that can't be sent to workers are refused: before anything starts, or when they would join.

use super::server::Server;
use crate::support::contest::{AMPLE, agent, contest, query};
use crate::support::{Running, TestDir, eventually};
use nix::sys::signal::Signal;

/// An address without a server.
const NOWHERE: &str = "nats://127.0.0.1:1";

#[test]
fn bare_commands_and_program_files_are_refused() {
    let dir = TestDir::new();
    dir.program("bots/bot.sh", "#!/bin/sh\nsleep 60\n");
    dir.write("c.toml", "agents = [\"sh bots/bot.sh\", \"@first\"]\ngame = \"hex\"\n");
    let [command, file] = ["command = [\"sh\", \"bot.sh\"]", "command = [\"./bot.sh\"]"];
    for (words, line) in [
        (&["contest", "run", "c.toml"][..], command),
        (&["contest", "quick", "--game", "hex", "sh bots/bot.sh", "@first"], command),
        (&["contest", "quick", "--game", "hex", "@first", "bots/bot.sh"], file),
        (&["compare", "--game", "hex", "./bots/bot.sh", "@first"], file),
    ] {
        let ran = dir.run(&[words, &["--out", "d", "--on", NOWHERE]].concat()).code(2);
        let ran = ran.stderr_has("error: bot: it is a ").stderr_has("create a folder with");
        let ran = ran.stderr_has("\n    name = \"bot\"\n").stderr_has(line);
        assert!(!dir.path("d").exists(), "{ran:?}");
    }
    // A contest begun locally can only be resumed locally.
    let run = dir.command(&["contest", "run", "c.toml", "--out", "d", "--quiet"]);
    let run = Running::start(run, None);
    assert!(eventually(|| dir.path("d/contest.db").exists()));
    run.send(Signal::SIGKILL);
    run.wait();
    let ran = dir.run(&["contest", "resume", "d", "--on", NOWHERE]).code(2);
    ran.stderr_has("only folders with an agent.toml and built-in agents").stderr_has(command);
}

/// One that came later ended a ladder for good.
#[test]
fn a_submission_that_can_not_be_sent_is_refused_alone() {
    let Some(server) = Server::start() else { return };
    let (url, dir) = (server.url(), TestDir::new());
    agent(&dir, "bots/amy", "first");
    let broken = "command = [\"sh\", \"/etc/hostname\"]\n";
    dir.write("bots/early/agent.toml", broken);
    dir.write(
        "c.toml",
        format!(
            "name = \"open\"\nseed = 7\nrounds = 2\nformat = \"ladder\"\nagents = [\"@random\"]\n{AMPLE}\
             submissions = \"bots\"\nsandbox.level = \"none\"\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
        ),
    );
    let words = ["contest", "open", "c.toml", "--out", "d", "--no-check", "--on", &url];
    let running = dir.start(&words);
    let players = || query(&dir, "d", "select name from players order by number");
    assert!(eventually(|| dir.path("d/contest.db").exists() && players() == ["@random", "amy"]));
    dir.write("bots/late/agent.toml", broken);
    dir.write(&format!("bots/zoe/{}/notes", "long".repeat(30)), "a name that is no reason");
    agent(&dir, "bots/zoe", "second");
    assert!(eventually(|| players() == ["@random", "amy", "zoe"]), "{:?}", players());
    let result = dir.path("d/submissions/late/1/result.json");
    assert!(eventually(|| result.exists()));
    let why = std::fs::read_to_string(result).unwrap();
    assert!(why.contains("/etc/hostname is a full path on this machine"), "{why}");
    assert!(dir.path("d/submissions/late/1/feedback.md").exists());
    running.send(Signal::SIGINT);
    running.wait().stderr_has("early").stderr_has("zoe joined");
    contest(&dir, &["purge", "d", "--on", &url]).code(0);
}
