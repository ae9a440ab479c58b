//! Agents that can't be sent to workers are refused before anything starts: no server or folder needed.

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
        let ran = ran.stderr_has("error: bot is a ").stderr_has("create a folder with");
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
