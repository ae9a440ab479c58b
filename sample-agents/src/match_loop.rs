//! The agent's side of the protocol: a loop over the referee's lines.

use crate::AgentError;
use crate::messages::{Hello, RefereeMessage};
use crate::player::{Player, Reply};
use referee_protocol::{Action, FromAgent, REFEREE_LINE_BYTES_MAX, Ready, plain_error};
use std::io::{BufRead, Read, Write};

/// Plays a match on these streams: `seat` creates the player from `hello`, and `ready` is the answer. If
/// that says `again`, plays another match at each further `hello`. Streams and errors are as in
/// [`run`](crate::run).
pub fn play_match(
    ready: Ready,
    mut seat: impl FnMut(&Hello) -> Result<Box<dyn Player>, AgentError>,
    mut input: impl BufRead,
    mut output: impl Write,
    mut diagnostics: impl Write,
) -> Result<(), AgentError> {
    let again = ready.again;
    let ready = FromAgent::Ready(ready);
    let mut player: Option<Box<dyn Player>> = None;
    let mut line = Vec::new();
    while next_line(&mut input, &mut line)? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let message = serde_json::from_slice(&line).map_err(|error| {
            let error = plain_error(&error.to_string());
            AgentError::referee(format!("the referee's line is not a message: {error}"))
        })?;
        match message {
            RefereeMessage::Hello(hello) => {
                player = Some(seat(&hello)?);
                say(&mut output, &ready)?;
            }
            RefereeMessage::Turn(turn) => match player_of(&mut player)?.answer(&turn)? {
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
            RefereeMessage::Played { action } => player_of(&mut player)?.played(&action)?,
            RefereeMessage::Retired { seat } => player_of(&mut player)?.retired(seat),
            RefereeMessage::Drawn { outcome } => player_of(&mut player)?.drawn(outcome)?,
            // Agents that have a board don't play where information is hidden.
            RefereeMessage::Told {} => {}
            RefereeMessage::Over {} if again => player = None,
            RefereeMessage::Over {} => return Ok(()),
            RefereeMessage::Unknown => {
                let kind = String::from_utf8_lossy(&line).chars().take(80).collect::<String>();
                writeln!(diagnostics, "ignored a message of an unknown type: {kind:?}")?;
            }
        }
    }
    Ok(())
}

/// Reads the next line with its end. Returns false at the end of the stream.
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

fn player_of(player: &mut Option<Box<dyn Player>>) -> Result<&mut Box<dyn Player>, AgentError> {
    player
        .as_mut()
        .ok_or_else(|| AgentError::referee("the referee's first line of a match is not `hello`"))
}

fn say(output: &mut impl Write, message: &FromAgent) -> Result<(), AgentError> {
    let mut line = serde_json::to_vec(message).expect("messages have string keys only");
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()?;
    Ok(())
}

/// Writes until the other side closes the stream.
fn flood(output: &mut impl Write) -> Result<(), AgentError> {
    let chunk = [b'~'; 8192];
    loop {
        output.write_all(&chunk)?;
        output.flush()?;
    }
}
