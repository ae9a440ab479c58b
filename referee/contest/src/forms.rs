//! The forms that values of a contest file have: numbers in a range, values that are written in one of two
//! ways, times as people write them.

use referee_match::times::read_time;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A number that can be in a range.
pub(crate) trait Number {
    /// The number, if there is one.
    fn number(&self) -> Option<f64>;
}

impl Number for u32 {
    fn number(&self) -> Option<f64> {
        Some(f64::from(*self))
    }
}

impl Number for u64 {
    #[expect(clippy::cast_precision_loss, reason = "bounds are below 2^53")]
    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl Number for f64 {
    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl<T: Number> Number for Option<T> {
    fn number(&self) -> Option<f64> {
        self.as_ref()?.number()
    }
}

/// Begins the error of a number out of range; errors in a file put the key before it.
pub(crate) const OUT_OF_RANGE: &str = "must be from ";

/// Reads a number that is in a range, for `deserialize_with`.
pub(crate) fn within<'de, D, T, const LEAST: i64, const MOST: i64>(
    deserializer: D,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Number,
{
    let value = T::deserialize(deserializer)?;
    #[expect(clippy::cast_precision_loss, reason = "bounds are below 2^53")]
    let range = LEAST as f64..=MOST as f64;
    match value.number().filter(|number| !range.contains(number)) {
        Some(number) => {
            Err(D::Error::custom(format!("{OUT_OF_RANGE}{LEAST} to {MOST}, not {number}")))
        }
        None => Ok(value),
    }
}

// Something short, a text or a number, or something longer, a table or a list. (A doc comment
// would be a description in the schema.)
#[derive(Clone, Debug, JsonSchema)]
#[schemars(inline, untagged)]
pub(crate) enum ShortOrLong<S, L> {
    Short(S),
    Long(L),
}

/// What a value is called where another is found.
pub(crate) trait Described {
    /// With its article, to follow "expected".
    const DESCRIPTION: &'static str = "a table";
    /// A list is read as one. A table could be too, by the order of its keys.
    const IS_LIST: bool = false;
}

impl Described for String {
    const DESCRIPTION: &'static str = "a string";
}

impl Described for u32 {
    const DESCRIPTION: &'static str = "a number";
}

impl<T> Described for Vec<T> {
    const DESCRIPTION: &'static str = "a list";
    const IS_LIST: bool = true;
}

struct Either<S, L>(PhantomData<(S, L)>);

impl<'de, S, L> Visitor<'de> for Either<S, L>
where
    S: Deserialize<'de> + Described,
    L: Deserialize<'de> + Described,
{
    type Value = ShortOrLong<S, L>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} or {}", S::DESCRIPTION, L::DESCRIPTION)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        S::deserialize(value.into_deserializer()).map(ShortOrLong::Short)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        S::deserialize(value.into_deserializer()).map(ShortOrLong::Short)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        L::deserialize(MapAccessDeserializer::new(map)).map(ShortOrLong::Long)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        if !L::IS_LIST {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        L::deserialize(SeqAccessDeserializer::new(list)).map(ShortOrLong::Long)
    }
}

impl<'de, S, L> Deserialize<'de> for ShortOrLong<S, L>
where
    S: Deserialize<'de> + Described,
    L: Deserialize<'de> + Described,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either(PhantomData))
    }
}

/// A time in milliseconds, written as a text such as `1.5s`, or as a number of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) u64);

struct TimeVisitor;

impl Visitor<'_> for TimeVisitor {
    type Value = Time;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as \"500ms\", \"1.5s\" or \"1m 30s\", or a number of seconds")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Time, E> {
        read_time(value).map(Time).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Time, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Time, E> {
        self.visit_str(&value.to_string())
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TimeVisitor)
    }
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time such as `500ms`, `1.5s` or `1m 30s`, or a number of seconds.",
            "type": ["string", "number"],
        })
    }
}
