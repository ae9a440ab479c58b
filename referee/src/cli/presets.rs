//! A course's conditions as an option, and the clock and limits that follow from them.

use super::clock::ClockOptions;
use super::words::option;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
pub(super) use referee_match::presets::Preset;
use referee_match::presets::{PRESETS, find};
use referee_process::Failure;
use referee_protocol::{ClockSettings, Limits, OnFault};

/// Conditions by name, and a clock that overrides theirs.
#[derive(Debug, Args)]
pub(super) struct PresetOptions {
    /// A course's conditions; other options override parts of them
    #[arg(long, value_name = "NAME", value_parser = preset())]
    pub(super) preset: Option<&'static Preset>,
    #[command(flatten)]
    pub(super) clock: ClockOptions,
}

/// Reads the name of one.
pub(super) fn preset() -> impl TypedValueParser<Value = &'static Preset> {
    let value = |preset: &Preset| PossibleValue::new(preset.name).help(preset.about);
    let names = PossibleValuesParser::new(PRESETS.iter().map(value));
    names.try_map(|name| find(&name).ok_or("no such conditions"))
}

impl PresetOptions {
    /// The clock; without a limit for a `person` unless one is asked for.
    pub(super) fn clock(&self, person: bool) -> Result<ClockSettings, Failure> {
        self.clock.settings(self.preset, person)
    }

    pub(super) fn limits(&self) -> Limits {
        self.preset.map_or_else(Limits::default, Preset::limits)
    }

    pub(super) fn on_fault(&self) -> OnFault {
        self.preset.map_or_else(OnFault::default, |preset| preset.on_fault)
    }

    /// The words that give the same again.
    pub(super) fn words(&self) -> Vec<String> {
        let preset = option("--preset", self.preset.map(|preset| preset.name));
        preset.chain(self.clock.words(self.preset)).collect()
    }
}
