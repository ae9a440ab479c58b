//! What an action did besides moving its piece, drawn as on the web page: ghosts of pieces that were taken or
//! left, a small piece in the old colour, a ring around a pad that grew.

use super::geometry::{Geometry, Point};
use super::palette::{Role, id};
use super::symbols::{Symbols, Units};
use referee_games::board::Cell;
use referee_games::view::{Change, Colour, View};

/// Returns the changes as SVG. Those outside the board are left out.
pub(super) fn drawn(view: &View, changes: &[(Cell, Change)], symbols: Symbols<'_>) -> String {
    let places = symbols.geometry.places();
    let visible = changes.iter().filter_map(|(cell, change)| Some((*places.get(cell)?, *change)));
    visible.map(|(at, change)| one(view, at, change, symbols)).collect()
}

fn one(view: &View, at: Point, change: Change, symbols: Symbols<'_>) -> String {
    let (x, y) = (Units(at.x), Units(at.y));
    let place = format!(r#"transform="translate({x} {y})""#);
    let ghost =
        |colour: Colour| format!(r##"<use href="#piece-{}" opacity="0.35" {place}/>"##, id(colour));
    match change {
        Change::Grown => format!(r##"<use href="#mark-from" {place}/>"##),
        Change::Recoloured(colour) => format!(
            r##"<use href="#piece-{}" transform="translate({x} {y}) translate(11 -11) scale(0.45)"/>"##,
            id(colour)
        ),
        Change::Taken(colour) => {
            let line = symbols.pen.stroke(Role::Mark, 300);
            let cross = format!(r#"<path d="M-9-9 9 9M9-9-9 9" {line} {place}/>"#);
            ghost(colour) + &cross
        }
        Change::Exited(colour) => {
            let line = symbols.pen.stroke(Role::Mark, 240);
            let fill = symbols.pen.fill(Role::Mark);
            let angle = Units(outward(view, at, colour, symbols.geometry));
            ghost(colour)
                + &format!(
                    r#"<g transform="translate({x} {y}) rotate({angle})"><path d="M0 0H32" {line}/><path d="M40 0L32 -5V5Z" {fill}/></g>"#
                )
        }
    }
}

/// Returns the direction in which a piece leaves the board, over the edge of its colour if there is one, in
/// hundredths of a degree from the right towards the bottom.
fn outward(view: &View, at: Point, colour: Colour, geometry: &Geometry) -> i32 {
    let places = geometry.places();
    let edge = view.edges.iter().find(|edge| edge.colour == colour);
    let cells = edge.into_iter().flat_map(|edge| &edge.cells);
    let mut points: Vec<Point> = cells.filter_map(|cell| places.get(cell).copied()).collect();
    if points.is_empty() {
        points.push(at);
    }
    let count = i32::try_from(points.len()).unwrap_or(i32::MAX);
    let middle = |axis: fn(&Point) -> i32| points.iter().map(axis).sum::<i32>() / count;
    let right = f64::from(middle(|point| point.x) - geometry.width / 2);
    let down = f64::from(middle(|point| point.y) - geometry.height / 2);
    // Whole degrees are the same on every machine, whatever its arctangent's last bit.
    #[expect(clippy::cast_possible_truncation, reason = "at most half a turn")]
    let degrees = down.atan2(right).to_degrees().round() as i32;
    degrees * 100
}
