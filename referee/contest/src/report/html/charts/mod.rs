//! The page's drawings.

pub(super) mod intervals;
pub(super) mod history;
pub(super) mod heat;
pub(super) mod seats;
pub(super) mod time;

/// Names are cut here in drawings; the tables have them whole.
const NAME_COLUMNS: usize = 17;

/// Drawings with a row a player show so many; the tables show all.
const ROWS_MAX: usize = 100;

/// The height of a row.
const ROW: f64 = 22.0;

/// From the middle of a row to the base line of its text.
const BASE: f64 = 4.0;

/// How many players a drawing leaves out, as a sentence.
fn rest(shown: usize, of: usize) -> String {
    if shown < of { format!(" Shown are {shown} of {of} players.") } else { String::new() }
}

#[expect(clippy::cast_precision_loss, reason = "a count for a drawing")]
fn float(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "a count for a drawing")]
fn float64(count: u64) -> f64 {
    count as f64
}
