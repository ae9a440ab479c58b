//! The forms that values of a contest file have: each with its place in the text, some written in
//! one of two ways, times as people write them.

use referee_match::times::read_time;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Range};

/// A value and its place in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent, bound = "T: Deserialize<'de>")]
pub(crate) struct Spanned<T>(toml::Spanned<T>);

impl<T> Spanned<T> {
    /// Returns its place, in bytes.
    pub(crate) fn span(&self) -> Range<usize> {
        self.0.span()
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.get_ref()
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
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
