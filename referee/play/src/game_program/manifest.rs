//! `game.toml`, as it is written.

use crate::agent_sandbox::AgentSandboxSettings;
use crate::manifest::Words;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The longest name, in characters.
const NAME_MAX: usize = 40;

/// `game.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GameManifest {
    pub(super) name: String,
    pub(super) command: Words,
    #[serde(default = "first")]
    pub(super) rules: u32,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) limits: GameLimits,
    #[serde(default)]
    pub(super) sandbox: AgentSandboxSettings,
}

/// `[limits]` of game.toml.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct GameLimits {
    /// The time for an answer, in milliseconds.
    pub(super) answer_ms: u64,
    /// The time for each move of the request besides, in milliseconds.
    pub(super) ply_ms: u64,
    /// The memory of each process, in MiB.
    pub(super) memory_mb: u64,
}

impl Default for GameLimits {
    fn default() -> Self {
        Self { answer_ms: 1000, ply_ms: 20, memory_mb: 512 }
    }
}

fn first() -> u32 {
    1
}

/// Checks the name of a game.
pub fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    if begins && name.len() <= NAME_MAX && name.chars().all(fits) {
        return Ok(());
    }
    Err(format!(
        "{name:?} must be lowercase letters, digits and hyphens, begin with a letter, and have at most {NAME_MAX} \
         characters"
    ))
}

impl GameManifest {
    /// Checks its values.
    pub(super) fn check(&self) -> Result<(), String> {
        check_name(&self.name).map_err(|error| format!("name: {error}"))?;
        for (key, value, max) in [
            ("answer_ms", self.limits.answer_ms, 600_000),
            ("ply_ms", self.limits.ply_ms, 60_000),
            ("memory_mb", self.limits.memory_mb, 1 << 20),
        ] {
            if value == 0 || value > max {
                return Err(format!("limits.{key}: {value} must be from 1 to {max}"));
            }
        }
        if self.sandbox.write {
            let text = "`write` of [sandbox] is for agents: rules keep everything in the state, and may write only to \
                        the folder $TMPDIR, which is removed with the process";
            return Err(text.to_owned());
        }
        if let Some(name) =
            self.env.keys().find(|name| name.is_empty() || name.contains(['=', '\0']))
        {
            return Err(format!("env: {name:?} is not a valid variable name"));
        }
        Ok(())
    }
}
