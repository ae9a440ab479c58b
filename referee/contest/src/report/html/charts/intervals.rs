//! Ratings with their intervals, the best at the top.

use super::super::markup::Markup;
use super::super::tables;
use super::{ROWS_MAX, rest, rows_chart};
use crate::ratings::Rating;
use crate::report::Report;
use crate::report::number_format::{elo, fixed};

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
    let low = rated.iter().map(|own| interval(own).0).fold(0.0, f64::min);
    let high = rated.iter().map(|own| interval(own).1).fold(0.0, f64::max);
    let room = ((high - low) * 0.03).max(5.0);
    let axis = ((low - room, high + room), 6.0, "Elo, 95 % interval");
    let name = |own: &&Rating| report.player_name(own.player).to_owned();
    let svg = rows_chart(rated, axis, name, |svg, scale, y, own| {
        let (low, high) = interval(own);
        if high > low {
            svg.line("interval", (scale.at(low), y), (scale.at(high), y));
            for end in [low, high] {
                svg.line("interval", (scale.at(end), y - 4.0), (scale.at(end), y + 4.0));
            }
        }
        svg.dot("point", (scale.at(own.elo), y), 4.0);
        value(own).replace('-', "−")
    });
    let how = if rated.iter().any(|own| own.bootstrap.is_some()) {
        "by bootstrap over blocks where there are enough of them"
    } else {
        "from the information matrix"
    };
    let text = format!(
        "Elo with 95 % intervals ({how}), the best at the top. Positive is stronger; 0 is {}.{}",
        anchor,
        rest(rated.len(), all)
    );
    svg.figure(out, "intervals", "Ratings with intervals", &text);
}

/// Returns the interval to draw, by bootstrap if there is one.
fn interval(rating: &Rating) -> (f64, f64) {
    let error = error(rating).unwrap_or(0.0);
    bootstrap(rating).unwrap_or((rating.elo - error, rating.elo + error))
}

/// Returns the rating with the interval to draw.
fn value(rating: &Rating) -> String {
    let whole = |end: f64| format!("{}{}", if end >= 0.5 { "+" } else { "" }, fixed(end, 0));
    let interval = match (bootstrap(rating), error(rating)) {
        (Some((low, high)), _) => format!(" ({} to {})", whole(low), whole(high)),
        (None, Some(error)) => format!(" ± {}", fixed(error, 1)),
        (None, None) => String::new(),
    };
    format!("{}{interval}", elo(rating.elo))
}

fn bootstrap(rating: &Rating) -> Option<(f64, f64)> {
    rating.bootstrap.filter(|(low, high)| low.is_finite() && high.is_finite())
}

fn error(rating: &Rating) -> Option<f64> {
    rating.error.filter(|error| error.is_finite())
}
