//! Writes messages and events as JSON. Those of every turn are written field by field, which takes a
//! third of the time that serde takes; all others, and what is rare in them, are left to serde.

use crate::{ActionJson, Event, LineEvent, Played, PlayedEvent, ToAgent, Turn, TurnEvent};
use serde::Serialize;

impl Event {
    /// Appends the event's JSON, as serde writes it.
    pub fn write_json(&self, bytes: &mut Vec<u8>) {
        let mut object = Object(bytes);
        match self {
            Self::Turn(event) => object.turn_event(event),
            Self::Line(event) => object.line_event(event),
            Self::Played(event) => object.played_event(event),
            _ => object.value("", self),
        }
    }
}

impl ToAgent {
    /// Appends the message's JSON, as serde writes it.
    pub fn write_json(&self, bytes: &mut Vec<u8>) {
        let mut object = Object(bytes);
        match self {
            Self::Turn(Turn { turn, left_ms, position: None, actions: None, together })
                if together.is_empty() =>
            {
                object.value("{\"type\":\"turn\",\"turn\":", turn);
                object.value(",\"left_ms\":", left_ms);
                object.text("}");
            }
            Self::Played(Played { turn, seat, action, used_ms }) => {
                object.value("{\"type\":\"played\",\"turn\":", turn);
                object.value(",\"seat\":", seat);
                object.action(action);
                object.value(",\"used_ms\":", used_ms);
                object.text("}");
            }
            _ => object.value("", self),
        }
    }
}

/// An object that is being written. The names of its fields include the punctuation before and after.
struct Object<'a>(&'a mut Vec<u8>);

