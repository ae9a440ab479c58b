//! Ratings with their intervals, the best at the top.

use super::super::markup::Markup;
use super::super::tables;
use super::{ROWS_MAX, rest, rows_chart};
use crate::ratings::Rating;
use crate::report::Report;
use crate::report::number_format::{elo, interval};

pub(crate) fn draw(out: &mut Markup, report: &Report) {
    let Some(ratings) = &report.ratings else { return };
    let mut rated: Vec<&Rating> =
        ratings.players.iter().filter(|own| own.elo.is_finite() && own.games > 0).collect();
    rated.sort_by(|a, b| b.elo.total_cmp(&a.elo).then(a.player.cmp(&b.player)));
    if rated.is_empty() {
        return;
    }
    let shown = &rated[..rated.len().min(ROWS_MAX)];
    picture(out, report, &ratings.anchor, shown, rated.len());
    tables::ratings(out, report, &rated);
}

fn picture(out: &mut Markup, report: &Report, anchor: &str, rated: &[&Rating], all: usize) {
    let ends =
        || rated.iter().flat_map(|own| [Some(own.elo), own.low, own.high].into_iter().flatten());
    let ends = || ends().filter(|end| end.is_finite());
    let (low, high) = (ends().fold(0.0, f64::min), ends().fold(0.0, f64::max));
    let room = ((high - low) * 0.03).max(5.0);
    let (low, high) = (low - room, high + room);
    let name = |own: &&Rating| report.player_name(own.player).to_owned();
    let svg =
        rows_chart(rated, ((low, high), 6.0, "Elo, 95 % interval"), name, |svg, scale, y, own| {
            let known = |end: Option<f64>| end.filter(|end| end.is_finite());
            let ends = [known(own.low), known(own.high)];
            // An end that is not known is where the chart ends.
            let [from, to] = [ends[0].unwrap_or(low), ends[1].unwrap_or(high)];
            svg.line("interval", (scale.at(from), y), (scale.at(to), y));
            for end in ends.into_iter().flatten() {
                svg.line("interval", (scale.at(end), y - 4.0), (scale.at(end), y + 4.0));
            }
            svg.dot("point", (scale.at(own.elo), y), 4.0);
            let interval = interval(own.low, own.high)
                .map(|interval| format!(" ({interval})"))
                .unwrap_or_default();
            format!("{}{interval}", elo(own.elo)).replace('-', "−")
        });
    let text = format!(
        "Elo with 95 % intervals, the best at the top; a line without a mark at an end has no end \
         there. Positive is stronger; 0 is {}.{}",
        anchor,
        rest(rated.len(), all)
    );
    svg.figure(out, "intervals", "Ratings with intervals", &text);
}
