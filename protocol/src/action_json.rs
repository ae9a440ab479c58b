use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// An action as JSON text, as the referee writes it: without spaces, its keys sorted. Cheap to clone.
#[derive(Clone)]
pub struct ActionJson(Arc<str>);

impl ActionJson {
    /// Takes a text in the form above, which is not checked.
    pub fn from_sorted(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the action as a tree.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.as_str()).expect("this is JSON")
    }
}

impl From<&Value> for ActionJson {
    fn from(action: &Value) -> Self {
        Self(action.to_string().into())
    }
}

impl From<Value> for ActionJson {
    fn from(action: Value) -> Self {
        Self::from(&action)
    }
}

impl PartialEq for ActionJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for ActionJson {}

impl fmt::Display for ActionJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ActionJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ActionJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ActionJson {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        Value::deserialize(reader).map(Self::from)
    }
}

impl JsonSchema for ActionJson {
    fn schema_name() -> Cow<'static, str> {
        Value::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Value::json_schema(generator)
    }

    fn inline_schema() -> bool {
        Value::inline_schema()
    }
}
