//! What isn't sent to workers is refused before anything starts: without a server, and without a folder.

use crate::support::{Place, Running, eventually};
use nix::sys::signal::Signal;

/// Where nobody listens.
const NOWHERE: &str = "nats://127.0.0.1:1";

#[test]
fn bare_commands_and_program_files_are_refused_by_every_command() {
    let place = Place::new();
    place.program("bots/bot.sh", "#!/bin/sh\nsleep 60\n");
    place.write("c.toml", "agents = [\"sh bots/bot.sh\", \"@first\"]\ngame = \"hex\"\n");
    let [command, file] = ["command = [\"sh\", \"bot.sh\"]", "command = [\"./bot.sh\"]"];
    for (words, line) in [
        (&["contest", "run", "c.toml"][..], command),
        (&["contest", "quick", "--game", "hex", "sh bots/bot.sh", "@first"], command),
        (&["contest", "quick", "--game", "hex", "@first", "bots/bot.sh"], file),
        (&["compare", "--game", "hex", "./bots/bot.sh", "@first"], file),
    ] {
        let ran = place.run(&[words, &["--out", "d", "--on", NOWHERE]].concat()).code(2);
        let ran = ran.complains("error: bot is a ").complains("make a folder, put");
        let ran = ran.complains("\n    name = \"bot\"\n").complains(line);
        assert!(!place.path("d").exists(), "{ran:?}");
    }
    // Begun here, it goes on here.
    let run = place.command(&["contest", "run", "c.toml", "--out", "d", "--quiet"]);
    let run = Running::start(run, None);
    assert!(eventually(|| place.path("d/contest.db").exists()));
    run.send(Signal::SIGKILL);
    run.wait();
    let ran = place.run(&["contest", "resume", "d", "--on", NOWHERE]).code(2);
    ran.complains("only folders with an agent.toml and built-in agents").complains(command);
}
