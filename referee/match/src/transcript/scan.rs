//! A fast reader for the events of every turn, in exactly the layout that the recorder writes. For any
//! other line `scan` returns `None`, and the caller reads it with serde, which takes several times as
//! long: reading, not judging, is most of the work of verifying.

use referee_protocol::{ActionJson, Event, LineEvent, PlayedEvent, Seat, TurnEvent};

/// Reads a line without its end. The text of an action is only known to have balanced braces.
pub(super) fn scan(line: &str) -> Option<Event> {
    let mut cursor = Cursor { rest: line.as_bytes() };
    cursor.literal(b"{\"type\":\"")?;
    let scanned = match cursor.rest.first()? {
        b't' => cursor.turn(),
        b'l' => cursor.line(line),
        b'p' => cursor.played(line),
        _ => None,
    }?;
    cursor.rest.is_empty().then_some(scanned)
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl Cursor<'_> {
    fn turn(&mut self) -> Option<Event> {
        let at_ns = self.number(b"turn\",\"at_ns\":")?;
        let turn = self.number(b",\"turn\":")?;
        let seat = self.seat()?;
        let left_ms = match self.literal(b",\"left_ms\":null") {
            Some(()) => None,
            None => Some(self.number(b",\"left_ms\":")?),
        };
        let pondered_ns = self.optional_number(b",\"pondered_ns\":")?.unwrap_or(0);
        self.literal(b"}")?;
        let together = Vec::new();
        Some(Event::Turn(TurnEvent { at_ns, turn, seat, left_ms, pondered_ns, together }))
    }

    fn line(&mut self, whole: &str) -> Option<Event> {
        let at_ns = self.number(b"line\",\"at_ns\":")?;
        let seat = self.seat()?;
        self.literal(b",\"line\":\"")?;
        let start = whole.len() - self.rest.len();
        let has_escapes = self.string()?;
        let text = whole.get(start..whole.len() - self.rest.len() - 1)?;
        let line = if has_escapes { unescaped(text)? } else { text.to_owned() };
        let escaped = self.literal(b",\"escaped\":true").is_some();
        let cut = self.literal(b",\"cut\":true").is_some();
        self.literal(b"}")?;
        Some(Event::Line(LineEvent { at_ns, seat, line, escaped, cut }))
    }

    fn played(&mut self, line: &str) -> Option<Event> {
        let at_ns = self.number(b"played\",\"at_ns\":")?;
        let turn = self.number(b",\"turn\":")?;
        let seat = self.seat()?;
        self.literal(b",\"action\":{")?;
        let start = line.len() - self.rest.len() - 1;
        self.object()?;
        let action = line.get(start..line.len() - self.rest.len())?;
        let used_ms = self.number(b",\"used_ms\":")?;
        let wall_ns = self.number(b",\"wall_ns\":")?;
        let cpu_ns = self.optional_number(b",\"cpu_ns\":")?;
        let wait_ns = self.optional_number(b",\"wait_ns\":")?;
        let lag_ns = self.optional_number(b",\"lag_ns\":")?.unwrap_or(0);
        self.literal(b"}")?;
        let action = ActionJson::from_sorted(action);
        let mut played = PlayedEvent::untimed(turn, seat, action);
        (played.at_ns, played.used_ms, played.wall_ns) = (at_ns, used_ms, wall_ns);
        (played.cpu_ns, played.wait_ns, played.lag_ns) = (cpu_ns, wait_ns, lag_ns);
        Some(Event::Played(played))
    }

    /// Skips these bytes, or stays. Their number is a constant, so that comparing them takes a few
    /// instructions instead of a call.
    fn literal<const N: usize>(&mut self, wanted: &[u8; N]) -> Option<()> {
        let (first, rest) = self.rest.split_first_chunk()?;
        (first == wanted).then(|| self.rest = rest)
    }

    /// Reads an optional field with a number; the outer `None` is an error.
    #[expect(clippy::option_option, reason = "a field that is missing, and one that can't be read")]
    fn optional_number<const N: usize>(&mut self, field: &[u8; N]) -> Option<Option<u64>> {
        if self.rest.starts_with(field) { self.number(field).map(Some) } else { Some(None) }
    }

    fn seat(&mut self) -> Option<Seat> {
        u8::try_from(self.number(b",\"seat\":")?).ok().map(Seat)
    }

    /// Reads a field with a whole number that fits 64 bits, without leading zeros.
    fn number<const N: usize>(&mut self, field: &[u8; N]) -> Option<u64> {
        self.literal(field)?;
        let digit = |&byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
        let mut number = self.rest.first().and_then(digit)?;
        let mut length = 1;
        while let Some(next) = self.rest.get(length).and_then(digit) {
            if number == 0 {
                return None;
            }
            number = number.checked_mul(10)?.checked_add(next)?;
            length += 1;
        }
        self.rest = &self.rest[length..];
        Some(number)
    }

    /// Skips the rest of a string after its opening quote, and tells whether it has escapes. Accepts
    /// numeric ones only below U+0100: the recorder writes no others, so surrogates can't occur.
    fn string(&mut self) -> Option<bool> {
        let (mut at, mut has_escapes) = (0, false);
        loop {
            at += self.rest[at..].iter().position(|byte| matches!(byte, b'"' | b'\\' | ..0x20))?;
            if self.rest[at] == b'"' {
                self.rest = &self.rest[at + 1..];
                return Some(has_escapes);
            }
            has_escapes = true;
            at += match self.rest[at..] {
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
                [b'\\', b'u', b'0', b'0', high, low, ..]
                    if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
                {
                    6
                }
                _ => return None,
            };
        }
    }

    /// Skips the rest of an object after its opening brace. Checks only braces and strings.
    fn object(&mut self) -> Option<()> {
        let mut open = 1_u32;
        loop {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            match byte {
                b'"' => drop(self.string()?),
                b'{' => open += 1,
                b'}' => {
                    open -= 1;
                    if open == 0 {
                        return Some(());
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns a string without its escapes, which are known to be good.
fn unescaped(text: &str) -> Option<String> {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        match bytes.next()? {
            b'b' => plain.push(8),
            b'f' => plain.push(12),
            b'n' => plain.push(b'\n'),
            b'r' => plain.push(b'\r'),
            b't' => plain.push(b'\t'),
            b'u' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                let code = (0..4).try_fold(0, |code, _| Some(code * 16 + digit()?))?;
                let mut buffer = [0; 4];
                plain.extend(char::from_u32(code)?.encode_utf8(&mut buffer).bytes());
            }
            other => plain.push(other),
        }
    }
    String::from_utf8(plain).ok()
}

#[cfg(test)]
mod tests {
    use super::scan;
    use proptest::prelude::*;
    use referee_protocol::{Event, LineEvent, PlayedEvent, Seat, TurnEvent};
    use serde_json::json;

    fn event() -> impl Strategy<Value = Event> {
        let numbers = || (any::<u64>(), 0..1000_u64, any::<u8>().prop_map(Seat));
        let turn = (numbers(), any::<Option<u64>>(), prop_oneof![Just(0), any::<u64>()]).prop_map(
            |((at_ns, turn, seat), left_ms, pondered_ns)| {
                let together = Vec::new();
                Event::Turn(TurnEvent { at_ns, turn, seat, left_ms, pondered_ns, together })
            },
        );
        let text = || "(\\PC|[\"\\\\\u{0}-\u{1f}/{}]){0,20}";
        let line = (numbers(), text(), any::<bool>(), any::<bool>()).prop_map(
            |((at_ns, _, seat), line, escaped, cut)| {
                Event::Line(LineEvent { at_ns, seat, line, escaped, cut })
            },
        );
        let action = prop_oneof![
            Just(json!({"type": "pass"})),
            (any::<i64>(), 0..9).prop_map(|(r, c)| json!({"type": "place", "at": [r, c]})),
            text().prop_map(|text| json!({"type": text, "deep": {"}": [{}]}})),
        ];
        let figures = (any::<u64>(), any::<Option<u64>>(), any::<Option<u64>>(), 0..2_u64);
        let played = (numbers(), action, figures).prop_map(
            |((at_ns, turn, seat), action, (wall_ns, cpu_ns, wait_ns, lag_ns))| {
                let used_ms = wall_ns / 1_000_000;
                Event::Played(PlayedEvent {
                    at_ns,
                    turn,
                    seat,
                    action: action.into(),
                    used_ms,
                    wall_ns,
                    cpu_ns,
                    wait_ns,
                    lag_ns,
                    score: None,
                })
            },
        );
        prop_oneof![turn, line, played]
    }

    proptest! {
        #[test]
        fn what_the_recorder_writes_is_read_quickly(event in event()) {
            let line = serde_json::to_string(&event).unwrap();
            prop_assert_eq!(scan(&line), Some(event), "{}", line);
        }

        /// What the scanner accepts, serde accepts with the same meaning. Only the action's own text
        /// is left to the rules.
        #[test]
        fn what_is_read_quickly_serde_reads_too(
            event in event(), index in any::<prop::sample::Index>(), byte in any::<char>(),
            drop_it in any::<bool>(),
        ) {
            let mut line: Vec<char> = serde_json::to_string(&event).unwrap().chars().collect();
            let at = index.index(line.len());
            if drop_it { line.remove(at); } else { line[at] = byte; }
            let line: String = line.into_iter().collect();
            let Some(mut scanned) = scan(&line) else { return Ok(()) };
            if let Event::Played(played) = &mut scanned {
                let action = serde_json::from_str::<serde_json::Value>(played.action.as_str());
                let Ok(action) = action else { return Ok(()) };
                played.action = action.into();
            }
            let read = serde_json::from_str::<Event>(&line);
            prop_assert!(read.as_ref().is_ok_and(|event| *event == scanned), "{line}: {read:?}");
        }
    }

    #[test]
    fn other_layouts_are_left_to_serde() {
        for line in [
            r#"{"type":"turn","at_ns":1,"turn":2,"seat":0,"left_ms":01}"#,
            r#"{"type":"turn","at_ns":18446744073709551616,"turn":2,"seat":0,"left_ms":1}"#,
            r#"{"type":"turn", "at_ns":1,"turn":2,"seat":0,"left_ms":1}"#,
            r#"{"type":"turn","at_ns":1,"turn":2,"seat":0,"left_ms":1} "#,
            r#"{"type":"turn","at_ns":1,"turn":2,"seat":0,"left_ms":1,"new":1}"#,
            r#"{"type":"line","at_ns":1,"seat":0,"line":"\ud83d"}"#,
            r#"{"type":"line","at_ns":1,"seat":256,"line":""}"#,
            r#"{"type":"line","at_ns":1,"seat":0,"line":"\x"}"#,
            r#"{"type":"line","at_ns":1,"seat":0,"line":"x}"#,
            r#"{"type":"played","at_ns":1,"turn":0,"seat":0,"action":{"#,
            r#"{"type":"over"}"#,
            r#"{"type":""#,
            "",
        ] {
            assert_eq!(scan(line), None, "{line}");
        }
    }
}
