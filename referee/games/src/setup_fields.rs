//! Helpers to read the fields of setups and actions, and check their ranges.

use crate::Illegal;
use serde::{Deserialize, Deserializer};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Reads a field that may be missing but not `null`.
pub(crate) fn deserialize_some<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(reader).map(Some)
}

/// The most entries of a path.
const PATH_MAX: usize = 64;

/// Returns an error if a path is too short or too long.
pub(crate) fn check_path_length(entries: usize) -> Result<(), Illegal> {
    if (2..=PATH_MAX).contains(&entries) {
        return Ok(());
    }
    Err(Illegal::new(format!("a path has 2 to {PATH_MAX} entries, not {entries}")))
}

/// The largest value of each limit on a game's length.
const LIMIT_MAX: u64 = 1_000_000;

/// Returns an error if a limit is out of range.
pub(crate) fn check_limit(name: &str, value: impl Into<u64>) -> Result<(), Illegal> {
    check_range(name, value.into(), 1..=LIMIT_MAX)
}

/// Returns an error if a field is out of range.
pub(crate) fn check_range<N: Copy + PartialOrd + Display>(
    name: &str,
    value: N,
    range: RangeInclusive<N>,
) -> Result<(), Illegal> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    Err(Illegal::new(format!("`{name}` must be {least} to {most}, not {value}")))
}
