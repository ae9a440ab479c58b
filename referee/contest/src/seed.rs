//! The seed of a contest: a number that a person chose, or a key that was drawn. Nobody can try all keys until one fits
//! the seeds of games, which are public while the contest goes on. It draws nothing.

use crate::forms::OUT_OF_RANGE;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Seeds that are numbers are below: every language can hold them.
pub const SEED_BOUND: u64 = 1 << 53;
/// The length of a key in hex digits.
const KEY_DIGITS: usize = 32;

/// All random choices of a contest follow from its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// A number below [`SEED_BOUND`].
    Number(u64),
    /// A key, which no report shows.
    Key(u128),
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Key(key) => write!(f, "{key:0KEY_DIGITS$x}"),
        }
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Key(_) => serializer.collect_str(self),
        }
    }
}

fn out_of_range<E: Error>(value: impl fmt::Display) -> E {
    E::custom(format!("{OUT_OF_RANGE}0 to {}, not {value}", SEED_BOUND - 1))
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = text.parse().map_or_else(
            |_| SeedVisitor.visit_str(text),
            |number| SeedVisitor.visit_u64::<serde::de::value::Error>(number),
        );
        read.map_err(|error| error.to_string())
    }
}

struct SeedVisitor;

impl Visitor<'_> for SeedVisitor {
    type Value = Seed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number, or a string of {KEY_DIGITS} hex digits")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Seed, E> {
        if value < SEED_BOUND {
            return Ok(Seed::Number(value));
        }
        Err(out_of_range(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Seed, E> {
        u64::try_from(value)
            .map_err(|_| out_of_range(value))
            .and_then(|value| self.visit_u64(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Seed, E> {
        let is_key =
            value.len() == KEY_DIGITS && value.bytes().all(|byte| byte.is_ascii_hexdigit());
        let key = is_key.then(|| u128::from_str_radix(value, 16).ok()).flatten();
        key.map(Seed::Key).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(value), &self))
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SeedVisitor)
    }
}

impl JsonSchema for Seed {
    fn schema_name() -> Cow<'static, str> {
        "Seed".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "string"],
            "minimum": 0,
            "maximum": SEED_BOUND - 1,
            "pattern": format!("^[0-9a-fA-F]{{{KEY_DIGITS}}}$"),
        })
    }
}
