//! Presets as the values of an option.

use clap::builder::PossibleValue;
pub(super) use referee_match::presets::{Preset, find};

/// The names, and what each means, for the command line.
pub(super) fn names() -> Vec<PossibleValue> {
    let value = |preset: &Preset| PossibleValue::new(preset.name).help(preset.about);
    referee_match::presets::PRESETS.iter().map(value).collect()
}
