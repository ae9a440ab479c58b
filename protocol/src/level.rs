//! Sandbox levels and the layers that they consist of, by name.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// How strongly agents are isolated from each other, from the referee and from the machine. Each
/// level includes the one before it, except `external`, which is `basic` with another program
/// around it.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Level {
    /// Pipes and clocks.
    #[value(help = "No isolation, for debugging")]
    None,
    /// Limits against accidents.
    #[value(help = "Limits against accidents")]
    Basic,
    /// Files, signals, sockets and dangerous system calls are out of reach.
    #[value(help = "No access to other files, the network or other processes")]
    Confined,
    /// The rest of the machine can't be seen.
    Isolated,
    /// Memory and processor time of the whole tree are counted by the kernel.
    #[value(help = "The kernel counts memory and CPU time")]
    Metered,
    /// Another program isolates agents.
    #[value(help = "What the --wrapper command does")]
    External,
}

impl Level {
    /// All levels, weakest first.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Basic, Self::Confined, Self::Isolated, Self::Metered, Self::External];

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

    /// Returns the layers of this level. As root, agents also have a user each.
    pub fn layers(self) -> Layers {
        use Layer::{
            Cgroup, CgroupNs, IpcNs, Landlock, Limits, Mounts, NetNs, NoNewPrivileges, PidNs,
            Scope, Seccomp, UserNs, UtsNs, Watchdog,
        };
        let basic = Layers::of(&[NoNewPrivileges, Limits, Watchdog]);
        let confined = basic.with(&[Scope, Landlock, Seccomp]);
        let isolated = confined.with(&[UserNs, PidNs, NetNs, IpcNs, UtsNs, CgroupNs, Mounts]);
        match self {
            Self::None => Layers::default(),
            Self::Basic => basic,
            // The program may need rights of its own.
            Self::External => basic.without(NoNewPrivileges),
            Self::Confined => confined,
            Self::Isolated => isolated,
            Self::Metered => isolated.with(&[Cgroup]),
        }
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
    /// The names, in the order of [`LevelChoice::ALL`].
    const NAMES: [&'static str; 7] =
        ["auto", "none", "basic", "confined", "isolated", "metered", "external"];
    const ALL: [Self; 7] = [
        Self::Auto,
        Self::Exactly(Level::None),
        Self::Exactly(Level::Basic),
        Self::Exactly(Level::Confined),
        Self::Exactly(Level::Isolated),
        Self::Exactly(Level::Metered),
        Self::Exactly(Level::External),
    ];

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

impl ValueEnum for LevelChoice {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Auto => {
                Some(PossibleValue::new("auto").help("The strongest that works on this machine"))
            }
            Self::Exactly(level) => level.to_possible_value(),
        }
    }
}

impl<'de> Deserialize<'de> for LevelChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Self::ALL.into_iter().find(|choice| choice.name() == name);
        found.ok_or_else(|| D::Error::unknown_variant(&name, &Self::NAMES))
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

/// One measure that isolates an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Layer {
    /// Programs that it starts can't gain rights.
    #[strum(serialize = "no new privileges")]
    NoNewPrivileges,
    /// Resource limits of a process: file size, open files, data, core files.
    Limits,
    /// Its supervisor measures its tree's memory and processes.
    Watchdog,
    /// A user of its own, if the referee runs as root.
    User,
    /// A Landlock domain around supervisor and agent: signals to all stay within it.
    Scope,
    /// A Landlock domain around the agent: files, TCP, signals, abstract sockets.
    Landlock,
    /// Refused system calls.
    Seccomp,
    /// A user namespace.
    UserNs,
    /// A process namespace, with its own `/proc`.
    PidNs,
    /// An empty network namespace.
    NetNs,
    /// A namespace of System V and POSIX message queues, semaphores and shared memory.
    IpcNs,
    /// A namespace of the host name.
    UtsNs,
    /// A namespace of control groups.
    CgroupNs,
    /// A mount namespace with bounded `/tmp`, `/dev/shm` and work folder of its own.
    Mounts,
    /// A control group.
    Cgroup,
}

impl Layer {
    /// All layers, in the order in which they are listed.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A set of layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers(u32);

impl Layers {
    /// Returns a set of these layers.
    pub fn of(layers: &[Layer]) -> Self {
        Self::default().with(layers)
    }

    /// Returns the set with these layers added.
    #[must_use]
    pub fn with(self, layers: &[Layer]) -> Self {
        Self(layers.iter().fold(self.0, |bits, &layer| bits | 1 << layer as u8))
    }

    /// Returns the set without this layer.
    #[must_use]
    pub fn without(self, layer: Layer) -> Self {
        Self(self.0 & !(1 << layer as u8))
    }

    /// Returns the layers that are in either set.
    #[must_use]
    pub fn union(self, those: Self) -> Self {
        Self(self.0 | those.0)
    }

    /// Returns the layers that are not in the other set.
    #[must_use]
    pub fn difference(self, those: Self) -> Self {
        Self(self.0 & !those.0)
    }

    /// Whether the layer is in the set.
    pub fn has(self, layer: Layer) -> bool {
        self.0 & (1 << layer as u8) != 0
    }

    /// Returns the layers in order.
    pub fn iter(self) -> impl Iterator<Item = Layer> {
        Layer::ALL.iter().copied().filter(move |&layer| self.has(layer))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Layer, Layers, Level, LevelChoice};

    #[test]
    fn a_choice_is_any_level_or_auto() {
        let choices = LevelChoice::ALL;
        assert_eq!(choices.map(LevelChoice::name), LevelChoice::NAMES);
        assert!(choices.into_iter().filter_map(LevelChoice::named).eq(Level::ALL));
    }

    #[test]
    fn each_level_includes_the_one_before() {
        for (weaker, stronger) in [
            (Level::None, Level::Basic),
            (Level::Basic, Level::Confined),
            (Level::Confined, Level::Isolated),
            (Level::Isolated, Level::Metered),
        ] {
            let more = stronger.layers();
            assert!(weaker.layers().iter().all(|layer| more.has(layer)));
            assert_ne!(weaker.layers(), more);
        }
        assert!(
            Layer::ALL
                .iter()
                .all(|&layer| { layer == Layer::User || Level::Metered.layers().has(layer) })
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
        assert!(Level::ALL.into_iter().all(|level| level.is_at_least(Level::None)));
    }

    #[test]
    fn without_removes_one_layer() {
        let all = Layers::of(Layer::ALL);
        for &layer in Layer::ALL {
            assert_eq!(all.without(layer).iter().count(), Layer::ALL.len() - 1);
            assert!(!all.without(layer).has(layer));
        }
    }
}
