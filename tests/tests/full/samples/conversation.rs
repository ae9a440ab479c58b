//! A recorded conversation with a bot, for tests of how kits treat streams and mistakes.

use crate::support::small_referee::hello;
use referee_games::kind;
use referee_protocol::{FromAgent, parse_from_agent};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;
use std::process::{Command, Stdio};

/// Returns the lines that the bot at `seat` receives in Hex on a 4 x 4 board. Both seats play the
/// first legal action; the lines end after `turns` turns.
pub(crate) fn conversation(seat: usize, turns: usize) -> String {
    let mut game = kind("hex").unwrap().start(&json!({"size": 4})).unwrap();
    let mut greeting = hello("hex", &game.setup(), seat, 2, 11);
    greeting["seats"][1]["name"] = json!("Zoë 棋士");
    // Not escaped, as the referee writes it.
    let mut lines = format!("{greeting}\n\n{{\"type\":\"weather\",\"sun\":[1]}}\r\n");
    for turn in 0..turns {
        let actions = game.actions();
        if turn % 2 == seat {
            let request = json!({
                "type": "turn", "turn": turn, "left_ms": 60000, "actions": actions,
                "position": game.position(), "moon": "full",
            });
            writeln!(lines, "{request}").unwrap();
        }
        game.play(&actions[0]).unwrap();
        let played = json!({"type": "played", "turn": turn, "seat": turn % 2,
            "action": actions[0], "used_ms": 1});
        writeln!(lines, "{played}").unwrap();
    }
    lines
}

/// Runs a bot on these lines; returns its messages, its stderr, and its exit code.
pub(crate) fn converse(bot: &mut Command, input: &str) -> (Vec<FromAgent>, String, i32) {
    bot.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut bot = bot.spawn().unwrap();
    let mut stdin = bot.stdin.take().unwrap();
    // A bot that fails, as some of these do, need not read all of it.
    let written = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = bot.wait_with_output().unwrap();
    assert!(written.is_ok() || !output.status.success(), "input was left unread");
    let said = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let said = said.map(|line| {
        let text = String::from_utf8_lossy(line).into_owned();
        parse_from_agent(line).unwrap_or_else(|error| panic!("{text}: {error}"))
    });
    let code = output.status.code().expect("not ended by a signal");
    (said.collect(), String::from_utf8(output.stderr).unwrap(), code)
}

/// Checks that these messages are `ready` and the first legal action in each of these turns.
pub(crate) fn expect_first_actions(said: &[FromAgent], turns: &[u64]) {
    let FromAgent::Ready(ready) = &said[0] else { panic!("{said:?}") };
    assert_eq!(ready.name.as_deref(), Some("behaviour"));
    assert_eq!(said.len(), 1 + turns.len(), "{said:?}");
    for (said, &turn) in said[1..].iter().zip(turns) {
        let FromAgent::Action(action) = said else { panic!("{said:?}") };
        assert_eq!(action.turn, Some(turn));
        assert_eq!(action.action, json!({"type": "place", "at": [turn / 4, turn % 4]}));
    }
}
