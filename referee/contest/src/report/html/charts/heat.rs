//! The cross table as a picture: who scores how much against whom.

use super::super::markup::Markup;
use super::super::svg::{Anchor, Svg};
use super::super::tables;
use super::{BASE, NAME_COLUMNS, float, rest};
use crate::numbers::short;
use crate::report::{Report, columns};
use crate::standings::Standing;

/// The most players to show, by rank.
const PLAYERS_MAX: usize = 50;

/// Up to this many players, cells have numbers, and there is a table as well.
const NUMBERS_MAX: usize = 30;

const LEFT: f64 = 190.0;
const TOP: f64 = 24.0;

/// The number of colours from 0 to 100 %; the middle one is for 50 %.
const STEPS: f64 = 10.0;

pub(crate) fn draw(out: &mut Markup, report: &Report) {
    let players = &report.standings.players;
    let Some(svg) = alone(report) else { return };
    let shown = players.len().min(PLAYERS_MAX);
    let worth = if report.standings.seats > 2 { " A point is for being ahead." } else { "" };
    let text = format!(
        "Points of the row's player in games with the column's, in percent of those games; blue is \
         more than half, orange is less.{worth} Rows and columns are in the order of the \
         standings.{}",
        rest(shown, players.len())
    );
    svg.figure(out, "cross-chart", "Cross table", &text);
    if let Some(table) = columns::cross(report, NUMBERS_MAX, "no.", "") {
        let summary = "The same as a table, in percent";
        out.details(false, summary, |out| tables::columns_table(out, "", &table));
    }
}

/// Returns the drawing; `None` if nobody met.
pub(crate) fn alone(report: &Report) -> Option<Svg> {
    let players = &report.standings.players;
    let shown = &players[..players.len().min(PLAYERS_MAX)];
    if report.standings.seats < 2 || report.standings.cross.is_empty() {
        return None;
    }
    let numbers = shown.len() <= NUMBERS_MAX;
    let cell = match shown.len() {
        0..=12 => 40.0,
        13..=NUMBERS_MAX => 30.0,
        _ => 16.0,
    };
    let side = cell * float(shown.len());
    let mut svg = Svg::new(LEFT + side + 8.0, TOP + side + 44.0);
    for (row, standing) in shown.iter().enumerate() {
        let middle = (float(row) + 0.5) * cell;
        let name = short(&standing.name, NAME_COLUMNS);
        let class = if numbers { "label" } else { "label small" };
        svg.text(class, Anchor::End, (LEFT - 34.0, TOP + middle + BASE), &name);
        let number = (row + 1).to_string();
        svg.text("tick", Anchor::End, (LEFT - 8.0, TOP + middle + BASE), &number);
        if numbers || row % 5 == 0 {
            svg.text("tick", Anchor::Middle, (LEFT + middle, TOP - 8.0), &number);
        }
        for (column, other) in shown.iter().enumerate() {
            let corner = (LEFT + cell * float(column), TOP + cell * float(row));
            draw_cell(&mut svg, report, (standing, other), corner, (cell, numbers));
        }
    }
    legend(&mut svg, TOP + side + 18.0);
    Some(svg)
}

fn draw_cell(
    svg: &mut Svg,
    report: &Report,
    (row, column): (&Standing, &Standing),
    (x, y): (f64, f64),
    (cell, numbers): (f64, bool),
) {
    let gap = if numbers { 2.0 } else { 1.0 };
    let (corner, size) = ((x, y), (cell - gap, cell - gap));
    if row.player == column.player {
        return;
    }
    let found = report.standings.meeting(row.player, column.player);
    let Some((met, share)) = found.and_then(|met| Some((met, met.share()?))) else {
        svg.bar("unmet", corner, size, "");
        return;
    };
    let names = [&row.name, &column.name].map(|name| short(name, NAME_COLUMNS));
    let title = format!("{} – {}: {} of {}", names[0], names[1], met.points, met.games);
    let step = (share * STEPS).round().clamp(0.0, STEPS);
    svg.bar(&format!("q{step}"), corner, size, &title);
    if numbers {
        let middle = (x + size.0 / 2.0, y + size.1 / 2.0 + BASE);
        let text = format!("{:.0}", 100.0 * share);
        svg.text(&format!("t{step}"), Anchor::Middle, middle, &text);
    }
}

fn legend(svg: &mut Svg, y: f64) {
    let (mut x, size) = (LEFT, 14.0);
    svg.text("tick", Anchor::End, (x - 8.0, y + 11.0), "0 %");
    for step in 0..=10 {
        svg.bar(&format!("q{step}"), (x, y), (size - 1.0, size), "");
        x += size;
    }
    svg.text("tick", Anchor::Start, (x + 6.0, y + 11.0), "100 %");
}
