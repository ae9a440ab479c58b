//! Results by seat.

use super::super::markup::Markup;
use super::super::svg::{Anchor, Scale, Svg, WIDTH};
use super::super::tables::parts;
use super::{BASE, float, float64};
use crate::report::Report;
use crate::report::number_format::{NONE, percent};

const LEFT: f64 = 70.0;
const RIGHT: f64 = 136.0;
const TOP: f64 = 28.0;
const ROW: f64 = 34.0;

/// A narrower part has no space for its number.
const NUMBER_WIDTH: f64 = 34.0;

pub(crate) fn draw(out: &mut Markup, report: &Report) {
    let seats = &report.standings.by_seat;
    let scale = Scale { from: (0.0, 1.0), to: (LEFT, WIDTH - RIGHT) };
    let mut svg = Svg::new(WIDTH, TOP + ROW * float(seats.len()) + 8.0);
    legend(&mut svg, report);
    for (seat, tally) in seats.iter().enumerate() {
        let y = TOP + ROW * float(seat);
        let base = y + ROW / 2.0 + BASE;
        svg.text("label", Anchor::End, (LEFT - 10.0, base), &format!("seat {seat}"));
        let mut before = 0;
        let all = float64(tally.games.max(1));
        for (index, (what, count)) in parts(tally).into_iter().enumerate() {
            let from = scale.at(float64(before) / all);
            before += count;
            let width = scale.at(float64(before) / all) - from;
            let title = format!("seat {seat}: {what} {count} of {}", tally.games);
            let class = class(index, report.standings.seats);
            let corner = (from, y + 4.0);
            svg.bar(&format!("part {class}"), corner, (width - 1.0, ROW - 8.0), &title);
            if width >= NUMBER_WIDTH {
                let middle = (from + width / 2.0, base);
                let text = class.replace('q', "t");
                svg.text(&text, Anchor::Middle, middle, &count.to_string());
            }
        }
        let share = tally.share().map_or_else(|| NONE.to_owned(), percent);
        let text = format!("{share} % of points");
        svg.text("value", Anchor::Start, (WIDTH - RIGHT + 10.0, base), &text);
    }
    let text = "How games went for the players in each seat, in games. A seat that is worth nothing gets \
                half of the points.";
    svg.figure(out, "seats-chart", "Results by seat", text);
}

fn legend(svg: &mut Svg, report: &Report) {
    let Some(first) = report.standings.by_seat.first() else { return };
    let mut x = LEFT;
    for (index, (what, _)) in parts(first).into_iter().enumerate() {
        let class = class(index, report.standings.seats);
        svg.bar(&format!("part {class}"), (x, 6.0), (12.0, 12.0), "");
        svg.text("tick", Anchor::Start, (x + 17.0, 16.0), &what);
        x += 72.0;
    }
}

/// Returns the colour of a part, from blue for the best to orange for the worst.
fn class(index: usize, seats: usize) -> String {
    let last = if seats == 2 { 2 } else { seats - 1 };
    let step = 9 - (8 * index.min(last)) / last;
    format!("q{step}")
}
