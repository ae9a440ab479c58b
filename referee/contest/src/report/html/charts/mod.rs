//! The charts of the page.

pub(super) mod intervals;
pub(super) mod history;
pub(super) mod heat;
pub(super) mod seats;
pub(super) mod time;

use super::svg::{Anchor, Scale, Svg};

/// The width of names in charts; tables show more.
const NAME_COLUMNS: usize = 17;

/// The most rows of a chart with a row per player; tables show all.
const ROWS_MAX: usize = 100;

/// The height of a row.
const ROW: f64 = 22.0;

/// The distance from the middle of a row to the baseline of its text.
const BASE: f64 = 4.0;

/// Draws vertical lines at about `count` ticks, each with a label from `show`, over a title.
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

/// Returns how many players a chart leaves out, as a sentence.
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
