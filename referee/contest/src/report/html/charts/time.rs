//! Time use of players.

use super::super::markup::Markup;
use super::super::tables;
use super::{LEFT, ROWS_MAX, float64, rest, rows_chart};
use crate::report::Report;
use crate::report::number_format::duration;
use crate::standings::Standing;

pub(crate) fn draw(out: &mut Markup, report: &Report) {
    let players = &report.standings.players;
    let shown = &players[..players.len().min(ROWS_MAX)];
    let longest = shown.iter().map(|own| own.time.max_used_ms).max().unwrap_or(0);
    if longest == 0 {
        return;
    }
    // In seconds if milliseconds would be long numbers.
    let (unit, divisor) = if longest >= 5000 { ("s", 1000.0) } else { ("ms", 1.0) };
    let label = format!("time charged in a game, {unit}");
    let axis = ((0.0, float64(longest) / divisor), 4.0, &*label);
    let name = |own: &Standing| own.name.clone();
    let svg = rows_chart(shown, axis, name, |svg, scale, y, own| {
        let (Some(mean), max) = (own.time.mean_used_ms, float64(own.time.max_used_ms)) else {
            return String::new();
        };
        let (to, end) = (scale.at(mean / divisor), scale.at(max / divisor));
        svg.bar("amount", (LEFT, y - 6.0), (to - LEFT, 12.0), "");
        svg.line("interval", (to, y), (end, y));
        svg.line("interval", (end, y - 5.0), (end, y + 5.0));
        format!("{} mean, {} max", duration(mean), duration(max))
    });
    let text = format!(
        "Time that the clock charged: the bar is the mean of a game, the stroke the longest game. \
         In the order of the standings.{}",
        rest(shown.len(), players.len())
    );
    svg.figure(out, "time-chart", "Time use", &text);
    tables::time(out, report);
}
