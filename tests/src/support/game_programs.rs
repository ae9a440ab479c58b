//! Games whose rules are programs, for tests.

use super::{TestDir, python, root};
use serde_json::{Value, json};
use std::fs;

/// Copies a sample game to `name`, and returns it as a GAME; `None` without Python.
pub fn sample(dir: &TestDir, sample: &str, name: &str) -> Option<String> {
    python()?;
    let folder = root().join("sample-agents/games").join(sample);
    for file in ["game.toml", "rules.py"] {
        dir.write(&format!("{name}/{file}"), fs::read(folder.join(file)).unwrap());
    }
    Some(format!("./{name}"))
}

/// Writes tic-tac-toe to the folder `name`, with rules that fail as `how` says: `tests/games/chaos.py`. `None` without
/// Python.
pub fn chaos(dir: &TestDir, name: &str, how: &str) -> Option<String> {
    let game = sample(dir, "tic-tac-toe", name)?;
    dir.write(&format!("{name}/chaos.py"), fs::read(root().join("tests/games/chaos.py")).unwrap());
    dir.write(
        &format!("{name}/game.toml"),
        format!(
            "name = \"tic-tac-toe\"\ncommand = [\"python3\", \"chaos.py\", {how:?}]\n\
             [limits]\nanswer_ms = 200\n"
        ),
    );
    Some(game)
}

/// An agent that writes all that it gets to stderr, and plays at random.
pub fn spy(dir: &TestDir) -> String {
    dir.program(
        "spy",
        "#!/usr/bin/env python3\n\
         import json, random, sys\n\
         for line in sys.stdin:\n\
         \x20   sys.stderr.write(line)\n\
         \x20   message = json.loads(line)\n\
         \x20   if message['type'] == 'hello':\n\
         \x20       random.seed(message['seed'])\n\
         \x20       print('{\"type\":\"ready\",\"want\":[\"position\",\"actions\"]}', flush=True)\n\
         \x20   elif message['type'] == 'turn':\n\
         \x20       print(json.dumps({'type': 'action', 'action': random.choice(message['actions'])}), flush=True)\n",
    )
}

/// Returns the messages that a spy got.
pub fn heard(dir: &TestDir, transcript: &str, seat: u64) -> Vec<Value> {
    dir.said(transcript, seat).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// An agent that plays this action always.
pub fn playing(dir: &TestDir, name: &str, action: &Value) -> String {
    let line = json!({ "type": "action", "action": action });
    let text = format!(
        "#!/bin/sh\nwhile read -r line; do case $line in *'\"hello\"'*) echo '{{\"type\":\"ready\"}}';; \
         *'\"type\":\"turn\"'*) echo '{line}';; esac; done\n"
    );
    dir.program(name, &text)
}
