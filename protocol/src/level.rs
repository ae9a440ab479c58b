//! How strongly agents are kept apart, and by what: names alone, and which belong together.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// How strongly agents are kept from each other, from the referee and from the machine; each level
/// has all that the one before it has, but for `external`, which is `basic` around somebody else's
/// program.
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
    #[value(help = "Nothing, for debugging")]
    None,
    /// Limits that hold against accidents.
    #[value(help = "Against accidents")]
    Basic,
    /// Files, signals, sockets and dangerous system calls are out of reach.
    #[value(help = "Files, network and other processes are out of reach")]
    Confined,
    /// The rest of the machine can't be seen.
    Isolated,
    /// Memory and processor time of the whole tree are counted by the kernel.
    #[value(help = "The kernel counts memory and CPU time")]
    Metered,
    /// Another program does what it does.
    #[value(help = "Whatever --wrapper does")]
    External,
}

impl Level {
    /// All of them, weakest first.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Basic, Self::Confined, Self::Isolated, Self::Metered, Self::External];

    /// As it is written.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it promises all that another does. What somebody else's program does isn't known, so
    /// that [`Level::External`] can only be compared with itself and with [`Level::None`].
    pub fn is_at_least(self, other: Self) -> bool {
        let compared = self != Self::External && other != Self::External;
        self == other || other == Self::None || (compared && self >= other)
    }

    /// What is to be in force at this level. As root agents have a user each besides.
    pub fn layers(self) -> Layers {
        use Layer::{
            Cgroup, CgroupNs, IpcNs, Landlock, Limits, Mounts, NetNs, NoNewPrivileges, PidNs,
            Scope, Seccomp, UserNs, UtsNs, Watchdog,
        };
        let basic = Layers::of(&[NoNewPrivileges, Limits, Watchdog]);
        let confined = basic.and(&[Scope, Landlock, Seccomp]);
        let isolated = confined.and(&[UserNs, PidNs, NetNs, IpcNs, UtsNs, CgroupNs, Mounts]);
        match self {
            Self::None => Layers::default(),
            Self::Basic => basic,
            // The program may need rights of its own to do what it does.
            Self::External => basic.without(NoNewPrivileges),
            Self::Confined => confined,
            Self::Isolated => isolated,
            Self::Metered => isolated.and(&[Cgroup]),
        }
    }
}

/// A level, or the choice of one, as contest files and the command line have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LevelChoice {
    /// The strongest that the machine is seen to give, and at least `basic`.
    #[default]
    Auto,
    /// This one, neither less nor more.
    Exactly(Level),
}

impl LevelChoice {
    /// As they are written, in the order of [`LevelChoice::ALL`].
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

    /// The level, where one is named.
    pub fn named(self) -> Option<Level> {
        match self {
            Self::Auto => None,
            Self::Exactly(level) => Some(level),
        }
    }

    /// As it is written.
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
            Self::Auto => Some(
                PossibleValue::new("auto").help("The strongest that this machine is seen to give"),
            ),
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
            "description": "How strongly agents are kept apart.",
            "type": "string",
            "enum": Self::NAMES,
        })
    }
}

/// One thing that is done to keep an agent where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Layer {
    /// No program that it starts gets more rights than it has.
    #[strum(serialize = "no new privileges")]
    NoNewPrivileges,
    /// Limits of the system on a process: file size, open files, data, core files.
    Limits,
    /// Its supervisor measures memory and processes of its tree.
    Watchdog,
    /// A user of its own, where the referee runs as root.
    User,
    /// A Landlock domain around supervisor and agent: signals to all of it reach nobody else.
    Scope,
    /// A Landlock domain around the agent: files, TCP, signals, abstract sockets.
    Landlock,
    /// System calls that are refused.
    Seccomp,
    /// A user namespace.
    UserNs,
    /// A process namespace, with its own `/proc`.
    PidNs,
    /// A network namespace, with nothing in it.
    NetNs,
    /// A namespace of System V and POSIX message queues, semaphores and shared memory.
    IpcNs,
    /// A namespace of the machine's name.
    UtsNs,
    /// A namespace of control groups.
    CgroupNs,
    /// A mount namespace with bounded `/tmp`, `/dev/shm` and work folder of its own.
    Mounts,
    /// A control group of the kernel's.
    Cgroup,
}

impl Layer {
    /// All of them, in the order in which they are told.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// As it is written.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A set of layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers(u32);

impl Layers {
    /// These.
    pub fn of(layers: &[Layer]) -> Self {
        Self::default().and(layers)
    }

    /// These too.
    #[must_use]
    pub fn and(self, layers: &[Layer]) -> Self {
        Self(layers.iter().fold(self.0, |bits, &layer| bits | 1 << layer as u8))
    }

    /// All but this one.
    #[must_use]
    pub fn without(self, layer: Layer) -> Self {
        Self(self.0 & !(1 << layer as u8))
    }

    /// These and those.
    #[must_use]
    pub fn union(self, those: Self) -> Self {
        Self(self.0 | those.0)
    }

    /// All of these but those.
    #[must_use]
    pub fn minus(self, those: Self) -> Self {
        Self(self.0 & !those.0)
    }

    /// Whether it is among them.
    pub fn has(self, layer: Layer) -> bool {
        self.0 & (1 << layer as u8) != 0
    }

    /// They, one by one.
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
    fn each_level_has_what_the_one_before_has() {
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
    fn what_another_program_does_is_compared_with_nothing() {
        assert!(Level::Isolated.is_at_least(Level::Isolated));
        assert!(Level::Isolated.is_at_least(Level::Confined));
        assert!(!Level::Confined.is_at_least(Level::Isolated));
        assert!(Level::External.is_at_least(Level::External));
        assert!(!Level::External.is_at_least(Level::Basic));
        assert!(!Level::Metered.is_at_least(Level::External));
        assert!(Level::ALL.into_iter().all(|level| level.is_at_least(Level::None)));
    }

    #[test]
    fn a_layer_is_taken_out() {
        let all = Layers::of(Layer::ALL);
        for &layer in Layer::ALL {
            assert_eq!(all.without(layer).iter().count(), Layer::ALL.len() - 1);
            assert!(!all.without(layer).has(layer));
        }
    }
}
