//! JSON as an agent must write it. What a lenient reader accepts silently (a duplicate key, a
//! byte-order mark, endless nesting) is an error here, with its place in the line.

use crate::plain_error;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::fmt;

/// How deep objects and arrays may nest; the outermost counts as 1.
const DEPTH_MAX: u32 = 32;

/// The largest integer up to which a floating-point number holds all integers exactly.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Why a line can't be read as a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}{}", column.map(|column| format!(" (byte {column})")).unwrap_or_default())]
pub struct ParseError {
    text: String,
    /// The position of the error in bytes, from 1, if it has one.
    pub column: Option<usize>,
    /// What kind of JSON error it is.
    pub kind: ParseErrorKind,
}

/// The kinds of invalid JSON that have a remedy of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// Anything else.
    #[default]
    Other,
    /// The line ends within a value.
    Unfinished,
    /// Something follows the value.
    Trailing,
    /// An object has a key twice.
    Duplicate,
    /// Lists and objects are nested too deep.
    Depth,
    /// A number is too large.
    Number,
}

impl ParseError {
    /// An error in the message as a whole, or in the field that `text` names.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), column: None, kind: ParseErrorKind::Other }
    }
}

/// Parses one line (without its end) as JSON. Rejects duplicate keys, nesting deeper than 32,
/// invalid UTF-8, a byte-order mark and raw control characters. Reads 3.0 as 3.
pub fn parse_strict(line: &[u8]) -> Result<Value, ParseError> {
    if line.starts_with(b"\xEF\xBB\xBF") {
        let text = "byte-order mark: write UTF-8 without BOM".to_owned();
        return Err(ParseError { text, column: Some(1), kind: ParseErrorKind::Other });
    }
    let text = std::str::from_utf8(line).map_err(|error| ParseError {
        text: "invalid UTF-8".to_owned(),
        column: Some(error.valid_up_to() + 1),
        kind: ParseErrorKind::Other,
    })?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let refused = Cell::new(ParseErrorKind::Other);
    let strict = Strict { depth: 0, refused: &refused };
    let value = strict.deserialize(&mut reader).map_err(|error| {
        let kind = match error.classify() {
            Category::Eof => ParseErrorKind::Unfinished,
            _ if error.to_string().starts_with("number out of range") => ParseErrorKind::Number,
            _ => refused.get(),
        };
        at(&error, kind)
    })?;
    reader.end().map_err(|error| at(&error, ParseErrorKind::Trailing))?;
    Ok(value)
}

/// Returns the reader's error with its place, "at line 1 column 9", moved to `column`.
fn at(error: &serde_json::Error, kind: ParseErrorKind) -> ParseError {
    let text = plain_error(&error.to_string());
    ParseError { text, column: (error.column() > 0).then(|| error.column()), kind }
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    depth: u32,
    /// Why it refused text that is otherwise valid JSON.
    refused: &'a Cell<ParseErrorKind>,
}

impl Strict<'_> {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth == DEPTH_MAX {
            self.refused.set(ParseErrorKind::Depth);
            return Err(E::custom(format_args!("nested deeper than {DEPTH_MAX}")));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        if value.fract() == 0.0 && value.abs() <= EXACT_MAX {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
            return Ok((value as i64).into());
        }
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("this number is too large"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut values = Vec::new();
        while let Some(value) = sequence.next_element_seed(inner)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                self.refused.set(ParseErrorKind::Duplicate);
                return Err(A::Error::custom(format_args!("duplicate key {key:?}")));
            }
            let value = entries.next_value_seed(inner)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::{ParseErrorKind, parse_strict};
    use proptest::prelude::*;

    fn refused(line: &[u8]) -> String {
        parse_strict(line).expect_err("should be refused").to_string()
    }

    #[test]
    fn errors_with_a_remedy_have_a_kind() {
        for (line, kind) in [
            ("{\"a\":1,\"a\":2}", ParseErrorKind::Duplicate),
            ("{\"a\":{\"b\":1,\"b\":1}", ParseErrorKind::Duplicate),
            ("{\"a\":[1,", ParseErrorKind::Unfinished),
            ("{\"a\":\"", ParseErrorKind::Unfinished),
            ("{\"a\":1}}", ParseErrorKind::Trailing),
            ("{} {}", ParseErrorKind::Trailing),
            ("{\"EOF while parsing\":x", ParseErrorKind::Other),
            ("{a:1}", ParseErrorKind::Other),
        ] {
            assert_eq!(parse_strict(line.as_bytes()).unwrap_err().kind, kind, "{line}");
        }
    }

    #[test]
    fn what_lenient_parsers_accept_is_an_error() {
        for (line, wanted) in [
            (&b"{\"a\":1,\"a\":2}"[..], "duplicate key \"a\" (byte 10)"),
            (b"{\"a\":1,\"\\u0061\":2}", "duplicate key \"a\""),
            (b"{\"a\":{\"b\":1,\"b\":1}}", "duplicate key \"b\""),
            (b"\xEF\xBB\xBF{}", "byte-order mark"),
            (b"{\"a\":\"\xFF\"}", "invalid UTF-8 (byte 7)"),
            (b"{\"a\":\"\0\"}", "control character"),
            (b"{\"a\":\"\x1b[31m\"}", "control character"),
            (b"{\"a\":1e400}", "number out of range"),
            (b"{\"a\":1} x", "more text after the JSON value (byte 9)"),
            (b"{\"a\":NaN}", "this is not JSON (byte 6)"),
            (b"{'a':1}", "a key must be a string"),
            (b"", "the line ends"),
        ] {
            let text = refused(line);
            assert!(text.contains(wanted), "{line:?}: {text:?} lacks {wanted:?}");
        }
    }

    #[test]
    fn nesting_is_bounded_exactly() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse_strict(nested(32).as_bytes()).is_ok());
        assert!(refused(nested(33).as_bytes()).contains("nested deeper than 32"));
        assert!(refused("[".repeat(100_000).as_bytes()).contains("nested deeper than 32"));
    }

    #[test]
    fn whole_floats_are_integers() {
        assert_eq!(parse_strict(b"[3.0,-0.0,1e2,0.5]").unwrap().to_string(), "[3,0,100,0.5]");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(line in proptest::collection::vec(any::<u8>(), 0..64)) {
            drop(parse_strict(&line));
        }

        #[test]
        fn what_is_written_is_read_back(value in json()) {
            prop_assert_eq!(parse_strict(value.to_string().as_bytes()).unwrap(), value);
        }
    }

    /// Values with a little nesting. Integers may be written in any form.
    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<u64>().prop_map(Into::into),
            (-1e9..1e9)
                .prop_filter("whole", |number: &f64| number.fract() != 0.0)
                .prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                proptest::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect())),
            ]
        })
    }
}
