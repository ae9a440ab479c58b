//! The option --preset, and the clock and limits that follow from it.

use super::clock::ClockOptions;
use super::setup::{read_pairs, unknown};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
pub(super) use referee_contest::presets::Preset;
use referee_contest::presets::{PRESETS, find};
use referee_process::Failure;
use referee_protocol::{ClockSettings, Limits, OnFault, read_typed};

/// A preset, and clock options that override parts of it.
#[derive(Debug, Args)]
pub(super) struct PresetOptions {
    /// Clock, limits and fault handling of a course; other options override parts of it
    #[arg(long, value_name = "NAME", value_parser = preset())]
    pub(super) preset: Option<&'static Preset>,
    #[command(flatten)]
    pub(super) clock: ClockOptions,
}

/// Returns a parser of preset names.
fn preset() -> impl TypedValueParser<Value = &'static Preset> {
    let value = |preset: &Preset| PossibleValue::new(preset.name).help(preset.about);
    let names = PossibleValuesParser::new(PRESETS.iter().map(value));
    names.try_map(|name| find(&name).ok_or("unknown preset"))
}

impl PresetOptions {
    /// Returns the clock; unlimited for a `person` unless one is given.
    pub(super) fn clock(&self, person: bool) -> Result<ClockSettings, Failure> {
        self.clock.settings(self.preset, person)
    }

    pub(super) fn on_fault(&self) -> OnFault {
        self.preset.map_or_else(OnFault::default, |preset| preset.on_fault)
    }
}

/// The option --limit.
#[derive(Debug, Args)]
pub(super) struct LimitOptions {
    /// Limit on agents, such as `line_bytes=1000` (repeatable); `referee schema limits` lists them with
    /// units, ranges and defaults
    #[arg(id = "limit", long, value_name = "KEY=VALUE")]
    limits: Vec<String>,
}

impl LimitOptions {
    /// Returns the limits: those of the preset, except the given ones.
    pub(super) fn limits(&self, preset: Option<&Preset>) -> Result<Limits, Failure> {
        let given = read_pairs("--limit", &self.limits)?;
        let mut known = serde_json::to_value(preset.map_or_else(Limits::default, Preset::limits))
            .unwrap_or_default();
        let names = || known.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        for key in given.as_object().into_iter().flatten().map(|(key, _)| key) {
            if names().all(|name| name != key) {
                return Err(unknown("limit", key, names()));
            }
        }
        for (key, value) in given.as_object().into_iter().flatten() {
            known[key] = value.clone();
        }
        let limits: Limits =
            read_typed(&known).map_err(|error| Failure::usage(format!("--limit: {error}")))?;
        limits.check().map_err(|error| Failure::usage(format!("--limit: {error}")))?;
        Ok(limits)
    }
}
