//! The layers that sandbox levels consist of, by name.

use referee_protocol::Level;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

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
    /// Returns the layers of a level. As root, agents also have a user each.
    pub fn of_level(level: Level) -> Self {
        use Layer::{
            Cgroup, CgroupNs, IpcNs, Landlock, Limits, Mounts, NetNs, NoNewPrivileges, PidNs,
            Scope, Seccomp, UserNs, UtsNs, Watchdog,
        };
        let basic = Self::of(&[NoNewPrivileges, Limits, Watchdog]);
        let confined = basic.with(&[Scope, Landlock, Seccomp]);
        let isolated = confined.with(&[UserNs, PidNs, NetNs, IpcNs, UtsNs, CgroupNs, Mounts]);
        match level {
            Level::None => Self::default(),
            Level::Basic => basic,
            // The program may need rights of its own.
            Level::External => basic.without(NoNewPrivileges),
            Level::Confined => confined,
            Level::Isolated => isolated,
            Level::Metered => isolated.with(&[Cgroup]),
        }
    }

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
    use super::{Layer, Layers};
    use referee_protocol::Level;

    #[test]
    fn each_level_includes_the_one_before() {
        for (weaker, stronger) in [
            (Level::None, Level::Basic),
            (Level::Basic, Level::Confined),
            (Level::Confined, Level::Isolated),
            (Level::Isolated, Level::Metered),
        ] {
            let more = Layers::of_level(stronger);
            assert!(Layers::of_level(weaker).iter().all(|layer| more.has(layer)));
            assert_ne!(Layers::of_level(weaker), more);
        }
        assert!(
            Layer::ALL.iter().all(|&layer| {
                layer == Layer::User || Layers::of_level(Level::Metered).has(layer)
            })
        );
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
