//! What a transcript doesn't record, but follows from what it does.

use crate::Reading;
use referee_games::Decoded;
use referee_protocol::{
    Action, Fault, FromAgent, LateBy, Nanos, ParseError, PlayedEvent, Ready, parse_from_agent,
    plain_error,
};

/// Returns a measurement under which the clock of this fault has run out, if the time has passed. The
/// CPU time of a turn that wasn't played isn't recorded.
pub(super) fn late_reading(fault: &Fault) -> Reading {
    let cpu = (fault.by == Some(LateBy::Cpu)).then_some(Nanos(u64::MAX));
    Reading { cpu, ..Reading::default() }
}

/// Returns the `ready` that a line is.
pub(super) fn ready_in(line: &[u8], meaning: Option<&Decoded>) -> Option<Ready> {
    match meaning {
        Some(Decoded::Message(FromAgent::Ready(ready))) => Some(ready.clone()),
        Some(_) => None,
        None => match parse_from_agent(line) {
            Ok(FromAgent::Ready(ready)) => Some(ready),
            _ => None,
        },
    }
}

/// Returns an answer that no line shows.
pub(super) fn answer_of(played: &PlayedEvent) -> Decoded {
    match serde_json::from_str(played.action.as_str()) {
        Ok(action) => {
            Decoded::Message(FromAgent::Action(Action { turn: Some(played.turn), action }))
        }
        Err(error) => Decoded::Invalid(ParseError::new(plain_error(&error.to_string()))),
    }
}
