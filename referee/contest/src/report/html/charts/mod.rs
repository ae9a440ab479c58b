//! The charts of the page.

pub(super) mod bracket;
pub(super) mod intervals;
pub(super) mod history;
pub(super) mod heat;
pub(super) mod seats;
pub(super) mod time;

use super::svg::{Anchor, Scale, Svg, WIDTH};
use crate::report::number_format::short;

/// The width of names in charts; tables show more.
const NAME_COLUMNS: usize = 17;

/// The most rows of a chart with a row per player; tables show all.
const ROWS_MAX: usize = 100;

/// The distance from the middle of a row to the baseline of its text.
const BASE: f64 = 4.0;

// Lengths of a chart with a row per player.
const LEFT: f64 = 160.0;
const RIGHT: f64 = 196.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 40.0;
const ROW: f64 = 22.0;

/// Draws a row for each of `rows`: its name, what `draw` draws at a height, and the value that it
/// returns. The axis runs over `range`, with about `ticks` lines.
fn rows_chart<T>(
    rows: &[T],
    (range, ticks, label): ((f64, f64), f64, &str),
    name: impl Fn(&T) -> String,
    draw: impl Fn(&mut Svg, Scale, f64, &T) -> String,
) -> Svg {
    let scale = Scale { from: range, to: (LEFT, WIDTH - RIGHT) };
    let bottom = TOP + ROW * float(rows.len());
    let mut svg = Svg::new(WIDTH, bottom + BOTTOM);
    for tick in scale.ticks(ticks) {
        let x = scale.at(tick);
        let class = if tick.abs() < 1e-9 { "zero" } else { "grid" };
        svg.line(class, (x, TOP), (x, bottom));
        // A float prints no more decimals than it has.
        let text = ((tick * 1000.0).round() / 1000.0 + 0.0).to_string().replace('-', "−");
        svg.text("tick", Anchor::Middle, (x, bottom + 16.0), &text);
    }
    let middle = f64::midpoint(scale.to.0, scale.to.1);
    svg.text("tick", Anchor::Middle, (middle, bottom + 34.0), label);
    for (index, row) in rows.iter().enumerate() {
        let y = TOP + ROW * (float(index) + 0.5);
        svg.text("label", Anchor::End, (LEFT - 10.0, y + BASE), &short(&name(row), NAME_COLUMNS));
        let value = draw(&mut svg, scale, y, row);
        svg.text("value", Anchor::Start, (WIDTH - RIGHT + 10.0, y + BASE), &value);
    }
    svg
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
