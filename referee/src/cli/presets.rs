//! Presets as the values of an option.

pub(super) use crate::presets::{Preset, find};
use clap::builder::PossibleValue;

/// The names, and what each means, for the command line.
pub(super) fn names() -> Vec<PossibleValue> {
    let value = |preset: &Preset| PossibleValue::new(preset.name).help(preset.about);
    crate::presets::PRESETS.iter().map(value).collect()
}
