//! The first difference between an event as a match makes it and as it was recorded, as text.

use referee_protocol::{Event, Fault, parse_strict};
use serde_json::{Value, json};
use std::fmt::Write;
use std::mem::discriminant;

/// Takes over from a recorded event what can't be made again: the words about faults, which other
/// versions wrote otherwise, and what was measured at the end.
pub(super) fn adopt(made: &mut Event, recorded: &Event) {
    let fault = |made: &mut Fault, recorded: &Fault| {
        if made.kind == recorded.kind {
            made.text.clone_from(&recorded.text);
            made.legal.take_if(|_| recorded.legal.is_none());
        }
    };
    match (made, recorded) {
        (Event::Played(made), Event::Played(recorded)) if made.action != recorded.action => {
            // The same in another layout of its JSON.
            let value = parse_strict(recorded.action.as_str().as_bytes());
            if value.is_ok_and(|value| value == made.action.value()) {
                made.action.clone_from(&recorded.action);
            }
        }
        (Event::Retired(made), Event::Retired(recorded)) => fault(&mut made.fault, &recorded.fault),
        (Event::Over(made), Event::Over(recorded)) => {
            // It is checked apart.
            made.draw_key.clone_from(&recorded.draw_key);
            let (made, recorded) = (&mut made.verdict, &recorded.verdict);
            for (made, recorded) in made.seats.iter_mut().zip(&recorded.seats) {
                made.peak_memory_kb = recorded.peak_memory_kb;
                if let (Some(made), Some(recorded)) = (&mut made.fault, &recorded.fault) {
                    fault(made, recorded);
                }
            }
            if let (Some(made), Some(recorded)) = (&mut made.void, &recorded.void) {
                made.text.clone_from(&recorded.text);
            }
        }
        _ => {}
    }
}

/// Describes the first difference.
pub(super) fn difference(made: &Event, recorded: &Event) -> String {
    if discriminant(made) != discriminant(recorded) {
        let (made, recorded) = (happens(made), happens(recorded));
        return format!("by what was recorded before, {made}, but it says that {recorded}");
    }
    let (path, made, recorded) = first_difference(&json!(made), &json!(recorded));
    format!("{path}: playing gives {made}, the transcript says {recorded}")
}

/// Returns where two values differ first, and what is there.
pub(super) fn first_difference(made: &Value, recorded: &Value) -> (String, Value, Value) {
    let mut path = String::new();
    let (made, recorded) = first(made, recorded, &mut path).unwrap_or((made, recorded));
    (path, made.clone(), recorded.clone())
}

fn happens(event: &Event) -> String {
    let out = |fault: &Fault| format!("{}: {}", fault.kind, fault.text);
    match event {
        Event::Turn(event) => format!("seat {} is asked for turn {}", event.seat, event.turn),
        Event::Played(event) => format!("seat {} plays {}", event.seat, event.action),
        Event::Retired(event) => format!("seat {} is out ({})", event.seat, out(&event.fault)),
        Event::Over(event) => {
            let verdict = &event.verdict;
            let mut faults = verdict.seats.iter().filter_map(|seat| seat.fault.as_ref());
            let why = faults.next_back().map_or_else(|| verdict.reason.clone(), out);
            format!("the match ends ({why})")
        }
        Event::Line(event) => format!("seat {} writes a line", event.seat),
        Event::Exit(event) => format!("seat {} exits ({})", event.seat, event.status),
        _ => "nothing is judged".to_owned(),
    }
}

/// Returns the first parts that differ, and appends where they are to `path`.
fn first<'a>(
    made: &'a Value,
    recorded: &'a Value,
    path: &mut String,
) -> Option<(&'a Value, &'a Value)> {
    if made == recorded {
        return None;
    }
    match (made, recorded) {
        (Value::Object(one), Value::Object(other)) => {
            let key =
                one.keys().chain(other.keys()).find(|key| one.get(*key) != other.get(*key))?;
            path.push_str(if path.is_empty() { "" } else { "." });
            path.push_str(key);
            let value =
                |of: &'a serde_json::Map<String, Value>| of.get(key).unwrap_or(&Value::Null);
            first(value(one), value(other), path)
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let at = one.iter().zip(other).position(|(one, other)| one != other)?;
            write!(path, "[{at}]").ok()?;
            first(&one[at], &other[at], path)
        }
        _ => Some((made, recorded)),
    }
}
