//! Presets: the clock and limits that a course published for its matches, by name. Options override
//! them. They name no game.

use referee_protocol::{ClockKind, ClockSettings, Limits, OnFault};

/// A named clock with limits.
#[derive(Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it sets.
    pub about: &'static str,
    /// What its time is.
    kind: ClockKind,
    time_s: u64,
    memory_mb: u64,
    /// What a fault does in a match of three or more.
    pub on_fault: OnFault,
}

/// The wall time for one answer, or for the start: the course's own figure, or at least as much as an
/// agent has in all.
const WALL_MS: u64 = 180_000;

/// The presets. The time is for the whole match.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "comp30024-2025",
        about: "180 s of CPU time and 250 MB per agent; no turn and no start may take longer than 180 s; a fault \
                ends the match",
        kind: ClockKind::Cpu,
        time_s: 180,
        memory_mb: 250,
        on_fault: OnFault::End,
    },
    Preset {
        name: "comp30024-2019",
        about: "60 s of CPU time and 300 MB per agent; no turn and no start may take longer than \
                180 s; a fault ends the match",
        kind: ClockKind::Cpu,
        time_s: 60,
        // The course limited the sum of all three to three times 100 MB.
        memory_mb: 300,
        on_fault: OnFault::End,
    },
    Preset {
        name: "comp34111",
        about: "300 s of time and 2048 MB per agent; no start may take longer than 180 s; a fault ends the \
                match",
        kind: ClockKind::Wall,
        time_s: 300,
        // The course named no limit; this is enough for PyTorch and the network of an agent.
        memory_mb: 2048,
        on_fault: OnFault::End,
    },
];

/// Returns the preset with this name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

impl Preset {
    /// Returns the clock.
    pub fn clock(&self) -> ClockSettings {
        ClockSettings {
            kind: self.kind,
            start_ms: WALL_MS,
            bank_ms: Some(self.time_s * 1000),
            increment_ms: 0,
            move_ms: None,
            margin_ms: 0,
            backstop_ms: (self.kind == ClockKind::Cpu).then_some(WALL_MS),
        }
    }

    /// Returns the limits.
    pub fn limits(&self) -> Limits {
        Limits { memory_mb: self.memory_mb, ..Limits::default() }
    }
}
