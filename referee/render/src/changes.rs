//! What an action did besides moving its piece, drawn as on the web page: ghosts of pieces that were taken or
//! left, a small piece in the old colour, a ring around a pad that grew.

use super::geometry::{Geometry, Point};
use super::palette::Role;
use super::symbols::{Symbols, Units, points};
use referee_games::board::Cell;
use referee_games::view::{Change, Colour, View};

/// How far the arrow of an exit goes beyond its cell, in hundredths.
const EXIT_LENGTH: f64 = 4000.0;

/// Returns the changes as SVG. Those outside the board are left out.
pub(super) fn drawn(view: &View, changes: &[(Cell, Change)], symbols: Symbols<'_>) -> String {
    let places = symbols.geometry.places();
    let visible = changes.iter().filter_map(|(cell, change)| Some((*places.get(cell)?, *change)));
    visible.map(|(at, change)| one(view, at, change, symbols)).collect()
}

fn one(view: &View, at: Point, change: Change, symbols: Symbols<'_>) -> String {
    let (x, y) = (Units(at.x), Units(at.y));
    let place = format!(r#"transform="translate({x} {y})""#);
    let ghost = |colour: Colour| {
        format!(r##"<use href="#piece-{}" opacity="0.35" {place}/>"##, colour.name())
    };
    match change {
        Change::Grown => format!(r##"<use href="#mark-from" {place}/>"##),
        Change::Recoloured(colour) => format!(
            r##"<use href="#piece-{}" transform="translate({x} {y}) translate(11 -11) scale(0.45)"/>"##,
            colour.name()
        ),
        Change::Taken(colour) => {
            let line = symbols.pen.stroke(Role::Mark, 300);
            let cross = format!(r#"<path d="M-9-9 9 9M9-9-9 9" {line} {place}/>"#);
            ghost(colour) + &cross
        }
        Change::Exited(colour) => {
            let way = [at, beyond(view, at, colour, symbols.geometry)];
            let line = symbols.path();
            ghost(colour) + &format!(r#"<polyline points="{}" {line}/>"#, points(way))
        }
    }
}

/// Returns a place off the board, over the edge of this colour if there is one.
fn beyond(view: &View, at: Point, colour: Colour, geometry: &Geometry) -> Point {
    let places = geometry.places();
    let edge = view.edges.iter().find(|edge| edge.colour == colour);
    let cells: Vec<Point> = edge
        .map(|edge| edge.cells.iter().filter_map(|cell| places.get(cell).copied()).collect())
        .filter(|cells: &Vec<Point>| !cells.is_empty())
        .unwrap_or_else(|| vec![at]);
    let count = i32::try_from(cells.len()).unwrap_or(i32::MAX);
    let middle = |axis: fn(&Point) -> i32| cells.iter().map(axis).sum::<i32>() / count;
    let dx = f64::from(middle(|point| point.x) - geometry.width / 2);
    let dy = f64::from(middle(|point| point.y) - geometry.height / 2);
    let far = EXIT_LENGTH / dx.hypot(dy).max(1.0);
    #[expect(clippy::cast_possible_truncation, reason = "at most the arrow's length")]
    let moved = |from: i32, by: f64| from + (far * by).round() as i32;
    Point { x: moved(at.x, dx), y: moved(at.y, dy) }
}
