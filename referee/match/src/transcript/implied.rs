//! What a transcript doesn't record, but follows from what it does.

use crate::Reading;
use referee_games::Decoded;
use referee_protocol::{
    Action, Event, Fault, FromAgent, LateBy, Nanos, ParseError, PlayedEvent, Ready, Seat,
    parse_from_agent, plain_error,
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

/// Returns the time of an event, and a seat that it names or else the first.
pub(super) fn time_and_seat(event: &Event) -> Option<(u64, Seat)> {
    match event {
        Event::Turn(event) => Some((event.at_ns, event.seat)),
        Event::Line(event) => Some((event.at_ns, event.seat)),
        Event::Played(event) => Some((event.at_ns, event.seat)),
        Event::Drawn(event) => Some((event.at_ns, Seat(0))),
        Event::Stderr(event) => Some((event.at_ns, event.seat)),
        Event::Retired(event) => Some((event.at_ns, event.seat)),
        Event::Over(event) => {
            let void = event.verdict.void.as_ref();
            Some((event.at_ns, void.and_then(|note| note.seat).unwrap_or(Seat(0))))
        }
        Event::Exit(event) => Some((event.at_ns, event.seat)),
        Event::Header(_) | Event::Seal(_) | Event::Unknown => None,
    }
}
