//! The page's drawings.

pub(super) mod intervals;
pub(super) mod history;
pub(super) mod heat;
pub(super) mod seats;
pub(super) mod time;

use super::svg::{Anchor, Scale, Svg};

/// Names are cut here in drawings; the tables have them whole.
const NAME_COLUMNS: usize = 17;

/// Drawings with a row a player show so many; the tables show all.
const ROWS_MAX: usize = 100;

/// The height of a row.
const ROW: f64 = 22.0;

/// From the middle of a row to the base line of its text.
const BASE: f64 = 4.0;

/// Lines from top to bottom at about so many ticks, each with what `show` says, over a label.
fn axis(
    svg: &mut Svg,
    scale: Scale,
    (top, bottom): (f64, f64),
    about: f64,
    show: impl Fn(f64) -> String,
    label: &str,
) {
    for tick in scale.ticks(about) {
        let x = scale.at(tick);
        let class = if tick.abs() < 1e-9 { "zero" } else { "grid" };
        svg.line(class, (x, top), (x, bottom));
        svg.text("tick", Anchor::Middle, (x, bottom + 16.0), &show(tick));
    }
    let middle = f64::midpoint(scale.to.0, scale.to.1);
    svg.text("tick", Anchor::Middle, (middle, bottom + 34.0), label);
}

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
