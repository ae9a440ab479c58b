//! Fields of a setup that take their default from another field, where they are left out.

use serde::{Deserialize, Deserializer};

/// Reads a field that is there; `null` isn't a way to leave it out.
pub(crate) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(reader).map(Some)
}
