//! Ratings with their intervals, the best at the top.

use super::super::markup::Markup;
use super::super::svg::{Anchor, Scale, Svg, WIDTH};
use super::super::tables;
use super::{BASE, NAME_COLUMNS, float, rest};
use crate::Player;
use crate::numbers::{elo, interval, short};
use crate::ratings::{Rating, Ratings};
use crate::report::Report;

/// The most players; the table has all.
const ROWS_MAX: usize = 100;
const LEFT: f64 = 160.0;
const RIGHT: f64 = 196.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 40.0;
const ROW: f64 = 22.0;

pub(crate) fn draw(out: &mut Markup, report: &Report) {
    let Some(ratings) = &report.ratings else { return };
    let rated = ranked(ratings);
    if rated.is_empty() {
        return;
    }
    let shown = &rated[..rated.len().min(ROWS_MAX)];
    let text = format!(
        "Elo with 95 % intervals, the best at the top; a line without a mark at an end has no end \
         there. Positive is stronger; 0 is {}.{}",
        ratings.anchor,
        rest(shown.len(), rated.len())
    );
    picture(report, shown).figure(out, "intervals", "Ratings with intervals", &text);
    tables::ratings(out, report, &rated);
}

/// Returns the drawing of all players, or of some; `None` without ratings.
pub(crate) fn alone(report: &Report, only: Option<&[Player]>) -> Option<Svg> {
    let mut rated = ranked(report.ratings.as_ref()?);
    rated.retain(|own| only.is_none_or(|only| only.contains(&own.player)));
    (!rated.is_empty()).then(|| picture(report, &rated[..rated.len().min(ROWS_MAX)]))
}

/// Returns those with games, the best first.
fn ranked(ratings: &Ratings) -> Vec<&Rating> {
    let mut rated: Vec<&Rating> =
        ratings.players.iter().filter(|own| own.elo.is_finite() && own.games > 0).collect();
    rated.sort_by(|a, b| b.elo.total_cmp(&a.elo).then(a.player.cmp(&b.player)));
    rated
}

fn picture(report: &Report, rated: &[&Rating]) -> Svg {
    let known = |end: Option<f64>| end.filter(|end| end.is_finite());
    let ends = || rated.iter().flat_map(|own| [Some(own.elo), own.low, own.high]).filter_map(known);
    let (low, high) = (ends().fold(0.0, f64::min), ends().fold(0.0, f64::max));
    let room = ((high - low) * 0.03).max(5.0);
    let (low, high) = (low - room, high + room);
    let scale = Scale { from: (low, high), to: (LEFT, WIDTH - RIGHT) };
    let bottom = TOP + ROW * float(rated.len());
    let mut svg = Svg::new(WIDTH, bottom + BOTTOM);
    for tick in scale.ticks(6.0) {
        let x = scale.at(tick);
        let class = if tick.abs() < 1e-9 { "zero" } else { "grid" };
        svg.line(class, (x, TOP), (x, bottom));
        // A float prints no more decimals than it has.
        let text = ((tick * 1000.0).round() / 1000.0 + 0.0).to_string().replace('-', "−");
        svg.text("tick", Anchor::Middle, (x, bottom + 16.0), &text);
    }
    let middle = f64::midpoint(scale.to.0, scale.to.1);
    svg.text("tick", Anchor::Middle, (middle, bottom + 34.0), "Elo, 95 % interval");
    for (index, own) in rated.iter().enumerate() {
        let y = TOP + ROW * (float(index) + 0.5);
        let name = short(report.player_name(own.player), NAME_COLUMNS);
        svg.text("label", Anchor::End, (LEFT - 10.0, y + BASE), &name);
        let ends = [known(own.low), known(own.high)];
        // An end that is not known is where the chart ends.
        let [from, to] = [ends[0].unwrap_or(low), ends[1].unwrap_or(high)];
        svg.line("interval", (scale.at(from), y), (scale.at(to), y));
        for end in ends.into_iter().flatten() {
            svg.line("interval", (scale.at(end), y - 4.0), (scale.at(end), y + 4.0));
        }
        svg.dot("point", (scale.at(own.elo), y), 4.0);
        let interval = interval(own.low, own.high).map(|it| format!(" ({it})")).unwrap_or_default();
        let value = format!("{}{interval}", elo(own.elo)).replace('-', "−");
        svg.text("value", Anchor::Start, (WIDTH - RIGHT + 10.0, y + BASE), &value);
    }
    svg
}
