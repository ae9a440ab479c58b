//! Fields of a setup: those that take their default from another one where they are left out, and
//! their ranges.

use crate::Illegal;
use serde::{Deserialize, Deserializer};
use std::ops::RangeInclusive;

/// Reads a field that is there; `null` isn't a way to leave it out.
pub(crate) fn deserialize_some<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(reader).map(Some)
}

/// The largest value of each limit on a game's length.
const LIMIT_MAX: u32 = 1_000_000;

/// Refuses a limit out of its range.
pub(crate) fn check_limit(name: &str, value: u32) -> Result<(), Illegal> {
    if (1..=LIMIT_MAX).contains(&value) {
        return Ok(());
    }
    Err(Illegal::new(format!("{name}: {value} is not in the range 1 to {LIMIT_MAX}")))
}

/// Refuses a field out of its range.
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
