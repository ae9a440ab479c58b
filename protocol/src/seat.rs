use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A player's seat, counted from 0 in the order of play.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Seat(pub u8);

impl Seat {
    /// Returns the index in a list with one entry per seat.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Returns the seats 0 to `count` - 1, in the order of play.
    pub fn all(count: usize) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..u8::try_from(count).unwrap_or(u8::MAX)).map(Self)
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
