//! The agent's side of the protocol: one loop over the referee's lines.

use crate::AgentError;
use crate::messages::{Heard, Hello};
use crate::player::{Player, Reply};
use referee_protocol::{Action, FromAgent, REFEREE_LINE_BYTES_MAX, Ready};
use std::io::{BufRead, Read, Write};

/// Plays one match on the given streams as the player that `seat` makes of `hello`, which is answered
/// with `ready`. The rest is as in [`run`](crate::run).
pub fn converse(
    ready: Ready,
    mut seat: impl FnMut(&Hello) -> Result<Box<dyn Player>, AgentError>,
    mut input: impl BufRead,
    mut output: impl Write,
    mut diagnostics: impl Write,
) -> Result<(), AgentError> {
    let ready = FromAgent::Ready(ready);
    let mut player: Option<Box<dyn Player>> = None;
    let mut line = Vec::new();
    while next_line(&mut input, &mut line)? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let heard = serde_json::from_slice(&line).map_err(|error| {
            AgentError::referee(format!("the referee's line can't be read: {error}"))
        })?;
        match heard {
            Heard::Hello(hello) => {
                player = Some(seat(&hello)?);
                say(&mut output, &ready)?;
            }
            Heard::Turn(turn) => match seated(&mut player)?.answer(&turn)? {
                Reply::Action(action, info) => {
                    if let Some(info) = info {
                        say(&mut output, &FromAgent::Info(info))?;
                    }
                    let action = Action { turn: Some(turn.turn), action };
                    say(&mut output, &FromAgent::Action(action))?;
                }
                Reply::Silence => {}
                Reply::Flood => flood(&mut output)?,
            },
            Heard::Played { action } => seated(&mut player)?.played(&action)?,
            Heard::Retired { seat } => seated(&mut player)?.retired(seat),
            Heard::Over {} => return Ok(()),
            Heard::Unknown => {
                let kind = String::from_utf8_lossy(&line).chars().take(80).collect::<String>();
                writeln!(diagnostics, "ignored a message of an unknown kind: {kind:?}")?;
            }
        }
    }
    Ok(())
}

/// Reads the next line with its end; false at the end of the stream.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, AgentError> {
    line.clear();
    let longest = REFEREE_LINE_BYTES_MAX + 2;
    let read = input.by_ref().take(longest as u64).read_until(b'\n', line)?;
    if read == longest && !line.ends_with(b"\n") {
        return Err(AgentError::referee(format!(
            "the referee's line is longer than {REFEREE_LINE_BYTES_MAX} bytes"
        )));
    }
    Ok(read > 0)
}

fn seated(player: &mut Option<Box<dyn Player>>) -> Result<&mut Box<dyn Player>, AgentError> {
    player.as_mut().ok_or_else(|| AgentError::referee("the referee's first line isn't `hello`"))
}

fn say(output: &mut impl Write, message: &FromAgent) -> Result<(), AgentError> {
    let mut line = serde_json::to_vec(message).expect("messages have string keys only");
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()?;
    Ok(())
}

/// Writes until the other side will have no more of it.
fn flood(output: &mut impl Write) -> Result<(), AgentError> {
    let chunk = [b'~'; 8192];
    loop {
        output.write_all(&chunk)?;
        output.flush()?;
    }
}