impl Object<'_> {
    fn turn_event(&mut self, event: &TurnEvent) {
        let TurnEvent { at_ns, turn, seat, left_ms, pondered_ns, together } = event;
        self.value("{\"type\":\"turn\",\"at_ns\":", at_ns);
        self.value(",\"turn\":", turn);
        self.value(",\"seat\":", seat);
        self.value(",\"left_ms\":", left_ms);
        self.unless_zero(",\"pondered_ns\":", *pondered_ns);
        if !together.is_empty() {
            self.value(",\"together\":", together);
        }
        self.text("}");
    }

    fn line_event(&mut self, event: &LineEvent) {
        let LineEvent { at_ns, seat, line, escaped, cut } = event;
        self.value("{\"type\":\"line\",\"at_ns\":", at_ns);
        self.value(",\"seat\":", seat);
        self.value(",\"line\":", line);
        self.text(if *escaped { ",\"escaped\":true" } else { "" });
        self.text(if *cut { ",\"cut\":true}" } else { "}" });
    }

    fn played_event(&mut self, event: &PlayedEvent) {
        let PlayedEvent {
            at_ns,
            turn,
            seat,
            action,
            used_ms,
            wall_ns,
            cpu_ns,
            wait_ns,
            lag_ns,
            score,
        } = event;
        self.value("{\"type\":\"played\",\"at_ns\":", at_ns);
        self.value(",\"turn\":", turn);
        self.value(",\"seat\":", seat);
        self.action(action);
        self.value(",\"used_ms\":", used_ms);
        self.value(",\"wall_ns\":", wall_ns);
        self.unless_none(",\"cpu_ns\":", cpu_ns.as_ref());
        self.unless_none(",\"wait_ns\":", wait_ns.as_ref());
        self.unless_zero(",\"lag_ns\":", *lag_ns);
        self.unless_none(",\"score\":", score.as_ref());
        self.text("}");
    }

    fn action(&mut self, action: &ActionJson) {
        self.text(",\"action\":");
        self.text(action.as_str());
    }

    fn unless_none(&mut self, name: &str, value: Option<&impl Serialize>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }

    fn unless_zero(&mut self, name: &str, number: u64) {
        if number != 0 {
            self.value(name, &number);
        }
    }

    fn value(&mut self, name: &str, value: &impl Serialize) {
        self.text(name);
        serde_json::to_writer(&mut *self.0, value)
            .expect("memory takes all bytes, and all objects have string keys only");
    }

    fn text(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use crate::{Event, LineEvent, Played, PlayedEvent, Seat, ToAgent, Turn, TurnEvent};
    use proptest::option::of;
    use proptest::prelude::*;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    fn events() -> impl Strategy<Value = Event> {
        let numbers = (any::<u64>(), any::<u64>(), (0..6_u8).prop_map(Seat));
        let times = (any::<u64>(), any::<u64>(), of(any::<u64>()), of(any::<u64>()), 0..3_u64);
        let line = (any::<String>(), any::<bool>(), any::<bool>());
        (0..3, numbers, times, line, of(any::<f64>())).prop_map(
            |(kind, (at_ns, turn, seat), times, (line, escaped, cut), score)| {
                let (used_ms, wall_ns, cpu_ns, wait_ns, lag_ns) = times;
                let action = json!({"type": "move", "path": [used_ms], "text": line}).into();
                match kind {
                    0 => Event::Turn(TurnEvent {
                        at_ns,
                        turn,
                        seat,
                        left_ms: cpu_ns,
                        pondered_ns: lag_ns,
                        together: (0..u8::try_from(lag_ns).unwrap_or(0)).map(Seat).collect(),
                    }),
                    1 => Event::Line(LineEvent { at_ns, seat, line, escaped, cut }),
                    _ => Event::Played(PlayedEvent {
                        at_ns,
                        turn,
                        seat,
                        action,
                        used_ms,
                        wall_ns,
                        cpu_ns,
                        wait_ns,
                        lag_ns,
                        score,
                    }),
                }
            },
        )
    }

    fn messages() -> impl Strategy<Value = ToAgent> {
        let lists = (any::<bool>(), any::<bool>());
        (any::<bool>(), any::<u64>(), of(any::<u64>()), lists).prop_map(
            |(asks, turn, left_ms, (position, actions))| {
                let action = json!({"type": "place", "at": [turn, "\"\u{1}"]});
                if asks {
                    let position = position.then(|| json!({"turn": turn}));
                    let actions = actions.then(|| vec![action]);
                    let together = Vec::new();
                    return ToAgent::Turn(Turn { turn, left_ms, position, actions, together });
                }
                let used_ms = left_ms.unwrap_or(0);
                ToAgent::Played(Played { turn, seat: Seat(1), action: action.into(), used_ms })
            },
        )
    }

    proptest! {
        #[test]
        fn events_are_written_as_serde_writes_them(event in events()) {
            let mut written = Vec::new();
            event.write_json(&mut written);
            prop_assert_eq!(String::from_utf8(written).unwrap(), json_of(&event));
        }

        #[test]
        fn messages_are_written_as_serde_writes_them(message in messages()) {
            let mut written = Vec::new();
            message.write_json(&mut written);
            prop_assert_eq!(String::from_utf8(written).unwrap(), json_of(&message));
        }
    }

    /// The end-to-end tests check that the examples have every field of the schema.
    #[test]
    fn every_example_is_read_and_written_back() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/tests/messages");
        let mut count = 0;
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let text = std::fs::read_to_string(&path).unwrap();
            let mut written = Vec::new();
            match path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap() {
                "transcript" => read::<Event>(&text).write_json(&mut written),
                "to-agent" => read::<ToAgent>(&text).write_json(&mut written),
                _ => continue,
            }
            let written: Value = serde_json::from_slice(&written).unwrap();
            assert_eq!(written, read::<Value>(&text), "{}", path.display());
            count += 1;
        }
        assert!(count > 20, "{count} examples");
    }

    fn read<T: DeserializeOwned>(text: &str) -> T {
        serde_json::from_str(text).unwrap()
    }

    fn json_of(value: &impl serde::Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }
}
