//! Sandbox levels, by name.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::str::FromStr;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// How strongly agents are isolated from each other, from the referee and from the machine. Each
/// level includes the one before it, except `external`, which is `basic` with another program
/// around it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Level {
    /// Pipes and clocks.
    None,
    /// Limits that protect against accidents.
    Basic,
    /// Files, signals, sockets and dangerous system calls are out of reach.
    Confined,
    /// The rest of the machine can't be seen.
    Isolated,
    /// Memory and processor time of the whole tree are counted by the kernel.
    Metered,
    /// Another program isolates agents.
    External,
}

impl Level {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it includes everything that another level promises. What another program does is
    /// unknown, so [`Level::External`] includes only itself and [`Level::None`].
    pub fn is_at_least(self, other: Self) -> bool {
        let compared = self != Self::External && other != Self::External;
        self == other || other == Self::None || (compared && self >= other)
    }
}

/// A level or `auto`, as in contest files and on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LevelChoice {
    /// The strongest that passes its self-test on this machine, at least `basic`.
    #[default]
    Auto,
    /// Exactly this one.
    Exactly(Level),
}

impl LevelChoice {
    /// The names.
    pub const NAMES: [&'static str; 7] =
        ["auto", "none", "basic", "confined", "isolated", "metered", "external"];

    /// Returns the level, unless it is `auto`.
    pub fn named(self) -> Option<Level> {
        match self {
            Self::Auto => None,
            Self::Exactly(level) => Some(level),
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.named().map_or("auto", Level::name)
    }
}

impl FromStr for LevelChoice {
    type Err = strum::ParseError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if name == "auto" { Ok(Self::Auto) } else { name.parse().map(Self::Exactly) }
    }
}

impl<'de> Deserialize<'de> for LevelChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(|_| D::Error::unknown_variant(&name, &Self::NAMES))
    }
}

impl JsonSchema for LevelChoice {
    fn schema_name() -> Cow<'static, str> {
        "SandboxLevel".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How strongly agents are isolated.",
            "type": "string",
            "enum": Self::NAMES,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Level, LevelChoice};
    use strum::VariantArray;

    #[test]
    fn a_choice_is_any_level_or_auto() {
        let choices = LevelChoice::NAMES.map(|name| name.parse::<LevelChoice>().unwrap());
        assert_eq!(choices.map(LevelChoice::name), LevelChoice::NAMES);
        assert!(
            choices.into_iter().filter_map(LevelChoice::named).eq(Level::VARIANTS.iter().copied())
        );
    }

    #[test]
    fn external_includes_only_itself_and_none() {
        assert!(Level::Isolated.is_at_least(Level::Isolated));
        assert!(Level::Isolated.is_at_least(Level::Confined));
        assert!(!Level::Confined.is_at_least(Level::Isolated));
        assert!(Level::External.is_at_least(Level::External));
        assert!(!Level::External.is_at_least(Level::Basic));
        assert!(!Level::Metered.is_at_least(Level::External));
        assert!(Level::VARIANTS.iter().all(|level| level.is_at_least(Level::None)));
    }
}
