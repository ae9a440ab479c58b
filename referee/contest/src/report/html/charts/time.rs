//! Time use of players.

use super::super::markup::Markup;
use super::super::svg::{Anchor, Scale, Svg, WIDTH};
use super::super::tables;
use super::{BASE, NAME_COLUMNS, ROW, ROWS_MAX, axis, float, float64, rest};
use crate::report::Report;
use crate::report::number_format::{duration, short};

const LEFT: f64 = 160.0;
const RIGHT: f64 = 196.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 40.0;

pub(crate) fn draw(out: &mut Markup, report: &Report) {
    let players = &report.standings.players;
    let shown = &players[..players.len().min(ROWS_MAX)];
    let longest = shown.iter().map(|own| own.time.max_used_ms).max().unwrap_or(0);
    if longest == 0 {
        return;
    }
    // In seconds if milliseconds would be long numbers.
    let (unit, divisor) = if longest >= 5000 { ("s", 1000.0) } else { ("ms", 1.0) };
    let most = float64(longest) / divisor;
    let scale = Scale { from: (0.0, most), to: (LEFT, WIDTH - RIGHT) };
    let bottom = TOP + ROW * float(shown.len());
    let mut svg = Svg::new(WIDTH, bottom + BOTTOM);
    // A float prints no more decimals than it has.
    let show = |tick: f64| format!("{}", (tick * 1000.0).round() / 1000.0);
    let label = format!("time charged in a game, {unit}");
    axis(&mut svg, scale, (TOP, bottom), 4.0, show, &label);
    for (index, own) in shown.iter().enumerate() {
        let y = TOP + ROW * (float(index) + 0.5);
        let name = short(&own.name, NAME_COLUMNS);
        svg.text("label", Anchor::End, (LEFT - 10.0, y + BASE), &name);
        let Some(mean) = own.time.mean_used_ms.filter(|mean| mean.is_finite()) else { continue };
        let max = float64(own.time.max_used_ms);
        let (to, end) = (scale.at(mean / divisor), scale.at(max / divisor));
        svg.bar("amount", (LEFT, y - 6.0), (to - LEFT, 12.0), "");
        svg.line("interval", (to, y), (end, y));
        svg.line("interval", (end, y - 5.0), (end, y + 5.0));
        let text = format!("{} mean, {} max", duration(mean), duration(max));
        svg.text("value", Anchor::Start, (WIDTH - RIGHT + 10.0, y + BASE), &text);
    }
    let text = format!(
        "Time that the clock charged: the bar is the mean of a game, the stroke the longest game. \
         In the order of the standings.{}",
        rest(shown.len(), players.len())
    );
    svg.figure(out, "time-chart", "Time use", &text);
    tables::time(out, report);
}
