//! Helpers to read the fields of a setup and check their ranges.

use crate::Illegal;
use serde::{Deserialize, Deserializer};
use std::ops::RangeInclusive;

/// Reads a field that may be missing but not `null`.
pub(crate) fn deserialize_some<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(reader).map(Some)
}

/// The largest value of each limit on a game's length.
const LIMIT_MAX: u64 = 1_000_000;

/// Returns an error if a limit is out of range.
pub(crate) fn check_limit(name: &str, value: impl Into<u64>) -> Result<(), Illegal> {
    check_range(name, value.into(), 1..=LIMIT_MAX)
}

/// Returns an error if a field is out of range.
pub(crate) fn check_range(
    name: &str,
    value: u64,
    range: RangeInclusive<u64>,
) -> Result<(), Illegal> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    Err(Illegal::new(format!("`{name}` must be {least} to {most}, not {value}")))
}
