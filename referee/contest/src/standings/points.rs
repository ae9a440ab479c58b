//! Points as fractions, so that sums and comparisons are exact.

use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use std::fmt;

/// Points: a number of equal parts of a point. In JSON a number.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(into = "f64")]
#[schemars(with = "f64")]
pub struct Points {
    parts: u64,
    whole: u64,
}

impl Points {
    /// Returns `parts` of which `whole` make a point; a `whole` of 0 is taken as 1.
    pub fn new(parts: u64, whole: u64) -> Self {
        Self { parts, whole: whole.max(1) }
    }

    /// Returns how many parts make a point.
    pub fn whole(self) -> u64 {
        self.whole
    }

    /// Returns how many parts they are.
    pub fn parts(self) -> u64 {
        self.parts
    }

    /// Returns the points as a number.
    #[expect(clippy::cast_precision_loss, reason = "no contest comes near 2^53 parts")]
    pub fn value(self) -> f64 {
        self.parts as f64 / self.whole as f64
    }

    /// Returns the points per game, 0 to 1; `None` without games.
    pub fn share(self, games: u64) -> Option<f64> {
        let of = Self::new(self.parts, self.whole.saturating_mul(games));
        (games > 0).then(|| of.value())
    }
}

impl From<Points> for f64 {
    fn from(points: Points) -> Self {
        points.value()
    }
}

impl Ord for Points {
    fn cmp(&self, other: &Self) -> Ordering {
        let mine = u128::from(self.parts) * u128::from(other.whole);
        mine.cmp(&(u128::from(other.parts) * u128::from(self.whole)))
    }
}

impl PartialOrd for Points {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Points {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Points {}

/// With as few decimals as are exact, or three if none are: games of four seats give thirds.
impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, whole) = (u128::from(self.parts), u128::from(self.whole));
        let exact = (0..=3_u32).find(|&decimals| (parts * 10_u128.pow(decimals)) % whole == 0);
        let decimals = exact.unwrap_or(3);
        let scale = 10_u128.pow(decimals);
        let scaled = (2 * parts * scale + whole) / (2 * whole);
        let (point, fraction) = (scaled / scale, scaled % scale);
        let text = match decimals as usize {
            0 => point.to_string(),
            width => format!("{point}.{fraction:0width$}"),
        };
        f.pad(&text)
    }
}
