//! The charts of the page.

pub(super) mod bracket;
pub(super) mod intervals;
pub(super) mod history;
pub(super) mod heat;

/// The width of names in charts; tables show more.
const NAME_COLUMNS: usize = 17;

/// The distance from the middle of a row to the baseline of its text.
const BASE: f64 = 4.0;

/// Returns how many players a chart leaves out, as a sentence.
fn rest(shown: usize, of: usize) -> String {
    if shown < of { format!(" {shown} of {of} players are shown.") } else { String::new() }
}

#[expect(clippy::cast_precision_loss, reason = "a count for a drawing")]
fn float(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "a count for a drawing")]
fn float64(count: u64) -> f64 {
    count as f64
}
