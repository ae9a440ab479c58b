//! Conditions that a course published for its matches, by name: what holds where an option says
//! nothing else. They name no game.

use referee_protocol::{ClockKind, ClockSettings, Limits, OnFault};

/// Conditions under one name.
#[derive(Debug)]
pub struct Preset {
    /// As it is named.
    pub name: &'static str,
    /// What it means, in words.
    pub about: &'static str,
    cpu_s: u64,
    memory_mb: u64,
    /// What a fault does with three seats and more.
    pub on_fault: OnFault,
}

/// What an answer, or the start, may take on the wall: a course's own program's figure where it had
/// one, else as much as an agent has in all, or more.
const WALL_MS: u64 = 180_000;

/// CPU time counts for the whole match.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "comp30024-2025",
        about: "180 s of CPU time and 250 MB each, 180 s for a turn or the start on the wall",
        cpu_s: 180,
        memory_mb: 250,
        on_fault: OnFault::End,
    },
    Preset {
        name: "comp30024-2019",
        about: "60 s of CPU time and 100 MB each, 180 s for a turn or the start on the wall; a \
                fault ends the match",
        cpu_s: 60,
        memory_mb: 100,
        on_fault: OnFault::End,
    },
];

/// The conditions of this name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

impl Preset {
    /// The clock where no option says anything about it.
    pub fn clock(&self) -> ClockSettings {
        ClockSettings {
            kind: ClockKind::Cpu,
            start_ms: WALL_MS,
            bank_ms: Some(self.cpu_s * 1000),
            increment_ms: 0,
            move_ms: None,
            margin_ms: 0,
            backstop_ms: Some(WALL_MS),
        }
    }

    /// The limits where no option says anything about them.
    pub fn limits(&self) -> Limits {
        Limits { memory_mb: self.memory_mb, ..Limits::default() }
    }
}
