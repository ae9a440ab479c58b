//! The names of rows and columns, on two sides of the board.

use super::Style;
use super::canvas::{Canvas, Paint};
use super::cells::Frame;
use referee_games::board::{Cell, Shape};
use referee_games::view::{Labels, View};
use std::collections::BTreeMap;

/// Draws the coordinates: on boards whose cells are numbered, the numbers of the first and last
/// cell of each line; on others, each line of cells has its name where it leaves the board.
pub(super) fn draw(canvas: &mut Canvas, view: &View, style: Style) {
    let frame = Frame::new(view, style);
    match view.labels {
        Labels::Number => draw_numbers(canvas, frame, view.shape),
        Labels::Pair | Labels::LetterNumber => {
            for axis in [Axis::First, Axis::Second] {
                draw_axis(canvas, frame, view, axis);
            }
        }
    }
}

/// One of a cell's two coordinates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    First,
    Second,
}

/// Names every line of cells that share this coordinate, beyond one of its ends.
fn draw_axis(canvas: &mut Canvas, frame: Frame, view: &View, axis: Axis) {
    let shape = view.shape;
    // On a hexagon the two sides are the upper left and the right; elsewhere the lines end at
    // the smallest value of the other coordinate.
    let step = match (axis, shape) {
        (Axis::First, _) => (0, -1),
        (Axis::Second, Shape::Hexagon(_) | Shape::Star(_)) => (1, 0),
        (Axis::Second, _) => (-1, 0),
    };
    for end in shape.cells().into_iter().filter(|cell| !shape.contains(cell.step(step))) {
        let (x, y) = frame.at(end);
        let (next_x, next_y) = frame.at(end.step(step));
        let (dx, dy) = (next_x - x, next_y - y);
        // A ring is left free for the marks of edges, but above a column none is needed.
        let far = if dx == 0 { 1 } else { 2 };
        let text = match (axis, view.labels) {
            (Axis::First, Labels::LetterNumber) => (i16::from(end.0) + 1).to_string(),
            (Axis::First, _) => end.0.to_string(),
            (Axis::Second, Labels::LetterNumber) => letter(end),
            (Axis::Second, _) => end.1.to_string(),
        };
        write(canvas, (x + far * dx, y + far * dy), dx, &text);
    }
}

/// The letter of the cell's second coordinate.
fn letter(cell: Cell) -> String {
    char::from(b'a'.saturating_add_signed(cell.1)).to_string()
}

/// Writes the numbers of the cells at both ends of each line as drawn; once, where a line has one
/// cell only.
fn draw_numbers(canvas: &mut Canvas, frame: Frame, shape: Shape) {
    let mut rows: BTreeMap<i32, Vec<(i32, usize)>> = BTreeMap::new();
    for (number, cell) in (1..).zip(shape.cells()) {
        let (x, y) = frame.at(cell);
        rows.entry(y).or_default().push((x, number));
    }
    for (y, row) in rows {
        let first = row.iter().min().copied();
        let last = row.iter().max().copied().filter(|_| row.len() > 1);
        for ((x, number), dx) in
            first.map(|end| (end, -4)).into_iter().chain(last.map(|end| (end, 4)))
        {
            write(canvas, (x + dx, y), dx, &number.to_string());
        }
    }
}

/// Writes a name so that it grows away from the board. Names that would run into each other, as
/// long ones do on large boards, are left out: their neighbours tell enough.
fn write(canvas: &mut Canvas, (x, y): (i32, i32), dx: i32, text: &str) {
    let length = i32::try_from(text.len()).unwrap_or(0);
    let start = if dx < 0 { x + 1 - length } else { x };
    if (start - 1..=start + length).all(|column| canvas.is_blank((column, y))) {
        for (column, glyph) in (start..).zip(text.chars()) {
            canvas.put((column, y), glyph, Paint::Faint);
        }
    }
}
